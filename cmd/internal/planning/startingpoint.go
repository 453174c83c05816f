package planning

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
)

// startingPoint is the options of the installed release, from which a plan
// starts, and the options that result from them and the given ones.
type startingPoint struct {
	release preview.Release
	text    string    // the reference as typed; empty for that of the release
	file    string    // the request file that asks
	before  *settings // nil where none are on record
	after   settings  // what counts, before anything is rendered
	// from names the revision, or the release of Helm; empty for a new release.
	from string
	// catalog and channel are those of the installed version; empty where it came from none.
	catalog, channel string
	// vouched is true if something that a user who may write Secrets cannot write vouches
	// for before; see [record.Record.Vouched].
	vouched bool
	plain   plainRequest
	// first is what is said before the options themselves.
	first []preview.OptionChange
}

// startFrom returns the planner and the request with the options to plan with:
// those of the installed release, changed by flags and by a request file.
// stored is nil for a new release.
func (p *Planner) startFrom(want PlanRequest, release preview.Release, stored *record.Record) (*Planner, PlanRequest, error) {
	start := &startingPoint{release: release, text: want.Text, plain: plainRequest{planner: p, want: want}}
	if want.File != nil {
		start.file = want.File.path
	}
	if stored != nil && stored.Installed() {
		start.from = fmt.Sprintf("revision %d", stored.Revision)
		start.catalog, start.channel, start.vouched = stored.Catalog(), stored.Channel(), stored.Vouched()
		if err := p.recorded(start, stored); err != nil {
			return nil, want, err
		}
	}
	return p.withStart(want, start)
}

// recorded sets the starting point to the options in a record. Options that
// cannot be read are an error, unless --reset-options leaves them out.
func (p *Planner) recorded(start *startingPoint, stored *record.Record) error {
	before, err := recordedSettings(stored)
	if err == nil && before == nil {
		start.first = append(start.first, preview.OptionChange{Change: preview.OptionUnrecorded, From: start.from})
	}
	if err != nil && p.Remember.Reset {
		return nil
	}
	if err != nil {
		return start.refuse(fmt.Sprintf("the options in the record of %s of release %s cannot be read: %s", start.from, start.release.Name, err),
			"name those that it needs, and leave out the record's with --reset-options", "--reset-options")
	}
	start.before = before
	return nil
}

// command returns the command line that makes the same plan with a further flag, for
// advice; see [repeating].
func (s *startingPoint) command(flag string) string {
	words := []string{"kubectl", "operator", "upgrade", s.release.Name}
	switch {
	case s.file != "":
		words = []string{"kubectl", "operator", "install", "-f", s.file}
	case s.text != "":
		words = append(words, s.text)
	}
	return commandline.Join(append(words, "-n", s.release.Namespace, flag)...)
}

// refuse returns the error for which what is the reason, and that ends with the command
// line which makes the same plan with a further flag.
func (s *startingPoint) refuse(what, next, flag string) error {
	command := s.command(flag)
	return repeating(Refuse(what, next+": "+command), command)
}

// withStart returns the planner and the request with the options of a starting
// point, changed by those that are given.
func (p *Planner) withStart(want PlanRequest, start *startingPoint) (*Planner, PlanRequest, error) {
	a := p.asked(want)
	after, missing := a.startFrom(start.before)
	if len(missing) > 0 {
		return nil, want, start.refuse(fmt.Sprintf("release %s was installed with %s, which is secret and not on record", start.release.Name, strings.Join(missing, ", ")),
			"give it again by --values FILE or --set, or drop all values", "--values-from-defaults")
	}
	if after.format != "" && builtinFormat(after.format) == nil && !a.says(rowOf("format")) {
		return nil, want, Refuse(fmt.Sprintf("release %s was rendered by the program %s, and a record cannot name a program", start.release.Name, after.format),
			"say it yourself: --format "+commandline.Join(after.format)+"; or --reset-options leaves it out")
	}
	start.after = after
	want.start = start
	want.params.InstallMode, want.params.WatchNamespaces, want.params.Certs = after.installMode, after.watchNamespaces, after.certs
	want.params.Values = after.values
	want.params.Variables = textsOf(after.variables)
	want.Format, want.Path, want.pinImages = after.format, after.path, after.pinImages
	with := &Planner{Options: p.Options, env: p.env, cluster: p.cluster, certs: p.certs, policyJudge: p.policyJudge, keyring: p.keyring}
	with.settled.Store(p.settled.Load())
	with.chosen.Store(p.chosen.Load())
	with.Owners.Conflicts, with.Owners.ConflictsOf, with.Owners.Strict = after.conflicts, textsOf(after.conflictsOf), after.strict
	if want.Set == nil {
		with.Source.Platform = after.platform
	}
	return with, want, nil
}

// startEarly is startFrom for a release that flags name completely. Its record is
// read before the content, because the recorded options (format, path) decide what
// content is read. For a request file, which decides that itself, it changes nothing.
func (p *Planner) startEarly(ctx context.Context, want PlanRequest) (*Planner, PlanRequest, *record.Record, error) {
	if want.Name == "" || want.namespace == "" || want.File != nil || p.Read.Offline {
		return p, want, nil, nil
	}
	release := preview.Release{Name: want.Name, Namespace: want.namespace}
	if err := checkRelease(release); err != nil {
		return nil, want, nil, err
	}
	stored, _, err := p.lookAtRecord(ctx, release)
	if err != nil || stored == nil || !stored.Installed() {
		return p, want, nil, err // read again with the content, for a release of Helm
	}
	with, want, err := p.startFrom(want, release, stored)
	return with, want, stored, err
}

// resumed applies the options of the installed release where startEarly could
// not. If they lead to other content than was read, the content is found again.
func (p *Planner) resumed(ctx context.Context, r *Resolver, found *Resolution, want PlanRequest, release preview.Release, stored *record.Record, from *catalog.Installed) (*Planner, *Resolver, *Resolution, error) {
	if want.start != nil {
		return p, r, found, nil
	}
	with, started, err := p.startFrom(want, release, stored)
	if err == nil && (stored == nil || !stored.Installed()) {
		with, started, err = p.startFromHelm(ctx, want, release, found, with, started)
	}
	if err != nil {
		return nil, nil, nil, err
	}
	if started.start.rereads(p, want) {
		if r, err = with.Resolver(r.progress); err != nil {
			return nil, nil, nil, err
		}
		found, err = r.find(ctx, started, from)
		return with, r, found, started.start.explain(err)
	}
	if want.File == nil {
		found.params, found.pin = started.params, started.pinImages
	}
	found.start = started.start
	return with, r, found, nil
}

// asked returns the options that a request and the flags give.
func (p *Planner) asked(want PlanRequest) *asked {
	a := &asked{
		settings: settings{
			installMode: want.params.InstallMode, watchNamespaces: want.params.WatchNamespaces, certs: want.params.Certs,
			values: want.params.Values, format: want.Format, path: want.Path, platform: p.Source.Platform,
			pinImages: want.pinImages, conflicts: p.Owners.Conflicts, conflictsOf: mappingOf(p.Owners.ConflictsOf), strict: p.Owners.Strict,
			variables: mappingOf(want.params.Variables),
		},
		file: want.File != nil || want.Set != nil, reset: p.Remember.Reset, defaults: p.Remember.DefaultValues,
	}
	if given := p.Remember.Given; given != nil {
		a.given = func(flag string) bool {
			if flag == conflictsFlag {
				return p.Owners.ForAll // and not a decision for one object alone
			}
			return given(flag) || slices.Contains(p.chosenFlags(), "--"+flag)
		}
	}
	if want.Set != nil {
		a.platform = "" // which may be several, and a set is for those of its host
	}
	if a.conflicts == preview.ConflictsFail {
		a.conflicts = "" // the default
	}
	return a
}

func rowOf(flag string) rememberedOption {
	all := rememberedOptions()
	return all[slices.IndexFunc(all, func(row rememberedOption) bool { return row.flag == flag })]
}

// rereads reports whether the resulting options lead to other content than the
// one that was read with the given options: another format, path or platform.
func (s *startingPoint) rereads(p *Planner, want PlanRequest) bool {
	return s.after.format != want.Format || s.after.path != want.Path || s.after.platform != p.Source.Platform
}

// finish sets, in the options of a plan, the release options for the record,
// and the changes of options for the review.
func (s *startingPoint) finish(found *Resolution, contents []planned.Content, opts *engine.Options) error {
	if s == nil {
		return nil
	}
	after := s.after
	after.values, after.path, after.pinImages = found.params.Values, found.request.Path, found.pin
	for _, content := range contents {
		if content.Package.Name == found.info.Package {
			after.installMode, after.watchNamespaces, after.certs = content.Package.Parameters.InstallMode, content.Package.Parameters.WatchNamespaces, content.Package.Parameters.Certs
		}
	}
	s.decide(&after, contents, opts)
	after.withhold(secretTexts(contents), found.secretValues)
	var err error
	if opts.ReleaseOptions, err = after.release(); err != nil {
		return err
	}
	opts.OptionChanges = slices.Concat(s.first, catalogChanges(s.catalog, s.channel, found.choice))
	if s.before != nil {
		opts.OptionChanges = append(opts.OptionChanges, optionChanges(s.before, &after, found.defaults(s.release))...)
	}
	return nil
}

// decide sets the decisions about conflicting fields of single objects (take or leave).
// Remembered decisions about objects that the contents no longer have are left out.
func (s *startingPoint) decide(after *settings, contents []planned.Content, opts *engine.Options) {
	after.conflictsOf = mappingOf(opts.Apply.ConflictsOf)
	if s.before == nil {
		return
	}
	maps.DeleteFunc(after.conflictsOf, func(id string, decided any) bool {
		if s.before.conflictsOf[id] != decided {
			return false
		}
		return !slices.ContainsFunc(contents, func(content planned.Content) bool {
			return slices.ContainsFunc(content.Objects, func(o preview.Object) bool { return o.ID == id })
		})
	})
	opts.Apply.ConflictsOf = textsOf(after.conflictsOf)
}

// defaults returns the values of options that are not given, as far as the
// format knows them.
func (out *Resolution) defaults(release preview.Release) *format.Defaults {
	known := format.Defaults{}
	if defaulter, ok := out.format.(format.Defaulter); ok {
		if found, err := defaulter.Defaults(format.Input{Content: out.content.FS, Info: out.info, Release: release, Whole: out.whole, Path: out.at, Certifier: out.certifier}); err == nil {
			known = found
		}
	}
	return &known
}

// secretTexts returns the set of all values in the Secrets of contents.
func secretTexts(contents []planned.Content) map[string]bool {
	out := map[string]bool{}
	for _, content := range contents {
		for i := range content.Objects {
			if body := content.Objects[i].Planned; preview.String(body, "kind") == "Secret" {
				for _, value := range preview.Map(body, "data") {
					text, _ := value.(string)
					if data, err := base64.StdEncoding.DecodeString(text); err == nil && len(data) > 0 {
						out[string(data)] = true
					}
				}
			}
		}
	}
	return out
}

// explain adds to an error of rendering which options came from the installed
// release, and how to change them.
func (s *startingPoint) explain(err error) error {
	if err == nil || s == nil || s.before == nil {
		return err
	}
	var kept []string
	for _, row := range rememberedOptions() {
		at := row.of(&s.after)
		values, isMap := at.(*map[string]any)
		switch {
		case isEmpty(at) || isEmpty(row.of(s.before)):
		case isMap && row.flag == setFlag:
			kept = append(kept, preview.Plural(len(leavesOf(*values)), "value"))
		case !isMap && optionText(at) == optionText(row.of(s.before)):
			kept = append(kept, strings.TrimSuffix("--"+row.flag+" "+optionText(at), " true"))
		}
	}
	if len(kept) == 0 {
		return err
	}
	command := s.command("--reset-options")
	if s.file != "" {
		return repeating(fmt.Errorf("%w; of %s it has %s; --reset-options leaves out what %s does not say: %s", err, s.from, strings.Join(kept, ", "), s.file, command), command)
	}
	return repeating(fmt.Errorf("%w; of %s it has %s: a flag changes one, --values-from-defaults drops the values and --reset-options all: %s",
		err, s.from, strings.Join(kept, ", "), command), command)
}

func leavesOf(values map[string]any) []preview.SetValue {
	list, _ := preview.SetValues(values, func([]string, any) bool { return false }) // rendering says what is wrong with one
	return list
}

// finishWithout is [startingPoint.finish] for a plan whose packages have no
// options of their own, as with sections.
func (s *startingPoint) finishWithout(contents []planned.Content, opts *engine.Options) error {
	var err error
	after := s.after
	s.decide(&after, contents, opts)
	if opts.ReleaseOptions, err = after.release(); err != nil {
		return err
	}
	opts.OptionChanges = s.first
	if s.before != nil {
		opts.OptionChanges = append(opts.OptionChanges, optionChanges(s.before, &after, &format.Defaults{})...)
	}
	return nil
}

// goBack returns the options of a rollback, which are those of target, and how
// they differ from those of the newest revision.
func goBack(newest, target *record.Record) (*preview.ReleaseOptions, []preview.OptionChange, error) {
	restored := target.RestoredOptions()
	if restored != nil && restored.Unknown {
		return restored, []preview.OptionChange{{Change: preview.OptionUnrecorded, From: fmt.Sprintf("revision %d", target.Revision)}}, nil
	}
	after, err := recordedSettings(target)
	if err != nil {
		command := commandline.AboutRelease(target.Release, "history")
		return nil, nil, repeating(Refuse(fmt.Sprintf("the options in the record of revision %d of release %s cannot be read: %s", target.Revision, target.Release.Name, err),
			"choose another revision: "+command), command)
	}
	before, err := recordedSettings(newest)
	if err != nil || before == nil {
		return restored, nil, nil // what they were cannot be said, and does not count any more
	}
	return restored, optionChanges(before, after, nil), nil
}

// recordedSettings returns the options in a record, nil if it has none.
func recordedSettings(stored *record.Record) (*settings, error) {
	if stored.Options == nil {
		return nil, nil
	}
	var resolved preview.Parameters
	if len(stored.Packages) > 0 && !stored.Sections() {
		resolved = stored.Packages[0].Parameters
	}
	return settingsOf(stored.Options, resolved)
}
