package planning

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	installed "github.com/kubectl-operator/kubectl-operator/install/plugins"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
	"github.com/kubectl-operator/kubectl-operator/preview/plugins"
	"github.com/kubectl-operator/kubectl-operator/preview/report"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/auth"
	"github.com/kubectl-operator/kubectl-operator/preview/verify"
)

// SetOptions are the flags that select a plugin set, its lock file and its location.
type SetOptions struct {
	Config, Mode, Location, Lock string
	UpdateLock                   bool
	Against                      string   // another config or lock, which stands in for what is installed
	Credentials                  []string // variables that a config of a server may send to its providers
}

// Where the config of a set is.
const (
	ModeServer = "server" // on this machine, which is the server's
	ModeClient = "client" // on a server that this machine is a client of
)

// SetPlanner plans plugin sets. For a set whose host runs in the cluster, that
// is the plan of a release.
type SetPlanner struct{ *Planner }

// Sets returns a planner of plugin sets with the options of p.
func (p *Planner) Sets() SetPlanner { return SetPlanner{p} }

// SetPlan is the plan of a plugin set, with the fetched files that its apply writes.
type SetPlan struct {
	*preview.Plan
	// Files have the bytes of what the plan wants; nil for a clean.
	Files  func() ([]plugins.File, error)
	Beside map[string][]byte // that belongs to the generation
}

// PlanSet plans a plugin set. options are the reviewer's decisions, nil for the
// defaults. If the plan succeeds, the lock file is written, if that was asked for.
func (p SetPlanner) PlanSet(ctx context.Context, f SetOptions, options *preview.Options, progress func(string)) (*SetPlan, error) {
	set, err := p.ReadSet(ctx, f, progress)
	if err != nil {
		return nil, err
	}
	plan := p.planForMachine
	if set.Host != nil && f.Mode == ModeServer {
		plan = p.planForHost
	}
	made, fresh, err := plan(ctx, set, f, options, progress)
	if err != nil {
		return nil, err
	}
	return made, f.keepLock(fresh)
}

// planForHost plans a plugin set whose host runs in the cluster, as a release.
func (p SetPlanner) planForHost(ctx context.Context, set *plugins.Set, f SetOptions, _ *preview.Options, progress func(string)) (*SetPlan, *plugins.Lock, error) {
	if f.Against != "" {
		return nil, nil, Usagef("the host of this set is in the cluster, and it is compared with what was installed there; leave out --against")
	}
	fetched, fresh, err := p.fetchHosted(ctx, set, f, progress)
	if err != nil {
		return nil, nil, err
	}
	plan, err := p.hostedPlan(ctx, p.setRequest(f.Config, set), fetched, fresh, progress)
	if err != nil {
		return nil, nil, err
	}
	return &SetPlan{Plan: plan}, fresh, nil
}

// planForMachine plans a plugin set that is installed on this machine.
func (p SetPlanner) planForMachine(ctx context.Context, set *plugins.Set, f SetOptions, options *preview.Options, progress func(string)) (*SetPlan, *plugins.Lock, error) {
	own, platforms, err := p.platforms(set, f, runtime.GOOS+"/"+runtime.GOARCH, "")
	if err != nil {
		return nil, nil, err
	}
	target, err := p.pluginTarget(ctx, set, f, own)
	if err != nil {
		return nil, nil, err
	}
	request := preview.Request{Action: preview.RequestInstall, File: f.Config}
	var against *preview.Baseline
	if f.Against != "" {
		request.Action = preview.RequestUpgrade
		if against, err = p.comparisonBase(ctx, f.Against, set, &target, progress); err != nil {
			return nil, nil, err
		}
	}
	all, fresh, err := p.fetchPlatforms(ctx, set, f, target.Platform, platforms, progress)
	if err != nil {
		return nil, nil, err
	}
	fetched := all[0].Fetched
	plan, err := plugins.Plan(set, fetched, target)
	if err == nil && p.Source.severalPlatforms() {
		err = plugins.AddPlatforms(plan, set, all[1:])
	}
	if err != nil {
		return nil, nil, err
	}
	plan.Request, plan.Against = request, against
	if err := p.finishSet(plan, options); err != nil {
		return nil, nil, err
	}
	if err := p.resolveExecutors(ctx, plan, progress); err != nil {
		return nil, nil, err
	}
	config, err := plugins.ConfigOf(set)
	if err != nil {
		return nil, nil, err
	}
	beside := map[string][]byte{
		installed.LockFile:   plugins.NewLock(set.Name, target.Platform, fetched, nil).Encode(),
		installed.ConfigFile: config.Encode(),
	}
	files, err := plugins.Files(fetched)
	if err == nil {
		err = addArchive(beside, files)
	}
	return &SetPlan{Plan: plan, Beside: beside, Files: func() ([]plugins.File, error) { return plugins.Files(fetched) }}, fresh, err
}

// addArchive adds the archive of YAML plugins that clients of Optimus fetch, if the files
// have any.
func addArchive(beside map[string][]byte, files []plugins.File) error {
	archive, err := plugins.ArchiveOf(files)
	if err == nil && archive != nil {
		beside[plugins.YAMLArchive] = archive
	}
	return err
}

// finishSet adds the reviewer's decisions to a plan, judges it by the policy,
// and computes its digests.
func (p SetPlanner) finishSet(plan *preview.Plan, options *preview.Options) error {
	switch {
	case options != nil:
		plan.Options = *options
	case p.Expires > 0:
		plan.Options.Expires = preview.ExpiryText(time.Now().Add(p.Expires))
	}
	plan.Tool = preview.Tool{Version: p.env.Version}
	if err := engine.Finish(plan, p.env.Schemas()); err != nil {
		return err
	}
	_, err := p.Judge(plan, nil)
	return err
}

// fetchSet fetches the plugins of a set for one platform, verifies them against
// its lock file, and returns the new lock.
func (p SetPlanner) fetchSet(ctx context.Context, set *plugins.Set, f SetOptions, platform string, progress func(string)) ([]plugins.FetchedPlugin, *plugins.Lock, error) {
	lock, err := readLock(f.lockPath(), set, f.Lock != "" && !f.UpdateLock)
	if err != nil {
		return nil, nil, fmt.Errorf("lock file %s: %w", f.lockPath(), err)
	}
	from := p.Source
	from.Platform = platform // one of those that were asked for
	opts, err := p.env.fetching(from, progress)
	if err != nil {
		return nil, nil, err
	}
	opts.Artifacts = true
	request := plugins.Request{Platform: platform, Sources: source.New(opts), Getenv: p.env.Getenv, Progress: progress}
	if request.Check, err = p.signatureCheck(); err != nil {
		return nil, nil, err
	}
	if !f.UpdateLock {
		request.Lock = lock
	}
	fetched, err := plugins.Fetch(ctx, set, request)
	if err != nil {
		return nil, nil, err
	}
	if f.UpdateLock {
		for i := range fetched {
			fetched[i].Pinned = true // by the lock that is written at the end
		}
	}
	return fetched, plugins.NewLock(set.Name, platform, fetched, lock), nil
}

// pluginSet reads and parses a plugin config file.
func (p SetPlanner) pluginSet(path string) (*plugins.Set, error) {
	data, err := readAtMost(path, plugins.MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("config %s: %w", path, err)
	}
	set, err := plugins.Parse(data, plugins.Options{File: filepath.Base(path), Dir: filepath.Dir(path), PlainHTTP: p.Source.PlainHTTP})
	if err != nil {
		return nil, fmt.Errorf("config %s: %w", path, err)
	}
	return set, nil
}

// pluginTarget reads the files installed at the location of a plugin set. If
// they are those of another set, it is an error.
func (p SetPlanner) pluginTarget(ctx context.Context, set *plugins.Set, f SetOptions, platform string) (plugins.Target, error) {
	out := plugins.Target{Platform: platform}
	location, err := f.LocationOf(set)
	if err != nil {
		return out, err
	}
	out.Location = preview.Location{Path: location, Host: installed.HostID()}
	if out.InstalledFiles, err = installed.Read(ctx, location); err != nil {
		return out, err
	}
	if lock := out.Lock; lock != nil && lock.Name != set.Name {
		return out, Refuse(fmt.Sprintf("the plugins of another set, %s, are installed at %s", lock.Name, location),
			"name another place with --location; or clear that one, if nothing loads it any more")
	}
	return out, nil
}

// Location returns a location as an absolute path; "~/" is the user's home.
func Location(text string) (string, error) {
	if below, ok := strings.CutPrefix(text, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", errors.New("the plugins go below the home directory, and HOME is not set; name a place with --location")
		}
		text = filepath.Join(home, below)
	}
	absolute, err := filepath.Abs(text)
	if err != nil {
		return "", fmt.Errorf("location %s: %w", text, err)
	}
	return absolute, nil
}

// LocationOf returns the absolute path to which a set is installed, from
// --location or the config. For krew both are its root, for which there is the variable
// KREW_ROOT too.
func (o *SetOptions) LocationOf(set *plugins.Set) (string, error) {
	dir := set.Location
	if root := os.Getenv("KREW_ROOT"); root != "" && set.Form == plugins.FormKrew {
		dir = root
	}
	dir, err := Location(cmp.Or(o.Location, dir))
	if err != nil {
		return "", err
	}
	return set.LocationIn(dir), nil
}

// RollbackSet plans to install an earlier generation again, from its files on
// disk alone.
func (p SetPlanner) RollbackSet(ctx context.Context, location string, to int, options *preview.Options) (*SetPlan, error) {
	planned, err := installed.PlanRollback(ctx, location, to)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(p.finishSet(planned.Plan, options), addArchive(planned.Beside, planned.Files)); err != nil {
		return nil, err
	}
	return &SetPlan{
		Plan:   planned.Plan,
		Files:  func() ([]plugins.File, error) { return planned.Files, nil },
		Beside: planned.Beside,
	}, nil
}

// CleanSet plans to delete the files of earlier generations, except the newest keep.
func (p SetPlanner) CleanSet(ctx context.Context, location string, keep int, options *preview.Options) (*SetPlan, error) {
	plan, err := installed.PlanClean(ctx, location, keep)
	if err != nil {
		return nil, err
	}
	if err := p.finishSet(plan, options); err != nil {
		return nil, err
	}
	return &SetPlan{Plan: plan}, nil
}

// comparisonBase puts another config or lock file (text, a path) in the place of the
// installed set in target, to compare with. A lock file replaces only the artifacts.
func (p SetPlanner) comparisonBase(ctx context.Context, text string, set *plugins.Set, target *plugins.Target, progress func(string)) (*preview.Baseline, error) {
	data, err := readAtMost(text, plugins.MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("--against %s: %w", text, err)
	}
	if lock, err := plugins.ReadLock(data); err == nil {
		if err := lock.CheckName(set); err != nil {
			return nil, fmt.Errorf("--against %s: %w", text, err)
		}
		target.Lock = lock
		return &preview.Baseline{Reference: text, Package: lock.Name, ContentDigest: preview.HashBytes(lock.Encode())}, nil
	}
	older, err := p.pluginSet(text)
	if err != nil {
		return nil, fmt.Errorf("--against: %w", err)
	}
	if older.Name != set.Name {
		return nil, Usagef("--against %s is set %s, and the config is set %s; compare configs of one set", text, older.Name, set.Name)
	}
	fetched, _, err := p.fetchSet(ctx, older, SetOptions{Config: text}, target.Platform, progress)
	if err != nil {
		return nil, fmt.Errorf("--against %s: %w", text, err)
	}
	before, err := plugins.Plan(older, fetched, plugins.Target{Platform: target.Platform})
	if err != nil {
		return nil, fmt.Errorf("--against %s: %w", text, err)
	}
	if target.InstalledFiles, err = plugins.AsInstalled(older, fetched, target.Platform); err != nil {
		return nil, fmt.Errorf("--against %s: %w", text, err)
	}
	pkg := before.Packages[0]
	return &preview.Baseline{Reference: text, Package: older.Name, Version: older.Version, ContentDigest: pkg.ContentDigest, Notes: pkg.Notes}, nil
}

// platforms returns all platforms that a set is planned for, sorted, and the
// first one, whose files the plan shows: own, the platform of this machine or
// of the pods, if it is among them, else the first in order. Only platforms
// that begin with system are allowed.
func (p SetPlanner) platforms(set *plugins.Set, f SetOptions, own, system string) (first string, all []string, err error) {
	if err := p.Source.checkPlatforms(); err != nil {
		return "", nil, err
	}
	switch asked := p.Source.Platform; asked {
	case "":
		return own, []string{own}, nil
	case plugins.AllPlatforms:
		lock, err := readLock(f.lockPath(), set, false)
		if err != nil {
			return "", nil, fmt.Errorf("lock file %s: %w", f.lockPath(), err)
		}
		all = set.Platforms(lock, own)
	default:
		all = strings.Split(asked, ",")
	}
	slices.Sort(all)
	all = slices.DeleteFunc(slices.Compact(all), func(one string) bool { return !strings.HasPrefix(one, system) })
	switch {
	case len(all) == 0:
		return "", nil, Usagef("--platform %s: the pods of the host run on %s...", p.Source.Platform, system)
	case slices.Contains(all, own):
		return own, all, nil
	}
	return all[0], all, nil
}

// fetchPlatforms fetches a set for every platform, beginning with first, and
// returns a lock with the artifacts of all.
func (p SetPlanner) fetchPlatforms(ctx context.Context, set *plugins.Set, f SetOptions, first string, all []string, progress func(string)) ([]plugins.PlatformSet, *plugins.Lock, error) {
	fetched, fresh, err := p.fetchSet(ctx, set, f, first, progress)
	if err != nil {
		return nil, nil, err
	}
	out := []plugins.PlatformSet{{Platform: first, Fetched: fetched}}
	for _, platform := range all {
		if platform == first {
			continue
		}
		fetched, locked, err := p.fetchSet(ctx, set, f, platform, progress)
		if err != nil {
			return nil, nil, fmt.Errorf("platform %s: %w", platform, err)
		}
		fresh.Platforms[platform] = locked.Platforms[platform]
		out = append(out, plugins.PlatformSet{Platform: platform, Fetched: fetched})
	}
	return out, fresh, nil
}

// resolveExecutors resolves the tags of the images in which plugins run to
// digests, if the user asked for it. The digests are shown and are part of no
// digest of the plan, because files and config contain the tags.
func (p SetPlanner) resolveExecutors(ctx context.Context, plan *preview.Plan, progress func(string)) error {
	if !p.Render.PinImages {
		return nil
	}
	r, err := p.Resolver(progress)
	if err != nil {
		return err
	}
	if len(plan.Images) > maxPinned {
		return fmt.Errorf("--pin-images: the plugins name %d images; at most %d are looked up", len(plan.Images), maxPinned)
	}
	for i := range plan.Images {
		image := &plan.Images[i]
		if image.Pinned {
			continue
		}
		if image.Digest, err = r.imageDigest(ctx, image.Reference); err != nil {
			return fmt.Errorf("--pin-images: %w", err)
		}
	}
	return nil
}

// imageDigest returns the digest to which an image's tag resolves now.
func (r *Resolver) imageDigest(ctx context.Context, image string) (string, error) {
	full, _, err := r.pinImage(ctx, image)
	if err != nil {
		return "", err
	}
	return full[len(image)+1:], nil
}

// requestedSet reads a PluginSet file whose host runs in the cluster, as a
// request that is planned and applied like that for a bundle.
func (p SetPlanner) requestedSet(path string) (PlanRequest, error) {
	set, err := p.pluginSet(path)
	if err != nil {
		return PlanRequest{}, err
	}
	return p.setRequest(path, set), nil
}

func (p SetPlanner) setRequest(path string, set *plugins.Set) PlanRequest {
	return PlanRequest{
		Text: path, Name: set.Name, namespace: cmp.Or(p.env.Namespace(), set.Host.Deployment.Namespace), Set: set, used: &p.Source,
	}
}

// planHostedSet plans the ConfigMap of a plugin set and the restart of its host.
func (p SetPlanner) planHostedSet(ctx context.Context, want PlanRequest, progress func(string)) (*preview.Plan, error) {
	fetched, lock, err := p.fetchHosted(ctx, want.Set, SetOptions{Config: want.Text}, progress)
	if err != nil {
		return nil, err
	}
	return p.hostedPlan(ctx, want, fetched, lock, progress)
}

// fetchHosted fetches a set for each Linux platform on which the pods of its
// host may run, whatever platform this machine has.
func (p SetPlanner) fetchHosted(ctx context.Context, set *plugins.Set, f SetOptions, progress func(string)) ([]plugins.PlatformSet, *plugins.Lock, error) {
	own, all, err := p.platforms(set, f, onLinux+runtime.GOARCH, onLinux)
	if err != nil {
		return nil, nil, err
	}
	return p.fetchPlatforms(ctx, set, f, own, all, progress)
}

const onLinux = "linux/"

func (p SetPlanner) hostedPlan(ctx context.Context, want PlanRequest, fetched []plugins.PlatformSet, lock *plugins.Lock, progress func(string)) (*preview.Plan, error) {
	release := preview.Release{Name: want.Name, Namespace: want.namespace}
	if err := checkRelease(release); err != nil {
		return nil, err
	}
	content, err := plugins.HostContent(want.Set, fetched, lock, release)
	if err != nil {
		return nil, err
	}
	var stored *record.Record
	if !p.Read.Offline {
		if stored, err = p.record(ctx, release); err != nil {
			return nil, err
		}
	}
	p.Planner, want, err = p.startFrom(want, release, stored)
	if err != nil {
		return nil, err
	}
	opts := p.options(release, stored)
	opts.Progress, opts.Request = progress, preview.Request{Reference: want.Text, File: want.Text}
	if err := want.start.finishWithout([]planned.Content{content}, &opts); err != nil {
		return nil, err
	}
	opts.Installed.Base.Unvouched = want.start.unvouchedDecisions(stored)
	if stored != nil {
		if opts.Installed.Set, err = install.InstalledSet(ctx, p.cluster, stored); err != nil {
			return nil, err
		}
	}
	return p.planOnRecord(ctx, []planned.Content{content}, stored, opts, nil)
}

// bundleType is the media type of Sigstore bundles that are read from files.
const bundleType = "application/vnd.dev.sigstore.bundle.v0.3+json"

// signatureCheck returns a function that verifies the signature of an artifact
// of a plugin set: of an image through its referrers, of any other through the
// Sigstore bundle that the config names, given as bytes.
func (p SetPlanner) signatureCheck() (func(context.Context, *source.Fetcher, source.Pin, []byte) (plugins.SignerInfo, error), error) {
	configured, err := p.env.Config()
	if err != nil {
		return nil, err
	}
	c, err := newChecker(configured.Verification, p.Signatures)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, from *source.Fetcher, pin source.Pin, bundle []byte) (plugins.SignerInfo, error) {
		var got provenance
		var err error
		if bundle == nil {
			got, err = c.check(ctx, from, pin)
		} else {
			got, err = c.detached(pin, bundle)
		}
		out := plugins.SignerInfo{Verification: got.verification, Rule: got.rule, Text: got.text}
		if !got.looked && got.rule.Name == "" {
			out.Verification = preview.Verification{} // no signer is trusted, and nothing was to be looked at
		}
		return out, err
	}, nil
}

// detached verifies an artifact by a Sigstore bundle that comes from another file.
func (c *checker) detached(pin source.Pin, bundle []byte) (provenance, error) {
	policy := verify.Choose(c.policies, c.override, repositoryOf(pin.Reference))
	out := provenance{verification: preview.Verification{Status: verify.Unverified}}
	trust, err := verify.Load(policy.Signer)
	if err != nil {
		return out, err
	}
	switch {
	case policy.Mode == verify.Off && trust != nil:
		out.rule, out.text = rules.SignatureIgnored, rules.SignatureIgnored.NoteText()
		return out, nil
	case policy.Mode == verify.Off:
		return out, nil
	case trust == nil: // no signer to trust: a refusal, or nothing to do
		_, err := verify.Check(policy.Mode, nil, pin.Source.Digest, nil)
		return out, refusal(err)
	}
	out.looked = true
	out.verification, err = verify.Check(policy.Mode, trust, pin.Source.Digest, []verify.Artifact{{MediaType: bundleType, Payload: bundle}})
	return out, refusal(err)
}

// PodTemplates returns the pod templates for the PluginSet of the request: the one with
// which its host installs the set, or those of the jobs that run its plugins.
func (w PlanRequest) PodTemplates(plan *preview.Plan, of report.TemplateOf) (*report.PodTemplates, error) {
	if w.Set == nil {
		return nil, Usagef("-o pod-template is of a PluginSet with a host in the cluster: preview -f FILE")
	}
	if of == report.OfExecutor {
		templates, sentences, err := plugins.ExecutorTemplates(w.Set, plan.Files)
		if err != nil {
			return nil, fmt.Errorf("config %s: %w", w.Text, err)
		}
		return &report.PodTemplates{
			About:     "The pods of jobs that run the plugins of set " + w.Set.Name + ", for pod_template_file of\nKubernetesPodOperator, which adds what belongs to one job: JOB_NAME, PROJECT, SCHEDULED_AT, OPTIMUS_HOST.",
			Templates: templates, Needs: sentences,
		}, nil
	}
	host := plan.Object(w.Set.Host.Deployment.ID())
	if host == nil || host.LiveBody == nil {
		return nil, Usagef("-o pod-template shows the pod template of the host with what installs the plugins; leave out --offline")
	}
	places, err := auth.PlacesOf(w.Set.References(), w.used.RegistryConfig)
	if err != nil {
		return nil, err
	}
	boot, err := plugins.PodTemplate(w.Set, host.LiveBody, plugins.Used{CAFile: w.used.CAFile, Places: places, PullSecrets: w.used.PullSecrets})
	if err != nil {
		return nil, fmt.Errorf("config %s: %w", w.Text, err)
	}
	return &report.PodTemplates{
		About:     "The pods of " + w.Set.Host.Deployment.Name + " with an init container that installs set " + w.Set.Name + ". Give this template to\nthe owner of the Deployment; preview shows what it may do.",
		Templates: []map[string]any{boot.Template}, Needs: boot.Needs,
	}, nil
}
