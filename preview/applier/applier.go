package applier

import (
	"context"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Cluster is the part of a cluster that is read to find what tools applied.
type Cluster interface {
	Kind(ctx context.Context, apiVersion, kind string) (namespaced bool, err error)
	Read(ctx context.Context, refs []preview.Ref) []preview.ReadResult
	List(ctx context.Context, apiVersion, kind, namespace, selector string, fields ...string) ([]map[string]any, error)
	ServedVersion(ctx context.Context, group, kind string) (apiVersion string, err error)
}

// Tool is a tool with the earlier state of one release.
type Tool interface {
	// Describe returns what a plan records about the tool.
	Describe() *preview.Applier
	// Mark adds to a rendered object what the tool adds before it sends the object.
	Mark(body map[string]any)
	// Decide returns what the tool does with an object, by its live state, and whether it
	// takes the live object for its own. Planned is nil for an object that it applied before
	// and that the content lacks.
	Decide(o *preview.Object) (action preview.Action, own bool)
	// Request returns the request by which the tool writes body, the planned object.
	Request(o *preview.Object, body map[string]any) (preview.DryRun, error)
}

// Found is the tool that applies a release, and what it applied last.
type Found struct {
	Tool
	// Earlier are the objects that it applied last, Installed the packages that they are of.
	Earlier   []Earlier
	Installed []preview.InstalledPackage
	// Values are those that count if none are given; nil if the tool knows none.
	Values map[string]any
	// Asked is the object of the cluster that asks for the release; nil for none.
	Asked map[string]any
	// Under are those that given ones are merged into; nil for none.
	Under map[string]any
	// KeepsNulls is set for a tool that renders a chart as Helm 3 does; see [format.Input].
	KeepsNulls bool
	// Besides are objects that the tool makes besides those of the content.
	Besides []map[string]any
	// Content are the objects that the tool makes of one of the content, by its place there;
	// nil for a tool that applies it as it was rendered.
	Content map[int][]map[string]any
}

// MarkFrom is [Tool.Mark] for an object that comes from a file of the content. What lies in
// the directory crds of a chart is no part of a release.
func (f *Found) MarkFrom(origin preview.Origin, body map[string]any) {
	if tool, ok := f.Tool.(interface{ MarkCRD(body map[string]any) }); ok && InCRDs(origin, body) {
		tool.MarkCRD(body)
		return
	}
	f.Mark(body)
}

// Earlier is an object as a tool sent it last. Body is nil if the tool keeps no body.
type Earlier struct {
	Ref  preview.Ref
	Body map[string]any
	// Placed is true if the tool put it into the namespace, which it named none of.
	Placed bool
}

// Rendered is an object of the content as a tool gets it: with its namespace, and else as it
// was rendered. Live is nil if there is none, or if it may not be read.
type Rendered struct {
	Index      int // its place in the content
	Ref        preview.Ref
	Body, Live map[string]any
}

// create returns the request by which tools create an object without server-side apply.
func create(body map[string]any) preview.DryRun {
	return preview.DryRun{Body: body, Method: preview.MethodCreate}
}
