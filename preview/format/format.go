// Package format turns verified content into objects. The set of formats is
// closed; each is one folder and one row of the table a caller builds from
// them.
package format

import (
	"context"
	"io/fs"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Format recognises and renders one kind of content.
type Format interface {
	// Detect describes the content, or returns nil when it is not of this
	// format. An error means that it is, and is broken.
	Detect(content fs.FS) (*Info, error)
	// Render makes the objects. The same input gives the same output on any
	// machine; nothing is read but the content.
	Render(ctx context.Context, in Input) (*Output, error)
}

// Info is what content says about itself before it is rendered.
type Info struct {
	Format             string // such as "registry+v1"
	Package            string
	Version            string
	Bundle             string // the bundle's own name, such as the CSV's
	SuggestedNamespace string
}

// Input is everything rendering depends on.
type Input struct {
	Content fs.FS
	Release preview.Release
	Params  Params
}

// Params are the user's choices. Empty fields take the format's defaults,
// which follow from the content alone.
type Params struct {
	InstallMode     string
	WatchNamespaces []string
	Values          map[string]any
	Certs           string
	KubeVersion     string
}

// Output is rendered content. Objects are as the format makes them: not yet
// normalised, labelled or hashed, in generator order.
type Output struct {
	Objects []Rendered
	// Resolved are the parameters that applied; Values is left empty.
	Resolved preview.Parameters
	// Notes tell what rendering decided that nobody sees in the objects.
	Notes []preview.Note
	// Annotations of the package (for registry+v1 the CSV's), for reviews of
	// declared cloud access.
	Annotations map[string]string
	// Required lists the APIs the package says it needs and does not bring.
	Required []preview.Ref
	// RelatedImages are image references the package names outside its pods.
	RelatedImages []string
}

// Rendered is one object and where it came from.
type Rendered struct {
	Body   map[string]any
	Origin preview.Origin
}
