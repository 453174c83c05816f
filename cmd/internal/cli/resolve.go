package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/format/registryv1"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

// formats is the closed set of formats. Content belongs to the first that
// recognises it.
func formats() []format.Format { return []format.Format{registryv1.New()} }

// resolver turns what a user typed into sealed content.
type resolver struct {
	app *app
	// cached, where set, answers before fetcher does: it contacts nothing.
	cached   *source.Fetcher
	fetcher  *source.Fetcher
	checker  *checker
	resolve  resolveFlags
	params   format.Params
	progress func(string)
}

// newResolver makes the resolver of one command. Without a cluster it runs
// offline: what was resolved before comes from the cache.
func (a *app) newResolver(src sourceFlags, signed verifyFlags, res resolveFlags, params format.Params, cluster source.Getter, progress func(string)) (*resolver, error) {
	if progress == nil {
		progress = func(string) {}
	}
	opts, err := a.sourceOptions(src, cluster, progress)
	if err != nil {
		return nil, err
	}
	configured, err := a.config()
	if err != nil {
		return nil, err
	}
	checker, err := newChecker(configured.Verification, signed)
	if err != nil {
		return nil, err
	}
	r := &resolver{app: a, fetcher: source.New(opts), checker: checker, resolve: res, params: params, progress: progress}
	if cluster == nil {
		opts.Offline = true
		r.cached = source.New(opts)
	}
	return r, nil
}

// fetched is content, and who made it.
type fetched struct {
	*source.Content
	checked
}

// use says what content is for.
type use int

const (
	asBundle use = iota
	asCatalog
)

// fetch reads what a reference leads to.
func (r *resolver) fetch(ctx context.Context, reference ref.Reference, as use) (fetched, error) {
	if r.cached != nil {
		got, err := r.open(ctx, r.cached, reference, as)
		// What was not signed when it was cached may be by now.
		_, refused := errors.AsType[*engine.Refused](err)
		if !refused && !errors.Is(err, source.ErrNotCached) {
			return got, err
		}
	}
	return r.open(ctx, r.fetcher, reference, as)
}

// open pins, checks who signed what the pin stands for, and only then reads it.
func (r *resolver) open(ctx context.Context, from *source.Fetcher, reference ref.Reference, as use) (fetched, error) {
	r.progress("resolving " + reference.Text)
	pin, err := from.Pin(ctx, reference)
	if err != nil {
		return fetched{}, err
	}
	if !pin.Remembered.IsZero() {
		r.progress(fmt.Sprintf("from the cache, as resolved on %s", pin.Remembered.UTC().Format("2006-01-02 15:04 UTC")))
	}
	var got fetched
	// A catalog in a directory is the user's own; what it leads to is checked.
	if as == asBundle || reference.Kind != ref.KindDirectory {
		if got.checked, err = r.checker.check(ctx, from, pin); err != nil {
			return fetched{}, err
		}
	}
	r.progress("reading " + pin.Source.Digest)
	if as == asCatalog || got.listed {
		got.Content, err = from.Open(ctx, pin)
		return got, err
	}
	got.Content, got.referrers, err = openAndList(ctx, from, pin)
	return got, err
}

// openAndList reads content and, meanwhile, what lies beside it: that is for
// information, and as far as it can be had.
func openAndList(ctx context.Context, from *source.Fetcher, pin source.Pin) (*source.Content, []preview.Referrer, error) {
	listing, stop := context.WithCancel(ctx)
	defer stop()
	listed := make(chan []preview.Referrer, 1)
	go func() {
		found, _ := from.Referrers(listing, pin)
		listed <- found
	}()
	content, err := from.Open(ctx, pin)
	if err != nil {
		return nil, nil, err
	}
	return content, <-listed, nil
}

// resolved is content before it belongs to a release.
type resolved struct {
	request preview.Request
	info    format.Info
	format  format.Format
	content fetched
	via     []preview.Via
	// What a reviewer should be told besides: rule and text.
	notes [][2]string
}

// note adds something that a reviewer should be told about the package.
func (out *resolved) note(rule, text string) { out.notes = append(out.notes, [2]string{rule, text}) }

// packageNotes are all notes about the package.
func (out *resolved) packageNotes() []preview.Note {
	notes := out.content.notes(out.info.Package)
	for _, n := range out.notes {
		notes = append(notes, preview.Note{Rule: n[0], Object: "package/" + out.info.Package, Text: n[1]})
	}
	return notes
}

// find resolves a reference to content. installed is what the release runs
// now, nil when it is new: a package name is then followed along its edges.
func (r *resolver) find(ctx context.Context, text string, installed *catalog.Installed) (*resolved, error) {
	reference, err := ref.Parse(text)
	if err != nil {
		return nil, usagef("%s", err)
	}
	out := &resolved{request: preview.Request{Reference: text, Version: r.resolve.version, Channel: r.resolve.channel}}
	if reference.Kind == ref.KindPackage {
		choice, err := r.choose(ctx, reference, installed)
		if err != nil {
			return nil, err
		}
		out.request.Version, out.request.Channel = orElse(r.resolve.version, reference.Version), choice.Channel
		out.via = []preview.Via{choice.Via()}
		r.progress(choice.Package + " " + choice.Version + ": " + choice.Why)
		if len(choice.Deprecated) > 0 {
			out.note(engine.RuleDeprecated, strings.Join(choice.Deprecated, "; "))
		}
		if reference, err = bundleReference(choice); err != nil {
			return nil, err
		}
	} else if r.resolve.version != "" || r.resolve.channel != "" {
		return nil, usagef("--version and --channel choose within a catalog; %s names its content already", text)
	}
	if out.content, err = r.fetch(ctx, reference, asBundle); err != nil {
		return nil, err
	}
	return out, out.detect(text)
}

func (out *resolved) detect(text string) error {
	for _, f := range formats() {
		info, err := f.Detect(out.content.FS)
		if err != nil {
			return fmt.Errorf("reading %s: %w", text, err)
		}
		if info != nil {
			out.info, out.format = *info, f
			return nil
		}
	}
	if _, err := fs.Stat(out.content.FS, "Chart.yaml"); err == nil {
		return fmt.Errorf("reading %s: it is a Helm chart, and charts are not supported yet", text)
	}
	return fmt.Errorf("reading %s: not a bundle: there is neither metadata/annotations.yaml nor a ClusterServiceVersion in manifests/", text)
}

// choose resolves a package name in the catalogs given.
func (r *resolver) choose(ctx context.Context, reference ref.Reference, installed *catalog.Installed) (*catalog.Choice, error) {
	catalogs, err := r.catalogs(ctx, r.resolve.catalogs)
	if err != nil {
		return nil, err
	}
	version := reference.Version
	if r.resolve.version != "" {
		if version != "" && version != r.resolve.version {
			return nil, usagef("%s and --version %s ask for two versions", reference.Text, r.resolve.version)
		}
		version = r.resolve.version
	}
	return catalog.Resolve(catalogs, catalog.Query{
		Package: reference.Package, Version: version, Channel: r.resolve.channel, Installed: installed,
	})
}

// catalogs loads every catalog named, else every configured one.
func (r *resolver) catalogs(ctx context.Context, names []string) ([]*catalog.Catalog, error) {
	names, err := r.app.catalogReferences(names)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, usagef("a package name needs a catalog to resolve it in; name one with --catalog DIRECTORY or --catalog IMAGE, or in the configuration")
	}
	var out []*catalog.Catalog
	for _, name := range names {
		reference, err := ref.Parse(name)
		if err != nil || reference.Kind == ref.KindPackage {
			return nil, usagef("--catalog %s: want a directory (./DIR), an image (HOST/REPO:TAG) or a name from the configuration", name)
		}
		content, err := r.fetch(ctx, reference, asCatalog)
		if err != nil {
			return nil, fmt.Errorf("catalog: %w", err)
		}
		if (reference.Kind == ref.KindImage || reference.Kind == ref.KindLayout) && content.Labels[source.LabelConfigs] == "" {
			return nil, fmt.Errorf("catalog %s: not a catalog image: it has no label %s", name, source.LabelConfigs)
		}
		origin := catalog.Origin{Reference: name, Digest: content.Source.Digest}
		if content.looked {
			origin.Verification = &content.verification
		}
		loaded, err := catalog.Load(content.FS, origin)
		if err != nil {
			return nil, fmt.Errorf("catalog %s: %w", name, err)
		}
		out = append(out, loaded)
	}
	return out, nil
}

// bundleReference is where a catalog says its bundle is. A catalog cannot
// point into the file system.
func bundleReference(choice *catalog.Choice) (ref.Reference, error) {
	reference, err := ref.Parse("oci://" + choice.Image)
	if err != nil || reference.Kind != ref.KindImage {
		return ref.Reference{}, fmt.Errorf("bundle %s of catalog %s names no usable image: %q", choice.Bundle, choice.Catalog.Reference, choice.Image)
	}
	return reference, nil
}

// release names a new release: NAME, else the package; -n, else the bundle's
// suggestion, else the package.
func (out *resolved) release(name, namespace string) (preview.Release, error) {
	r := preview.Release{
		Name:      orElse(name, out.info.Package),
		Namespace: orElse(namespace, orElse(out.info.SuggestedNamespace, out.info.Package)),
	}
	return r, checkRelease(r)
}

// checkRelease holds names to what the record's name and label can carry.
func checkRelease(r preview.Release) error {
	for _, part := range [...]struct{ what, name string }{{"release name", r.Name}, {"namespace", r.Namespace}} {
		if !ref.IsName(part.name) || strings.Contains(part.name, ".") || len(part.name) > 63 {
			return usagef("%s %q: want a DNS label: at most 63 of a-z, 0-9 and -", part.what, part.name)
		}
	}
	return nil
}

// seal renders the content for a release and hashes it.
func (r *resolver) seal(ctx context.Context, found *resolved, release preview.Release) (engine.Content, error) {
	r.progress("rendering " + found.info.Bundle)
	output, err := found.format.Render(ctx, format.Input{Content: found.content.FS, Release: release, Params: r.params})
	if err != nil {
		return engine.Content{}, fmt.Errorf("rendering %s: %w", found.info.Package, err)
	}
	return engine.Prepare(release, engine.Material{
		Info: found.info, Output: output, Values: r.params.Values, Source: found.content.Source, Via: found.via,
		Verification: found.content.verification, Referrers: found.content.referrers, Notes: found.packageNotes(),
	})
}

func orElse(s, fallback string) string {
	if s != "" {
		return s
	}
	return fallback
}
