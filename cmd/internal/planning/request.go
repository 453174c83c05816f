package planning

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/requestfile"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/plugins"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// StandardInput is the name of a file that stands for standard input.
const StandardInput = "-"

// RequestOptions are the flags about request files.
type RequestOptions struct {
	// CrossNamespaceSecrets lets a file name credentials outside its namespace.
	CrossNamespaceSecrets bool
	// Stdin is read where the file is called "-".
	Stdin io.Reader
}

// RequestFile is a parsed request file, with its path.
type RequestFile struct {
	*ref.Request
	path  string
	place string // file that relative paths are beside
	made  string // what its text was made from; empty for one file
	// beside are the flags given for what it has no field for.
	beside []string
}

// chosen returns the name of the request among several of its file; empty for the only one.
func (f *RequestFile) chosen() string {
	if !f.Several() {
		return ""
	}
	return f.Name()
}

// ReadRequests reads the requests of a file or directory, or those that a kustomization
// makes. name selects one of several; empty reads them all.
func (p *Planner) ReadRequests(ctx context.Context, path, name string) ([]PlanRequest, error) {
	text, err := p.readRequest(ctx, path)
	if err != nil {
		return nil, err
	}
	switch {
	case plugins.IsHosted(text.Data) && path == StandardInput:
		return nil, Usagef("a PluginSet is read from a file that has its lock file beside it; name it with -f FILE")
	case plugins.IsHosted(text.Data):
		set, err := p.Sets().requestedSet(path)
		return []PlanRequest{set}, err
	}
	var more ref.Objects
	if !p.Read.Offline {
		more = targetCluster{p}
	}
	requests, err := ref.ReadRequests(ctx, text.Data, more, name)
	var missing *ref.MissingError
	switch {
	case errors.As(err, &missing):
		what, next := missing.Outcome()
		return nil, Refuse("request file "+path+": "+what, next+requestfile.Advice(path))
	case errors.Is(err, ref.ErrNoRequest):
		return nil, fmt.Errorf("request file %s: %w", path, err)
	case err != nil:
		return nil, fmt.Errorf("request file %s: %w%s", path, err, requestfile.Advice(path))
	}
	var out []PlanRequest
	for _, request := range requests {
		want, err := p.ofFile(request, path, text.Place)
		if err != nil {
			return nil, err
		}
		want.File.made, want.File.beside = text.Made, p.flagsBeside()
		out = append(out, want)
	}
	return out, nil
}

// ReadRequest reads the only request of a file, or the one of that name.
func (p *Planner) ReadRequest(ctx context.Context, path, name string) (PlanRequest, error) {
	all, err := p.ReadRequests(ctx, path, name)
	if err != nil {
		return PlanRequest{}, err
	}
	if len(all) > 1 {
		return PlanRequest{}, Usagef("request file %s holds %d requests, such as %s and %s; choose one: --request %s", path, len(all), all[0].File.Object, all[1].File.Object, all[0].File.Name())
	}
	return all[0], nil
}

// ofFile returns the plan request that a request file, or one of its sections,
// describes.
func (p *Planner) ofFile(request *ref.Request, path, place string) (PlanRequest, error) {
	want, err := p.Request("", request.Release)
	if err != nil {
		return PlanRequest{}, err
	}
	want.File, want.programs = &RequestFile{Request: request, path: path, place: place}, want.Format != ""
	want.namespace = cmp.Or(want.namespace, request.Namespace)
	if err := p.Remember.refuseSaid(request); err != nil {
		return PlanRequest{}, err
	}
	want.Format, want.Path = cmp.Or(request.Format, want.Format), cmp.Or(request.Path, want.Path)
	want.pinImages = want.pinImages || request.PinImages
	given := want.params // which the request has no fields for
	want.params = format.Params{
		InstallMode: cmp.Or(request.InstallMode, given.InstallMode), WatchNamespaces: append(request.WatchNamespaces, given.WatchNamespaces...),
		Values: request.Values, Certs: cmp.Or(request.Certs, given.Certs),
		KubeVersion: cmp.Or(want.params.KubeVersion, request.KubeVersion), APIVersions: append(want.params.APIVersions, request.APIVersions...),
		Variables: request.Variables,
	}
	if want.params.Values == nil {
		want.params.Values = given.Values
	}
	request.Notes = append(request.Notes, request.NotesBeside(want.namespace)...)
	if len(request.Sections) > 0 {
		want.sections, err = p.sectionsOf(request, path, place)
		want.Text = sectionNames(want.sections)
		return want, err
	}
	if pkg := request.Package; pkg != nil {
		want.Text = pkg.Name
		want.resolve.fromFile(pkg)
		return want, nil
	}
	want.Text = request.Sources[0].Reference.Text
	return want, p.secretsOf(&want)
}

// readRequest reads the text of requests, from standard input or what path names.
func (p *Planner) readRequest(ctx context.Context, path string) (requestfile.Text, error) {
	if path == StandardInput {
		data, err := io.ReadAll(io.LimitReader(p.Requests.Stdin, preview.MaxDocumentBytes+1))
		switch {
		case err != nil:
			return requestfile.Text{}, fmt.Errorf("reading the request from standard input: %w", err)
		case len(data) == 0:
			return requestfile.Text{}, Usagef("-f -: standard input is empty; write the request to it")
		}
		return requestfile.Text{Data: data, Place: path}, nil
	}
	return requestfile.Read(ctx, path)
}

// flagsOfRequests are the flags whose meaning a request may have a field for.
func flagsOfRequests() []string {
	return []string{"version", "channel", "install-mode", "watch-namespace", "values", setFlag, "set-string", "set-json", "set-file", "values-from-defaults", "certs", "format", "path"}
}

// flagsBeside returns the flags beside a request file that the command which applies
// the plan repeats, but for those that it repeats of any command line: --values and
// --set, by [Environment.repeat].
func (p *Planner) flagsBeside() []string {
	given := p.Remember.Given
	if given == nil {
		return nil
	}
	var out []string
	for _, flag := range []struct {
		name   string
		values []string
	}{
		{"install-mode", []string{p.Render.InstallMode}}, {"watch-namespace", p.Render.WatchNamespaces}, {"certs", []string{p.Render.Certs}},
		{"format", []string{p.Content.Format}}, {"path", []string{p.Content.Path}},
	} {
		for _, value := range flag.values {
			if given(flag.name) {
				out = append(out, "--"+flag.name, value)
			}
		}
	}
	return out
}

// refuseSaid returns an error for a flag whose meaning the request has a field for.
func (o RememberOptions) refuseSaid(request *ref.Request) error {
	given := o.Given
	if given == nil {
		return nil
	}
	for _, flag := range flagsOfRequests() {
		if field := request.Says(flag); given(flag) && field != "" {
			return Usagef("--%s: %s says that itself, in %s; change it there", flag, request.Object, field)
		}
	}
	return nil
}

// fromFile sets the selection to that of a request file. Catalogs from the
// command line stay instead of those in the file.
func (s *Selection) fromFile(pkg *ref.PackageRequest) {
	s.Version, s.bundle, s.channels, s.Selector, s.CatalogSource = pkg.Version, pkg.Bundle, pkg.Channels, pkg.Selector, pkg.CatalogSource
	if len(s.Catalogs) == 0 {
		s.Catalogs = pkg.Catalogs
	}
	if pkg.EveryChannel && len(s.channels) == 0 {
		s.channels = []string{catalog.EveryChannel}
	}
	if pkg.SelfCertified || pkg.Bundle != "" {
		s.policy = catalog.SelfCertified
	}
}

// secretsOf returns an error if a request takes credentials from a Secret of
// another namespace, unless a flag permits that; then it adds a note.
func (p *Planner) secretsOf(want *PlanRequest) error {
	for _, s := range want.File.Sources {
		if !s.Foreign {
			continue
		}
		if !p.Requests.CrossNamespaceSecrets {
			return fmt.Errorf("request file %s: %s takes credentials from Secret %s of another namespace; --allow-cross-namespace-secrets permits it", want.File.path, want.File.Object, s.Secret)
		}
		want.File.Notes = append(want.File.Notes, ref.RequestNote{
			Rule: rules.CrossNamespaceSecret, Text: rules.CrossNamespaceSecret.NoteText(s.Secret),
		})
	}
	return nil
}

// Paused returns an error if the request file says that nothing is to be installed now.
func (w PlanRequest) Paused() error {
	if w.File == nil || w.File.Paused == "" {
		return nil
	}
	return Refuse(fmt.Sprintf("%s is paused: %s is true", w.File.Object, w.File.Paused), "preview shows what it would do; set it to false to install")
}

// Unreviewed says how the content of a plan differs from the content digest in
// its request file; empty if it does not, or the file has none.
func (w PlanRequest) Unreviewed(plan *preview.Plan) string {
	if w.File == nil || w.File.ContentDigest == "" || w.File.ContentDigest == plan.ContentDigest {
		return ""
	}
	return fmt.Sprintf("%s was reviewed with the content digest %s, and now leads to %s", w.File.Object, w.File.ContentDigest, plan.ContentDigest)
}

// root returns the package that the user asked for, among those of a plan,
// which also has its dependencies; nil if there is none.
func (w PlanRequest) root(plan *preview.Plan) *preview.Package {
	name, _, _ := strings.Cut(w.Text, "@")
	if reference, err := ref.Parse(w.Text); err == nil && reference.Kind != ref.KindPackage {
		name = ""
	}
	for i := range plan.Packages {
		if p := &plan.Packages[i]; p.Name == name || name == "" && len(p.Via) == 0 {
			return p
		}
	}
	return &plan.Packages[0]
}

// pinnedTo returns the digests of a planned package, to be written into a request file.
func pinnedTo(plan *preview.Plan, pkg *preview.Package) ref.Pinned {
	p := ref.Pinned{ContentDigest: plan.ContentDigest, Sources: pkg.Sources, Version: pkg.Version, Bundle: pkg.Bundle}
	if len(pkg.Via) > 0 {
		p.Channel = pkg.Via[0].Channel
	}
	return p
}

// Pinned returns the text of a request file with the digests of what the plan has.
func (w PlanRequest) Pinned(plan *preview.Plan) ([]byte, error) {
	if w.Set != nil {
		return nil, Usagef("-o request: a PluginSet is pinned by its lock file; plugin preview -c %s --update-lock writes it", w.Text)
	}
	if w.File != nil && w.File.made != "" {
		return nil, Usagef("-o request writes a file back, and %s is from %s; name the file", w.File.Object, w.File.made)
	}
	if len(w.sections) > 0 {
		return w.File.Pin(w.pinnedSections(plan))
	}
	p := pinnedTo(plan, w.root(plan))
	if w.File != nil {
		return w.File.Pin(p)
	}
	reference, err := ref.Parse(w.Text)
	if err != nil {
		return nil, err
	}
	if err := w.asPlanned(plan); err != nil {
		return nil, err
	}
	switch secret := secretValue(w.params.Values, ""); {
	case w.Format != "" && builtinFormat(w.Format) == nil:
		return nil, Usagef("-o request: a request file cannot name a program, and --format %s does", w.Format)
	case reference.Kind == ref.KindProgram:
		return nil, Usagef("-o request: a request file cannot name a program, and %s does", w.Text)
	case secret != "":
		return nil, Usagef("-o request would write %s in the clear; leave it out, and refer to a Secret of the cluster where the package can", secret)
	}
	request := &ref.Request{
		Release: plan.Release.Name, Namespace: plan.Release.Namespace, Format: w.Format, Path: w.Path,
		InstallMode: w.params.InstallMode, WatchNamespaces: w.params.WatchNamespaces, Certs: w.params.Certs,
		KubeVersion: w.params.KubeVersion, APIVersions: w.params.APIVersions, PinImages: w.pinImages, Values: w.params.Values,
	}
	if reference.Kind != ref.KindPackage {
		request.Sources = []ref.RequestSource{{Reference: reference}}
		return request.Write(p)
	}
	request.Package = &ref.PackageRequest{Name: reference.Package, Catalogs: w.resolve.Catalogs}
	if w.resolve.Channel != "" {
		request.Package.Channels = []string{w.resolve.Channel}
	}
	return request.Write(p)
}

// asPlanned sets the options of the request to those of the plan, which has
// some from the installed release. A secret value among them is an error.
func (w *PlanRequest) asPlanned(plan *preview.Plan) error {
	if plan.Base.Revision == 0 {
		return nil
	}
	options := plan.ReleaseOptions
	if options == nil {
		options = &preview.ReleaseOptions{}
	}
	for _, v := range options.Values {
		if v.Withheld {
			return Usagef("-o request would write %s in the clear; leave it out, and refer to a Secret of the cluster where the package can", v.Path())
		}
	}
	values, err := preview.NestValues(options.Values)
	if err != nil {
		return err
	}
	resolved := w.root(plan).Parameters
	w.params.Values, w.Format, w.Path, w.pinImages = values, options.Format, options.Path, options.PinImages
	w.params.InstallMode, w.params.WatchNamespaces, w.params.Certs = resolved.InstallMode, resolved.WatchNamespaces, resolved.Certs
	return nil
}

// secretValue returns the path of a value whose key looks like that of a
// secret, empty if there is none.
func secretValue(values map[string]any, path string) string {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		below := strings.TrimPrefix(path+"."+key, ".")
		if m, ok := values[key].(map[string]any); ok {
			if found := secretValue(m, below); found != "" {
				return found
			}
		} else if preview.SensitiveName(key) && values[key] != nil && values[key] != "" {
			return below
		}
	}
	return ""
}

// Origin returns the file that a request came from, empty for one without a file.
func (w PlanRequest) Origin() string {
	if w.File == nil {
		return w.Text
	}
	return w.File.path
}
