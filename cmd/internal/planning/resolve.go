package planning

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/applier"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog/deps"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/format/helm"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/risk"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// Resolver resolves references, such as package names or images, to content
// with a digest.
type Resolver struct {
	env Environment
	// cached, where set, answers before fetcher does: it contacts nothing.
	cached   *source.Fetcher
	fetcher  *source.Fetcher
	checker  *checker
	cluster  format.Cluster // nil where none may be asked
	progress func(string)
	opened   map[string][]*catalog.Catalog // by what was asked for
	certs    *madeCertificates
	private  []string // addresses to which servers may lead
}

// newResolver returns the resolver of one command. With a nil cluster it is
// offline, and reads the cache before a server.
func (e Environment) newResolver(src SourceOptions, signed SignatureOptions, cluster format.Cluster, progress func(string)) (*Resolver, error) {
	if progress == nil {
		progress = func(string) {}
	}
	if src.severalPlatforms() && !src.SetsAlone {
		return nil, Usagef("--platform %s: one platform is picked from an image, as OS/ARCH; several are for plugin sets", src.Platform)
	}
	opts, err := e.fetching(src, progress)
	if err != nil {
		return nil, err
	}
	configured, err := e.Config()
	if err != nil {
		return nil, err
	}
	checker, err := newChecker(configured.Verification, signed)
	if err != nil {
		return nil, err
	}
	r := &Resolver{env: e, checker: checker, cluster: cluster, progress: progress, opened: map[string][]*catalog.Catalog{}, private: src.PrivateAddresses}
	if cluster == nil {
		r.fetcher = source.New(opts)
		opts.Offline = true
		r.cached = source.New(opts)
		return r, nil
	}
	opts.Cluster = cluster
	r.fetcher = source.New(opts)
	return r, nil
}

// fetchedContent is fetched content with the verification result of its signature.
type fetchedContent struct {
	*source.Content
	provenance
}

// fetch fetches the content of a reference.
func (r *Resolver) fetch(ctx context.Context, reference ref.Reference) (fetchedContent, error) {
	return cacheFirst(r, func(from *source.Fetcher) (fetchedContent, error) { return r.open(ctx, from, reference) })
}

// cacheFirst calls open with the cache when offline, and with a server if the
// cache does not have the content, or online.
func cacheFirst[T any](r *Resolver, open func(*source.Fetcher) (T, error)) (T, error) {
	if r.cached != nil {
		got, err := open(r.cached)
		// Cached content that had no signature may have been signed since.
		_, refused := errors.AsType[*engine.RefusedError](err)
		if !refused && !errors.Is(err, source.ErrNotCached) {
			return got, err
		}
	}
	return open(r.fetcher)
}

// open resolves a reference to a digest, verifies the signature of that digest,
// and then reads the content.
func (r *Resolver) open(ctx context.Context, from *source.Fetcher, reference ref.Reference) (fetchedContent, error) {
	r.progress("resolving " + reference.Text)
	pin, err := from.Pin(ctx, reference)
	if err != nil {
		return fetchedContent{}, err
	}
	r.sayRemembered(pin)
	var got fetchedContent
	if got.provenance, err = r.checker.check(ctx, from, pin); err != nil {
		return fetchedContent{}, err
	}
	r.progress("reading " + pin.Source.Digest)
	if got.listed {
		got.Content, err = from.Open(ctx, pin)
	} else {
		got.Content, got.referrers, err = openAndList(ctx, from, pin)
	}
	if err != nil {
		return fetchedContent{}, err
	}
	return got, chartAsListed(pin, got.FS)
}

// openAndList reads content and, at the same time, lists its referrers, such as
// SBOMs. The list is for information only: errors in it are ignored.
func openAndList(ctx context.Context, from *source.Fetcher, pin source.Pin) (*source.Content, []preview.Referrer, error) {
	listing, stop := context.WithCancel(ctx)
	defer stop()
	var found []preview.Referrer
	listed := tasks.Async(func() error {
		found, _ = from.Referrers(listing, pin)
		return nil
	})
	content, err := from.Open(ctx, pin)
	if err != nil {
		return nil, nil, err
	}
	err = <-listed // nothing but a panic
	return content, found, err
}

// Resolution is the content that a reference was resolved to, before it is
// rendered for a release.
type Resolution struct {
	request   preview.Request
	file      *RequestFile // nil for a reference of the command line
	rendering ref.Rendering
	params    format.Params
	info      format.Info
	format    format.Format
	content   fetchedContent
	whole     fs.FS // what the content was cut out of, at a path; nil when it was not
	at        string
	// secretValues says that some of the values came from a Secret.
	secretValues bool
	certifier    format.Certifier // it was rendered with
	start        *startingPoint   // of the request
	by           *applier.Found   // the tool that applies it; nil for this program
	recordHidden bool             // the record of its release may not be read
	argo         bool             // an Application of Argo CD asks for it, whose hooks run
	oneNamespace bool             // that of the release, also for objects that name another
	noHooks      bool             // hooks are left out
	plainHooks   bool             // hooks are objects like all others
	pin          bool             // --pin-images, or pinImages of a request
	named        string           // the release, on the command line; may be empty
	section      *preview.Section // of a request, which info.Package is then the name of
	more         []preview.Source // besides that of the content, where it is composed of several
	peers        []preview.Source // that the content refers to elsewhere
	tools        []preview.Source // programs that make the objects
	via          []preview.ResolutionStep
	dependencies []preview.Dependency
	apis         []deps.API // that the dependencies rest on, in the cluster
	// choice is the bundle chosen in the catalogs, nil where none were read.
	choice   *catalog.Choice
	catalogs []*catalog.Catalog
	// Notes for the reviewer: rule and text.
	notes []ref.RequestNote
}

// note adds a note for the reviewer about the package.
func (out *Resolution) note(rule rules.Rule, text string) {
	out.notes = append(out.notes, ref.RequestNote{Rule: rule, Text: text})
}

// packageNotes returns the notes about the package as a whole.
func (out *Resolution) packageNotes() []preview.Note {
	notes := out.content.notes(out.info.Package)
	for _, n := range out.notes {
		notes = append(notes, n.Rule.Note("package/"+out.info.Package, n.Text))
	}
	return notes
}

// find resolves a reference to content. installed is the version that the release has,
// from which upgrade edges are followed for a package name; nil for a new release.
func (r *Resolver) find(ctx context.Context, want PlanRequest, installed *catalog.Installed) (*Resolution, error) {
	reference, err := ref.Parse(want.Text)
	if err != nil {
		return nil, Usagef("%s", err)
	}
	out := &Resolution{
		named: want.Name, request: preview.Request{Reference: want.Text, Version: want.resolve.Version, Channel: want.resolve.Channel},
		params: want.params, pin: want.pinImages, start: want.start,
	}
	if out.file = want.File; want.File != nil {
		out.rendering = want.File.Rendering
		out.request.File, out.secretValues, out.argo = want.File.path, want.File.SecretValues, want.File.ArgoHooks
		out.oneNamespace, out.noHooks, out.plainHooks = want.File.OneNamespace, want.File.NoHooks, want.File.PlainHooks
		out.request.FileRequest, out.request.Beside = want.File.chosen(), want.File.beside
		for _, n := range want.File.Notes {
			out.note(n.Rule, n.Text)
		}
	}
	if reference.Kind == ref.KindPackage {
		if reference, err = r.choose(ctx, out, want.resolve, reference, installed); err != nil {
			return nil, besideDirectory(r.allowing(err, want), want)
		}
	} else if want.resolve.Version != "" || want.resolve.Channel != "" {
		return nil, Usagef("--version and --channel choose within a catalog; %s names its content already", want.Text)
	}
	by, err := r.forTyped(reference, want)
	if err != nil {
		return nil, err
	}
	if want.File != nil && len(want.File.Sources) > 0 {
		err = r.fetchRequested(ctx, want, out)
	} else {
		reference.Charts = want.Format == helm.Name
		out.content, err = by.fetch(ctx, reference)
	}
	if err != nil {
		return nil, r.allowing(err, want)
	}
	out.noteProgram()
	if out.whole == nil { // which a request may have narrowed already
		if err := out.narrow(want.Path, want.Text); err != nil {
			return nil, err
		}
	}
	if err := r.detect(out, want); err != nil {
		return nil, err
	}
	if err := out.checkIdentity(); err != nil {
		return nil, err
	}
	return out, out.setDefaultName(want, reference)
}

// besideDirectory adds to the error of a package name that it is a directory or file of
// the working directory, too.
func besideDirectory(err error, want PlanRequest) error {
	if _, statErr := os.Stat(want.Text); want.File != nil || statErr != nil || errors.Is(err, context.Canceled) {
		return err
	}
	command := commandline.Operator(append([]string{"preview"}, requestWords("", "", commandline.Path(want.Text), want.Name)...)...)
	advised := &commandline.Advised{
		Err:      Usagef("%s without a path is the name of a package; for the directory or file of that name: %s", want.Text, command),
		Commands: []string{command}, Scope: commandline.All, Without: []string{"version", "channel", "catalog"},
	}
	return fmt.Errorf("%w\nas a package: %w", advised, err)
}

// allowing adds to the error of a server that leads to a private address the command that
// allows it, beside the addresses that are allowed already.
func (r *Resolver) allowing(err error, want PlanRequest) error {
	address := source.RefusedAddress(err)
	if address == "" {
		return err
	}
	file, chosen := "", ""
	if want.File != nil {
		file, chosen = want.File.path, want.File.chosen()
	}
	words := append([]string{"preview"}, requestWords(file, chosen, want.Text, want.Name)...)
	for _, allowed := range append(slices.Clone(r.private), address) {
		words = append(words, "--allow-private-address="+allowed)
	}
	command := commandline.Operator(words...)
	return &commandline.Advised{Err: fmt.Errorf("%w: %s", err, command), Commands: []string{command}, Scope: commandline.All}
}

// release returns the name and namespace of a new release: those of the flags,
// else the name of the package and the namespace that the bundle suggests.
func (out *Resolution) release(name, namespace string) (preview.Release, error) {
	r := preview.Release{
		Name:      cmp.Or(name, out.info.Package),
		Namespace: cmp.Or(namespace, cmp.Or(out.info.SuggestedNamespace, out.info.Package)),
	}
	return r, checkRelease(r)
}

// checkRelease returns an error if a release's names do not fit into the Secret
// name and the label of a record.
func checkRelease(r preview.Release) error {
	for _, part := range [...]struct{ what, name string }{{"release name", r.Name}, {"namespace", r.Namespace}} {
		if !ref.IsName(part.name) || strings.Contains(part.name, ".") || len(part.name) > 63 {
			return Usagef("%s %q: want a DNS label: at most 63 of a-z, 0-9 and -", part.what, part.name)
		}
	}
	return nil
}

// render renders the content into objects for a release.
func (r *Resolver) render(ctx context.Context, found *Resolution, release preview.Release, upgrade bool) (*format.Output, error) {
	r.progress("rendering " + cmp.Or(found.info.Bundle, found.info.Package))
	found.certifier = certificates{release: release, cluster: r.cluster, made: r.certs}
	if found.section != nil {
		release.Namespace = found.section.Namespace
	}
	beside := &peers{resolver: r, found: found}
	input := format.Input{
		Content: found.content.FS, Info: found.info, Release: release, Params: found.params, Upgrade: upgrade, Revision: found.revision(), Cluster: r.cluster,
		KeepsNulls: found.by != nil && found.by.KeepsNulls,
		Whole:      found.whole, Path: found.at, Certifier: found.certifier, Source: found.content.Source, Peers: beside, Again: found.again(), Named: found.named,
	}
	output, err := found.format.Render(ctx, input)
	if err != nil {
		return nil, fmt.Errorf("rendering %s: %w", found.info.Package, err)
	}
	beside.sealed(output.Sources)
	if found.argo {
		if err := format.ArgoHooks(output, found.info.Package, release.Namespace); err != nil {
			return nil, fmt.Errorf("rendering %s: %w", found.info.Package, err)
		}
	} else {
		format.NoteArgoHooks(output, found.info.Package, release.Namespace)
	}
	if found.oneNamespace {
		output.MoveTo(release.Namespace)
	}
	if found.noHooks {
		output.DropHooks()
	}
	if found.plainHooks {
		output.PlainHooks()
	}
	if err := found.postRender(ctx, input, output); err != nil {
		return nil, err
	}
	output.Resolved.Section = found.section
	if found.pin {
		if err := r.pinImages(ctx, found.info.Package, output); err != nil {
			return nil, err
		}
	}
	for _, api := range found.apis {
		output.Required = append(output.Required, preview.Ref{APIVersion: api.APIVersion(), Kind: api.Kind})
	}
	return output, nil
}

// again returns the words behind "preview" that ask for the content of a directory again.
func (out *Resolution) again() []string {
	if out.content.Source.Kind != string(ref.KindDirectory) {
		return nil
	}
	asked := out.request
	words := requestWords(asked.File, asked.FileRequest, commandline.Path(asked.Reference), out.named)
	if asked.File == "" && asked.Path != "" {
		words = append(words, "--path", asked.Path)
	}
	return words
}

// requestWords returns what a command line asks by: a request file and the request in it
// that is chosen, empty for the only one; else a reference and the name of the release, which
// may be empty.
func requestWords(file, chosen, reference, name string) []string {
	switch {
	case file != "" && chosen != "":
		return []string{"--filename=" + file, "--request=" + chosen}
	case file != "":
		return []string{"--filename=" + file}
	case name != "":
		return []string{reference, name}
	}
	return []string{reference}
}

// seal computes the content digest of rendered content. beside are the objects
// of other packages in the same plan.
func (out *Resolution) seal(release preview.Release, output *format.Output, beside []map[string]any) (planned.Content, error) {
	var mark func(preview.Origin, map[string]any)
	if out.by != nil {
		mark = out.by.MarkFrom
	}
	return planned.Prepare(release, planned.Material{
		Mark: mark,
		Info: out.info, Output: output, Values: out.params.Values, SecretValues: out.secretValues,
		Sources: slices.Concat([]preview.Source{out.content.Source}, out.more, out.peers, out.tools), Via: out.via,
		Verification: out.content.verification, Referrers: out.content.referrers,
		Dependencies: out.dependencies, Notes: out.packageNotes(), Beside: beside,
	})
}

// checkIdentity returns an error for content whose own package name or version
// differs from that in its catalog, whose upgrade edges were followed. Content
// without a name gets that of the catalog.
func (out *Resolution) checkIdentity() error {
	if out.choice == nil {
		return nil
	}
	if out.info.Package == "" {
		out.info.Package = out.choice.Package
	}
	if out.info.Package != out.choice.Package || out.info.Version != "" && !sameVersion(out.info.Version, out.choice.Version) {
		return contradicts(out.choice, out.info)
	}
	return nil
}

// contradicts returns the error for content whose own name or version differs from
// that in the catalog.
func contradicts(choice *catalog.Choice, is format.Info) error {
	return Refuse(
		fmt.Sprintf("catalog %s says that %s is %s %s, and it is %s", choice.Catalog.Reference, choice.Image, choice.Package, choice.Version, strings.TrimSpace(is.Package+" "+is.Version)),
		"report it to the catalog's publisher; the image itself can be named instead of the package",
	)
}

// sameVersion reports whether two versions are equal as text, but for a leading "v".
func sameVersion(a, b string) bool { return strings.TrimPrefix(a, "v") == strings.TrimPrefix(b, "v") }

// chartAsListed returns an error for a chart archive whose own name or version
// differs from that in the index or tag that led to it.
func chartAsListed(pin source.Pin, content fs.FS) error {
	listed := pin.Reference.Kind == ref.KindChart
	if !listed && pin.Version == "" {
		return nil
	}
	is, err := helm.New().Detect(content)
	switch {
	case err != nil:
		return nil // which detecting the format says
	case is == nil && listed:
		return Refuse(fmt.Sprintf("%s lists an archive that is no chart: it has no Chart.yaml", listing(pin.Reference)), "report it to the repository's publisher")
	case is == nil:
		return nil
	}
	says := []string{}
	if listed && is.Package != pin.Reference.Name {
		says = append(says, "chart "+pin.Reference.Name)
	}
	if version := pin.Version; version != "" && !sameVersion(is.Version, version) {
		says = append(says, "version "+version)
	} else if asked := pin.Reference.Version; version == "" && asked != "" && !inRange(is.Version, asked) {
		says = append(says, "a version in the range "+asked)
	}
	if len(says) == 0 {
		return nil
	}
	return Refuse(
		fmt.Sprintf("by %s %s is %s, and it is %s %s", listing(pin.Reference), pin.Source.Digest, strings.Join(says, ", "), is.Package, is.Version),
		"report it to the repository's publisher; the archive itself can be named instead",
	)
}

// listing returns, for messages, the place that lists the versions of a
// package: the index of a chart repository, or the tags of a repository.
func listing(r ref.Reference) string {
	if r.Kind == ref.KindChart {
		return "the index of " + r.URL
	}
	if r.Image == "" {
		return "the reference " + r.Text
	}
	return "the tags of " + repositoryName(r.Image)
}

func inRange(version, asked string) bool {
	if sameVersion(version, asked) {
		return true
	}
	constraint, err := semver.NewConstraint(asked)
	if err != nil {
		return false
	}
	is, err := semver.NewVersion(version)
	return err == nil && constraint.Check(is)
}

// maxPinned is the most images of one package whose tags are resolved.
const maxPinned = 200

// pinImages resolves the tags of images in pods to digests and writes the digests
// into the objects, so that they are part of the content digest. Images that have
// a digest stay as they are.
func (r *Resolver) pinImages(ctx context.Context, pkg string, output *format.Output) error {
	pinned := map[string]string{} // by the reference that the content has
	for _, o := range output.Objects {
		if pod, _ := preview.PodTemplate(o.Body); pod != nil {
			for image := range preview.PodImages(pod) {
				if !strings.Contains(image, "@") {
					pinned[image] = ""
				}
			}
		}
	}
	if len(pinned) > maxPinned {
		return fmt.Errorf("--pin-images: the pods of %s name %d images by tag; at most %d are looked up", pkg, len(pinned), maxPinned)
	}
	for _, image := range slices.Sorted(maps.Keys(pinned)) {
		full, platforms, err := r.pinImage(ctx, image)
		if err != nil {
			return fmt.Errorf("--pin-images: %w", err)
		}
		pinned[image] = full
		output.Notes = append(output.Notes, risk.PinnedNote(pkg, full, platforms))
		if slices.Contains(output.RelatedImages, image) {
			output.RelatedImages = append(output.RelatedImages, full)
		}
	}
	for i := range output.Objects {
		if pod, _ := preview.PodTemplate(output.Objects[i].Body); pod == nil {
			continue
		}
		body := preview.CloneBody(output.Objects[i].Body)
		pod, _ := preview.PodTemplate(body)
		for image, replace := range preview.PodImages(pod) {
			if full := pinned[image]; full != "" {
				replace(full)
			}
		}
		output.Objects[i].Body = body
	}
	return nil
}

// pinImage returns an image with the digest that its tag resolves to, and the
// platforms it supports.
func (r *Resolver) pinImage(ctx context.Context, image string) (string, []string, error) {
	reference, err := source.PodImage(image)
	if err != nil {
		return "", nil, err
	}
	r.progress("resolving " + image)
	var platforms []string
	pin, err := cacheFirst(r, func(from *source.Fetcher) (source.Pin, error) {
		pin, err := from.Pin(ctx, reference)
		if err != nil {
			return pin, err
		}
		if platforms, err = from.Platforms(ctx, pin); err != nil {
			return pin, err
		}
		return pin, from.Remember(pin)
	})
	if err != nil {
		return "", nil, err
	}
	return image + "@" + pin.Source.Digest, platforms, nil
}
