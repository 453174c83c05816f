package ref

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/health"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// Request is what a request file asks for: the package or sources of one release, and
// its options.
type Request struct {
	Object string // KIND NAMESPACE/NAME of the request, for messages

	// Release and Namespace are where it goes; empty ones take the defaults of
	// the command line.
	Release, Namespace string

	// Package is asked for, or Sources are, or Sections: never two of them, never
	// none. With Sections all that is about content is in those.
	Package  *PackageRequest
	Sources  []RequestSource
	Sections []Section
	Path     string // directory within the sources that is the content

	Format          string // empty: detected from the content
	InstallMode     string
	WatchNamespaces []string
	Certs           string
	KubeVersion     string
	APIVersions     []string
	PinImages       bool // resolve the tags of the pods' images
	Values          map[string]any
	SecretValues    bool     // some of the values came from a Secret
	ValuesFiles     []string // files within the sources, in the order of precedence, lowest first
	// Variables are substituted in the objects of a kustomization, as Flux does.
	Variables map[string]string
	// Files are added to the content, such as a kustomization around it.
	Files map[string]string
	// Kustomized is the directory of the content that gets a kustomization of
	// all that lies in it where it has none; nil when none does.
	Kustomized *string

	// Set are assignments as --set has them, which are made after all values files, and
	// SetString are text assignments, which are made after Set.
	Set, SetString []string
	// FileValues are values that are the text of files within the sources, by dotted keys.
	FileValues map[string]string
	// Select returns the files that alone are the content, nil for all of it. file is
	// the name of the request file, which may lie among them.
	Select func(content fs.FS, file string) (map[string]string, error)

	// ArgoHooks says that Argo CD's hooks among the objects run as such.
	ArgoHooks bool
	// ChartDigest says that the artifact's digest becomes part of the chart's version, as
	// Flux does with a chart of an OCIRepository.
	ChartDigest bool
	// NoHooks says that hooks of a chart are left out.
	NoHooks bool
	// PlainHooks says that hooks of a chart are objects like all others.
	PlainHooks bool
	// Rendering is what is done with what the content renders to.
	Rendering
	// OneNamespace says that objects which name another namespace go to the release's.
	OneNamespace bool

	// HealthChecks are to hold of what is installed before it counts as healthy.
	HealthChecks []health.Check

	// Paused names the field that says not to install it; empty when none does.
	Paused string
	// ContentDigest holds the digest that [Request.Pin] wrote, if it did.
	ContentDigest string
	Notes         []RequestNote

	noAnnotations bool // its kind takes no metadata

	home    string // namespace of the Secrets that it may refer to
	text    []byte
	objects []document
	index   int               // of the request among the documents
	listed  bool              // the request is an item of a List
	says    map[string]string // fields that say what a flag says, by its name
	others  []string          // requests of the same file
	pin     func(Pinned) []edit
}

// Asked returns the object that is the request, and its reference.
func (r *Request) Asked() (preview.Ref, map[string]any) {
	for i := range r.objects {
		if d := &r.objects[i]; d.index == r.index && d.String() == r.Object {
			return d.Ref, d.body
		}
	}
	return preview.Ref{}, nil
}

// Rendering is what a request does with the objects that its content renders to.
type Rendering struct {
	// PostRender are changes of the objects, in their order.
	PostRender []PostRender
	// PostRenderHooks says which of them see the hooks of a chart, as Flux'
	// postRenderStrategy names it.
	PostRenderHooks string
	// Decrypts is that the controller decrypts objects, which are not read here.
	Decrypts bool
	// OnInstall and OnUpgrade are the parts of a chart that are left out then.
	OnInstall, OnUpgrade LeftOut
}

// PostRender is one change of rendered objects: by patches and images of a kustomization,
// or by labels and annotations of all of them.
type PostRender struct {
	Patches, Images     []any
	Labels, Annotations map[string]string
}

// LeftOut are parts of a chart that a request leaves out.
type LeftOut struct{ Hooks, CRDs bool }

// RequestNote is an observation about a request file for the reviewer, with its rule.
type RequestNote struct {
	Rule rules.Rule
	Text string
}

// PackageRequest asks for a package of a catalog, by name, range and channels.
type PackageRequest struct {
	Name     string
	Version  string   // range; empty means any
	Bundle   string   // name of the very bundle; empty means any
	Channels []string // empty means the default
	// EveryChannel looks in all of them where none is named.
	EveryChannel bool
	// Catalogs are references, or names; Selector are labels that a catalog
	// of the cluster has. Both empty mean the configured ones.
	Catalogs      []string
	CatalogSource string // NAMESPACE/NAME of an OLM v0 CatalogSource in the cluster
	Selector      Selector
	// SelfCertified follows no upgrade edges.
	SelfCertified bool
}

// Selector is a label selector, as in Kubernetes.
type Selector struct {
	MatchLabels      map[string]string
	MatchExpressions []SelectorTerm
}

// SelectorTerm is one requirement of a selector; Operator is In, NotIn, Exists or
// DoesNotExist.
type SelectorTerm struct {
	Key, Operator string
	Values        []string
}

// RequestSource is one source of a request's content, and the directory it goes to.
type RequestSource struct {
	Reference   Reference
	Destination string // directory that the content goes to; empty is the root
	Subdir      string // directory of the source that is taken; empty is all of it
	// Secret, NAMESPACE/NAME, holds the credentials for the host of the
	// reference, and nothing else is sent there; empty means the user's own.
	Secret string
	// Foreign says that the Secret lies outside the request's namespace.
	Foreign bool
	CA      string // PEM of roots for this source alone
	// Confined says that a local path may not lead out of the working tree of the
	// request file; without one, out of the file's directory.
	Confined bool
}

// Objects reads from the cluster the objects that a request file refers to and does not
// contain.
type Objects interface {
	// Get returns nil and no error for an object that does not exist.
	Get(ctx context.Context, ref preview.Ref) (map[string]any, error)
}

// document is one YAML document of a request file, an object.
type document struct {
	preview.Ref
	body   map[string]any
	index  int  // among all documents
	listed bool // it is an item of a List
	used   bool
}

func (d *document) String() string {
	switch {
	case d.Name == "":
		return clip(d.Kind) + " without a name"
	case d.Namespace == "":
		return clip(d.Kind) + " " + d.Name
	}
	return clip(d.Kind) + " " + d.Namespace + "/" + d.Name
}

// reader converts the objects of a request file into a Request.
type reader struct {
	*Request
	ctx   context.Context
	more  Objects // may be nil
	asked *document
	err   error // the first of looking something up
}

// find returns an object that the request refers to: from its file, else from the
// cluster, in the first of versions that has it. It returns nil, and sets the reader's
// error, if there is none.
func (r *reader) find(group string, versions []string, kind, namespace, name string) map[string]any {
	shown := &document{Ref: preview.Ref{Kind: kind, Namespace: namespace, Name: name}}
	if !IsName(name) || namespace != "" && !isLabel(namespace) {
		r.fail("%s %q is not the name of an object", clip(kind), clip(namespace+"/"+name))
		return nil
	}
	d := r.inFile(group, kind, namespace, name)
	encrypted := d != nil && d.body["sops"] != nil
	if d != nil && !encrypted {
		d.used = true
		if group == "" && kind == "Secret" {
			return encoded(d.body)
		}
		return d.body
	}
	if encrypted && r.more == nil {
		r.fail("it refers to %s, which is encrypted in the file, and no cluster may be asked; leave out --offline", shown)
		return nil
	}
	if r.more == nil {
		r.fail("it refers to %s, which is not in the file, and no cluster may be asked; add it to the file, name the directory that holds both with -f, or leave out --offline", shown)
		return nil
	}
	var body map[string]any
	var err error
	for _, version := range versions {
		apiVersion := strings.TrimPrefix(group+"/"+version, "/")
		body, err = r.more.Get(r.ctx, preview.Ref{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name})
		if err == nil && body != nil {
			return body
		}
		if preview.ReasonOf(err) == preview.ReasonNotServed {
			err = nil // it exists in no other version either, unless that has it
		}
		if err != nil {
			break
		}
	}
	switch {
	case preview.ReasonOf(err) == preview.ReasonForbidden:
		r.fail("it refers to %s, which you may not read: %w", shown, err)
	case err != nil:
		r.fail("reading %s, which it refers to: %w", shown, err)
	default:
		r.fail("%w", &MissingError{Asked: r.asked.Ref, Ref: preview.Ref{APIVersion: strings.TrimPrefix(group+"/"+versions[0], "/"), Kind: kind, Namespace: namespace, Name: name}})
	}
	return nil
}

// MissingError says that the request Asked refers to Ref, which is neither in the file nor in
// the cluster, so that the controller of the request applies nothing.
type MissingError struct{ Asked, Ref preview.Ref }

func (m *MissingError) Error() string {
	return "it refers to " + m.object() + ", which is neither in the file nor in the cluster"
}

func (m *MissingError) object() string { return (&document{Ref: m.Ref}).String() }

// Outcome says what the controller does, and what to do about it.
func (m *MissingError) Outcome() (what, next string) {
	who := "its controller"
	if strings.HasSuffix(m.Asked.Group(), ".toolkit.fluxcd.io") {
		who = "Flux"
	}
	return fmt.Sprintf("%s refers to %s, which is neither in the file nor in the cluster, and %s would apply nothing", &document{Ref: m.Asked}, m.object(), who),
		"create it, or correct the reference"
}

// inFile returns the document of the request file that has this kind and name, nil if
// none has.
func (r *reader) inFile(group, kind, namespace, name string) *document {
	for i := range r.objects {
		d := &r.objects[i]
		if d.Kind == kind && d.Group() == group && d.Name == name && d.Namespace == namespace {
			return d
		}
	}
	return nil
}

// encoded returns a Secret with its stringData in data, as the API server has it.
func encoded(secret map[string]any) map[string]any {
	plain := preview.Map(secret, "stringData")
	if len(plain) == 0 {
		return secret
	}
	out, data := maps.Clone(secret), maps.Clone(preview.Map(secret, "data"))
	if data == nil {
		data = map[string]any{}
	}
	for key, v := range plain {
		if text, ok := v.(string); ok {
			data[key] = base64.StdEncoding.EncodeToString([]byte(text))
		}
	}
	out["data"] = data
	return out
}

// fail sets the reader's error, unless it has one already.
func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// note adds a note of a rule for the reviewer of the request.
func (r *reader) note(rule rules.Rule, args ...any) {
	r.Notes = append(r.Notes, RequestNote{rule, rule.NoteText(args...)})
}

// check returns an error for what no request may have, of whatever kind: invalid names,
// a package in addition to sources, an unknown format, or paths outside the content.
func (r *Request) check() error {
	if r.Release != "" && !isLabel(r.Release) || r.Namespace != "" && !isLabel(r.Namespace) {
		return fmt.Errorf("release %q in namespace %q: both are at most 63 of a-z, 0-9 and \"-\"", clip(r.Release), clip(r.Namespace))
	}
	if len(r.Sections) > 0 {
		return r.checkSections()
	}
	if (r.Package == nil) == (len(r.Sources) == 0) {
		return errors.New("it asks for a package or for sources; give one of the two")
	}
	var err error
	if r.Format, err = knownFormat(r.Format); err != nil {
		return err
	}
	for _, path := range slices.Concat([]string{r.Path}, r.ValuesFiles, slices.Collect(maps.Values(r.FileValues))) {
		if err := checkBelow(path); err != nil {
			return err
		}
	}
	for i := range r.Sources {
		if err := checkBelow(r.Sources[i].Destination); err != nil {
			return fmt.Errorf("source %d: %w", i+1, err)
		}
	}
	return nil
}

// checkBelow returns an error unless a path is relative and stays below its root.
func checkBelow(path string) error {
	if strings.HasPrefix(path, "/") || strings.Contains(path, `\`) || slices.Contains(strings.Split(path, "/"), "..") {
		return fmt.Errorf("%q is not a path within the content", clip(path))
	}
	return nil
}

// formatNames returns the built-in formats of content by the names that request files
// use for them. A request file cannot name a program.
func formatNames() map[string]string {
	return map[string]string{
		"registryv1": "registryv1", "registry+v1": "registryv1", "registry-v1": "registryv1", "registry": "registryv1",
		"helm": "helm", "helm+v3": "helm", "plain": "plain", "plain+v0": "plain",
		"kustomize": "kustomize", "carvel": "carvel",
	}
}

// knownFormat returns the command line's name of a format that a request file names, an
// error if that is not built in. Empty stays empty.
func knownFormat(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	known := formatNames()
	if known[name] == "" {
		return "", fmt.Errorf("the format %q is not built in, and a request file cannot name a program; known are: %s",
			clip(name), strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	}
	return known[name], nil
}
