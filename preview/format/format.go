// Package format defines the interface of content formats, such as helm and
// kustomize: a [Format] is given verified content and parameters, and returns
// Kubernetes objects. The set of formats is closed; each is a package below this
// one and a row of the table that package planning builds.
package format

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/servingcert"
)

// Format recognises and renders one kind of content.
type Format interface {
	// Detect describes the content, or returns nil when it is not of this
	// format. An error means that it is, and is broken.
	Detect(content fs.FS) (*Info, error)
	// Render makes the objects. The same input, and the same answers of the
	// cluster, give the same output on any machine; nothing else is read.
	Render(ctx context.Context, in Input) (*Output, error)
}

// Chooser is a format that knows other settings that may let content need fewer rights.
type Chooser interface {
	// Choices returns such settings in place of those of an input, the one that
	// needs least first. Whether they do is for the caller to compare.
	Choices(in Input) ([]Choice, error)
}

// Defaulter is a format that knows the defaults of its parameters.
type Defaulter interface {
	// Defaults returns what the content of an input has for parameters that are
	// empty, and which values it knows.
	Defaults(in Input) (Defaults, error)
}

// Defaults are the parameters that content has where the user gives none.
type Defaults struct {
	Params Params // of Values those that the content lists
	// Known reports whether the content takes a value: keys lead to it. Nil where
	// the format refuses those that it does not take.
	Known func(keys []string) bool
}

// Choice is another setting of the parameters, with the flags that make it.
type Choice struct {
	Flags  []string // that make it, on the command line
	Params Params
}

// Info is what a format knows of content before it renders it. Package and Version are
// empty if the content has none, as plain manifests do.
type Info struct {
	Format             string // such as "registry+v1"
	Package            string
	Version            string
	Bundle             string // the bundle's own name, such as the CSV's
	SuggestedNamespace string
}

// Cluster is the part of a cluster that formats may read, with the user's own
// permissions.
type Cluster interface {
	// Version returns the server's version, such as "v1.37.1".
	Version(ctx context.Context) (string, error)
	// APIVersions returns what is served, sorted: "v1", "apps/v1" and
	// "apps/v1/Deployment".
	APIVersions(ctx context.Context) ([]string, error)
	// Get returns nil and no error for an object that does not exist.
	Get(ctx context.Context, ref preview.Ref) (map[string]any, error)
	// List returns the objects of a kind in a namespace, all when it is empty.
	List(ctx context.Context, apiVersion, kind, namespace string) ([]map[string]any, error)
}

// Certifier provides for the certificates of webhooks.
type Certifier interface {
	// Provider returns which provider a package gets where none is asked for.
	Provider(ctx context.Context) (string, error)
	// Certificate returns the certificate of a Secret for hosts, and whether it was
	// made just now. Asked again for the same, it returns the same.
	Certificate(ctx context.Context, namespace, secret string, hosts []string) (set *servingcert.Set, made bool, err error)
}

// Peers opens content that other content refers to, such as the dependencies of a chart.
type Peers interface {
	// Open returns the verified content of a reference, as package ref reads it, and its pin.
	// A missing one is an [ErrNoPeer].
	Open(ctx context.Context, reference string) (fs.FS, preview.Source, error)
}

// ErrNoPeer is wrapped by the errors of [Peers] about content that the server says it
// does not have.
var ErrNoPeer = errors.New("it does not exist")

// Input is everything that rendering depends on.
type Input struct {
	Content fs.FS
	Info    Info // as Detect gave it, names filled in
	Release preview.Release
	Params  Params
	// Elsewhere is the namespace where the user works; empty where it is not known.
	Elsewhere string
	// Upgrade is set when the release is installed already.
	Upgrade bool
	// KeepsNulls is set where templates get the nulls of a chart's own values, as with Helm 3.
	// Helm 4 takes them out (helm.sh/helm/v4 v4.3.1, pkg/chart/common/util/coalesce.go).
	KeepsNulls bool
	// Revision is the number that the release will have; 0 where charts are not to know it,
	// which then read 1.
	Revision int
	// Cluster is nil where none may be asked.
	Cluster Cluster
	// Certifier is nil where the provider of certificates depends on the content
	// alone, and none are made.
	Certifier Certifier
	// Again are the words behind "preview" on the command line that asked for Content;
	// nil where they are not known, or Content is no directory of the user's.
	Again []string
	// Named is the name of the release that the command line gave; empty for none.
	Named string
	// Source is where Content came from; the zero value where that is not known.
	Source preview.Source
	// Peers opens what the content refers to elsewhere; nil where nothing may be.
	Peers Peers
	// Whole is the content that Content is a directory of, at Path; nil when
	// Content is all there is. Kustomizations refer to their neighbours.
	Whole fs.FS
	Path  string
}

// Params are the user's parameters for rendering. An empty field means the format's
// default, which depends only on the content.
type Params struct {
	InstallMode string
	// ModeAsked is that a mode which is not clear is an [UnclearModeError], although
	// there is a default.
	ModeAsked       bool
	WatchNamespaces []string
	Values          map[string]any
	Certs           string
	KubeVersion     string   // to render for; empty means the cluster's
	APIVersions     []string // to assume served, in addition to the cluster's
	// Variables are put into the objects of a kustomization as Flux does (postBuild).
	Variables map[string]string
}

// UnclearModeError is that content can be rendered in several install modes, and that
// none was chosen.
type UnclearModeError struct {
	Name      string   // of the content, such as a CSV's
	Supported []string // the modes
}

func (e *UnclearModeError) Error() string {
	return fmt.Sprintf("the install mode is not clear: %s supports %s; choose one with --install-mode", e.Name, strings.Join(e.Supported, ", "))
}

// Output is rendered content. The objects are in the order of the format, and not yet
// normalised, labelled or hashed.
type Output struct {
	Objects []RenderedObject
	// Hooks are those that never run here. They are part of no plan, and judged.
	Hooks []RenderedObject
	// Texts are printed for people by other installers. They are part of no plan, and
	// judged.
	Texts []Text
	// Resolved are the parameters that applied; Values is left empty.
	Resolved preview.Parameters
	// Notes say what rendering decided that the objects do not show.
	Notes []preview.Note
	// Annotations of the package (for registry+v1 the CSV's), for reviews of
	// declared cloud access.
	Annotations map[string]string
	// Required lists the APIs the package says it needs and does not bring.
	Required []preview.Ref
	// RelatedImages are image references the package names outside its pods.
	RelatedImages []string
	// CloudDocuments are the policies that the package's own texts state.
	CloudDocuments []preview.CloudDocument
	// Sources are those that [Peers] opened for the objects.
	Sources []preview.Source
	// Isolation says how rendering was confined on this machine.
	Isolation string
}

// Bodies returns the objects without their origins.
func (o *Output) Bodies() []map[string]any {
	out := make([]map[string]any, 0, len(o.Objects))
	for _, r := range o.Objects {
		out = append(out, r.Body)
	}
	return out
}

// Text is a text that a package has for people, such as the notes of a chart.
type Text struct {
	File string `json:"file"`
	Text string `json:"text"`
	// Template is the source of the rendered text. Text in both holds no value that may be
	// secret, and is the same in each rendering.
	Template string `json:"template"`
}

// RenderedObject is an object with the file and line it came from.
type RenderedObject struct {
	Body   map[string]any
	Origin preview.Origin
	Items  []preview.ItemLine // lines of items, see package locate; nil if they are not known
	Hook   *preview.Hook      // nil for what is not a hook
}
