package planning

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/requestfile"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/assignment"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/format/helm"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/auth"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
)

// fetchRequested fetches all sources of a request file and combines them.
func (r *Resolver) fetchRequested(ctx context.Context, want PlanRequest, out *Resolution) error {
	request := want.File.Request
	parts := make([]source.Part, 0, len(request.Sources)+1)
	for i, s := range request.Sources {
		s.Reference.Charts = want.Format == helm.Name
		got, err := r.fetchSource(ctx, s, want.File.place)
		if err != nil {
			return err
		}
		parts = append(parts, source.Part{Name: s.Reference.Text, FS: got.FS, Subdir: s.Subdir, Destination: s.Destination})
		if i == 0 {
			out.content = got
			continue
		}
		out.more = append(out.more, got.Source)
		out.content.provenance = weakerProvenance(out.content.provenance, got.provenance)
	}
	if len(request.Files) > 0 {
		parts = append(parts, source.Part{Name: request.Object, Files: request.Files})
	}
	if p := parts[0]; len(parts) > 1 || p.Subdir != "" || p.Destination != "" {
		if err := out.compose(request.Object, parts...); err != nil {
			return err
		}
	}
	if err := out.kustomized(request); err != nil {
		return err
	}
	if err := out.chartDigest(request); err != nil {
		return aboutObject(request.Object, err)
	}
	if err := r.selected(ctx, want.File, out); err != nil {
		return err
	}
	return out.valuesFiles(request)
}

// chartDigest makes the artifact's digest a part of the chart's version, if the request's
// kind does so: templates read it.
func (out *Resolution) chartDigest(request *ref.Request) error {
	if !request.ChartDigest {
		return nil
	}
	chosen, err := ref.Parse(out.content.Source.Reference)
	if err != nil {
		return err
	}
	tag := ""
	if !strings.Contains(chosen.Image, "@") {
		_, tag, _ = strings.Cut(path.Base(chosen.Image), ":")
	}
	files, err := helm.ChartWithDigest(out.content.FS, tag, out.content.Source.Digest)
	if err != nil || files == nil {
		return err
	}
	return out.compose(request.Object, source.Part{Name: request.Object, FS: out.content.FS}, source.Part{Name: request.Object, Files: files, Over: true})
}

// compose takes the composed parts as the content.
func (out *Resolution) compose(object string, parts ...source.Part) error {
	whole, err := source.Compose(parts...)
	if err != nil {
		return fmt.Errorf("putting the sources of %s together: %w", object, err)
	}
	content := *out.content.Content
	content.FS = whole
	out.content.Content = &content
	return nil
}

// selected restricts the content to the files that the request chooses, if it does.
func (r *Resolver) selected(ctx context.Context, file *RequestFile, out *Resolution) error {
	if file.Select == nil {
		return nil
	}
	files, err := file.Select(out.content.FS, filepath.Base(file.path))
	switch {
	case err != nil:
		return aboutObject(file.Object, err)
	case files == nil:
		return r.surrounded(ctx, file, out)
	}
	return out.compose(file.Object, source.Part{Name: file.Object, Files: files})
}

// kustomized adds the kustomization.yaml that Flux or Argo CD would generate,
// if the request is one of theirs and its directory has none.
func (out *Resolution) kustomized(request *ref.Request) error {
	if request.Kustomized == nil {
		return nil
	}
	dir := cmp.Or(*request.Kustomized, ".")
	resources, err := kustomizationOf(out.content.FS, dir)
	if err != nil {
		return fmt.Errorf("%s: its sources have no directory %s", request.Object, dir)
	}
	if resources == nil {
		return nil
	}
	text, err := json.Marshal(map[string]any{"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": resources})
	if err != nil {
		return err
	}
	return out.compose(
		request.Object, source.Part{Name: request.Object, FS: out.content.FS},
		source.Part{Name: request.Object, Files: map[string]string{path.Join(dir, "kustomization.yaml"): string(text)}},
	)
}

// kustomizationOf returns the resources of the kustomization that Flux
// generates for a directory: its manifests, and its subdirectories that have a
// kustomization. It is nil if the directory has a kustomization of its own.
func kustomizationOf(files fs.FS, dir string) ([]string, error) {
	resources := []string{}
	own := false
	err := fs.WalkDir(files, dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative := name
		if dir != "." {
			relative = strings.TrimPrefix(name, dir+"/")
		}
		switch {
		case entry.IsDir() && requestfile.HasKustomization(files, name):
			if own = own || name == dir; !own {
				resources = append(resources, relative)
			}
			return fs.SkipDir
		case !entry.IsDir() && (path.Ext(name) == ".yaml" || path.Ext(name) == ".yml"):
			resources = append(resources, relative)
		}
		return nil
	})
	if own {
		return nil, err
	}
	return resources, err
}

// surrounded takes the working tree of a request file as content where a kustomization
// beside that refers to directories above its own.
func (r *Resolver) surrounded(ctx context.Context, file *RequestFile, out *Resolution) error {
	if !refersAbove(out.content.FS, file.Path) {
		return nil
	}
	dir, root, err := workingTree(file.path)
	if err != nil || dir == root {
		return err
	}
	at, err := filepath.Rel(root, dir)
	if err != nil {
		return err
	}
	if out.content, err = r.fetch(ctx, ref.Reference{Kind: ref.KindDirectory, Text: root, Path: root}); err != nil {
		return err
	}
	return out.narrow(path.Join(filepath.ToSlash(at), file.Path), file.Object)
}

// refersAbove reports whether the kustomization of a directory names a path above it.
func refersAbove(files fs.FS, dir string) bool {
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		data, err := fs.ReadFile(files, path.Join(cmp.Or(dir, "."), name))
		if err == nil && strings.Contains(string(data), "../") {
			return true
		}
	}
	return false
}

// aboutObject returns an error about an object of a request file; nil stays nil.
func aboutObject(object string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", object, err)
}

// besideFile returns a reference whose relative path, as written in a file, is
// resolved from the directory of that file.
func besideFile(r ref.Reference, file string) (ref.Reference, error) {
	if r.Path == "" || filepath.IsAbs(r.Path) {
		return r, nil
	}
	joined := filepath.ToSlash(filepath.Join(filepath.Dir(file), r.Path))
	if !filepath.IsAbs(joined) && joined != ".." && !strings.HasPrefix(joined, "../") {
		joined = "./" + joined
	}
	return ref.Parse(strings.Replace(r.Text, r.Path, joined, 1))
}

// workingTree returns the directory of a file, and the nearest directory above it that
// git keeps; without one, its own.
func workingTree(file string) (dir, root string, err error) {
	dir, root, _, err = requestfile.WorkingTree(filepath.Dir(file))
	if err != nil {
		err = fmt.Errorf("the directory of %s: %w", file, err)
	}
	return dir, root, err
}

// confined returns an error if a local path leads out of the working tree of a request
// file.
func confined(path, file string) error {
	_, root, err := workingTree(file)
	if err != nil {
		return err
	}
	target, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if resolved, err := filepath.EvalSymlinks(target); err == nil {
		target = resolved
	}
	if below, err := filepath.Rel(root, target); err != nil || !filepath.IsLocal(below) {
		return fmt.Errorf("%s leads out of %s, the working tree of %s; only what lies in it is read", path, root, file)
	}
	return nil
}

// fetchSource fetches one source of a request file, with its credentials.
func (r *Resolver) fetchSource(ctx context.Context, s ref.RequestSource, file string) (fetchedContent, error) {
	reference, err := besideFile(s.Reference, file)
	if err != nil {
		return fetchedContent{}, err
	}
	if s.Confined && reference.Local() {
		if err := confined(reference.Path, file); err != nil {
			return fetchedContent{}, err
		}
	}
	if s.Secret == "" && s.CA == "" {
		return r.fetch(ctx, reference)
	}
	var given *auth.Credentials
	if s.Secret != "" {
		var cluster auth.Getter
		if r.cluster != nil {
			cluster = r.cluster
		}
		if given, err = auth.ReadCredentials(ctx, cluster, s.Secret, reference); err != nil {
			return fetchedContent{}, err
		}
	}
	if s.CA != "" {
		given = given.WithRoots(s.CA, reference)
	}
	with := *r
	with.fetcher = r.fetcher.With(given)
	if r.cached != nil {
		with.cached = r.cached.With(given)
	}
	return with.fetch(ctx, reference)
}

// valuesFiles reads the values files that a request names. The values in the
// request itself override them, and its assignments those.
func (out *Resolution) valuesFiles(request *ref.Request) error {
	if len(request.ValuesFiles)+len(request.FileValues)+len(request.Set)+len(request.SetString) == 0 {
		return nil
	}
	values := map[string]any{}
	for _, name := range request.ValuesFiles {
		data, err := fs.ReadFile(out.content.FS, name)
		if err != nil {
			return fmt.Errorf("%s: its sources have no file %s for values", request.Object, name)
		}
		docs, err := preview.Decode(data)
		if err != nil {
			return fmt.Errorf("%s: values file %s: %w", request.Object, name, err)
		}
		for _, doc := range docs {
			m, ok := doc.(map[string]any)
			if !ok {
				return fmt.Errorf("%s: values file %s: want a mapping at the top", request.Object, name)
			}
			assignment.Merge(values, preview.FileNumbers(m))
		}
	}
	assignment.Merge(values, preview.CloneBody(out.params.Values))
	assigned := &assignment.Values{Map: values}
	if err := assigned.All(request.Set, request.SetString); err != nil {
		return fmt.Errorf("%s: %w", request.Object, err)
	}
	for _, key := range slices.Sorted(maps.Keys(request.FileValues)) {
		text, err := fs.ReadFile(out.content.FS, request.FileValues[key])
		if err != nil {
			return fmt.Errorf("%s: its sources have no file %s for values", request.Object, request.FileValues[key])
		}
		if err := assigned.SetLiteral(key, string(text)); err != nil {
			return fmt.Errorf("%s: %w", request.Object, err)
		}
	}
	out.params.Values = values
	return nil
}

// RenderOptions are the values and parameters for rendering a package.
type RenderOptions struct {
	InstallMode string
	// AskMode is that the user is asked for an install mode that is not clear: it is a
	// [format.UnclearModeError].
	AskMode         bool
	WatchNamespaces []string
	Values          []string // files
	Set             []string // KEY=VALUE, as Helm reads them
	SetString       []string // KEY=TEXT
	SetJSON         []string // KEY=JSON, or a JSON object
	SetFile         []string // KEY=FILE
	Certs           string
	KubeVersion     string
	APIVersions     []string
	PinImages       bool
}

// What the flags of a cluster's version take; kubectl prints both like this.
var (
	kubeVersion = lazyregexp.New(`^v?[0-9]+\.[0-9]+(\.[0-9]+)?([-+][0-9A-Za-z.+-]+)?$`)
	apiVersion  = lazyregexp.New(`^([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?v[0-9]+((alpha|beta)[0-9]+)?(/[A-Z][A-Za-z0-9]*)?$`)
)

// with returns the options with flags of a setting, each followed by its value.
func (o RenderOptions) with(flags []string) RenderOptions {
	o.Set = slices.Clip(o.Set)
	for i := 0; i+1 < len(flags); i += 2 {
		switch flags[i] {
		case "--install-mode": // decides which namespaces are watched too
			o.InstallMode, o.WatchNamespaces = flags[i+1], nil
		case "--watch-namespace":
			o.WatchNamespaces = append(slices.Clip(o.WatchNamespaces), flags[i+1])
		case "--certs":
			o.Certs = flags[i+1]
		case "--set":
			o.Set = append(o.Set, flags[i+1])
		}
	}
	return o
}

// params returns the parameters of rendering, for which it reads the values
// files that the options name.
func (o *RenderOptions) params() (format.Params, error) {
	if !slices.Contains([]string{"", "AllNamespaces", "SingleNamespace", "OwnNamespace", "MultiNamespace"}, o.InstallMode) {
		return format.Params{}, Usagef("--install-mode %s: want AllNamespaces, SingleNamespace, OwnNamespace or MultiNamespace", o.InstallMode)
	}
	if o.Certs != "" && !slices.Contains(preview.CertProviders(), o.Certs) {
		return format.Params{}, Usagef("--certs %s: want cert-manager, service-ca, generated or none", o.Certs)
	}
	if o.KubeVersion != "" && !kubeVersion.MatchString(o.KubeVersion) {
		return format.Params{}, Usagef("--kube-version %s: want a version such as v1.37.1", o.KubeVersion)
	}
	for _, v := range o.APIVersions {
		if !apiVersion.MatchString(v) {
			return format.Params{}, Usagef("--api-versions %s: want GROUP/VERSION or v1, and /KIND behind it for one kind", v)
		}
	}
	values := map[string]any{}
	for _, path := range o.Values {
		data, err := os.ReadFile(path)
		if err != nil {
			return format.Params{}, fmt.Errorf("reading --values: %w", err)
		}
		docs, err := preview.Decode(data)
		if err != nil {
			return format.Params{}, fmt.Errorf("reading --values %s: %w", path, err)
		}
		for _, doc := range docs {
			m, ok := doc.(map[string]any)
			if !ok {
				return format.Params{}, fmt.Errorf("reading --values %s: want a mapping at the top", path)
			}
			assignment.Merge(values, preview.FileNumbers(m))
		}
	}
	if err := o.assign(values); err != nil {
		return format.Params{}, err
	}
	return format.Params{
		InstallMode: o.InstallMode, ModeAsked: o.AskMode, WatchNamespaces: o.WatchNamespaces, Values: values,
		Certs: o.Certs, KubeVersion: o.KubeVersion, APIVersions: o.APIVersions,
	}, nil
}

// assign makes the assignments of the flags to values, in the order of Helm.
func (o *RenderOptions) assign(to map[string]any) error {
	values := &assignment.Values{Map: to}
	for _, flag := range []struct {
		name   string
		texts  []string
		assign func(string) error
	}{
		{"set-json", o.SetJSON, values.SetJSON},
		{setFlag, o.Set, values.Set},
		{"set-string", o.SetString, values.SetString},
		{"set-file", o.SetFile, func(text string) error { return values.SetFile(text, valueOfFile) }},
	} {
		for _, text := range flag.texts {
			if err := flag.assign(text); err != nil {
				return Usagef("--%s %s: %s", flag.name, text, err)
			}
		}
	}
	return nil
}

// maxFileValue is the most bytes of a file that becomes a value, which is to be part of an
// object.
const maxFileValue = 2 * preview.MaxObjectBytes

// valueOfFile returns the content of a file that becomes a value.
func valueOfFile(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return bounded.ReadAll(file, maxFileValue)
}
