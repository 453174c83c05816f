package install

import (
	"context"

	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

// Reader reads single objects and lists. An error is a [preview.Refusal] if the
// API server answered. Reads that failed for a moment have been repeated already.
type Reader interface {
	// Get returns nil and no error for an object that does not exist.
	Get(ctx context.Context, ref preview.Ref) (map[string]any, error)
	// List returns the objects of a kind in a namespace (all when empty) that match a label
	// selector: whole, or only the named fields (paths such as "metadata.annotations") with
	// name, namespace, uid and labels.
	List(ctx context.Context, apiVersion, kind, namespace, selector string, fields ...string) ([]map[string]any, error)
}

// Writer sends single writes. A failed write is not repeated: the caller decides.
type Writer interface {
	// Apply sends a server-side apply as [preview.FieldManager] with strict
	// field validation. Without UID and ResourceVersion it only ever creates
	// (resourceVersion "1"); with them it only ever updates that object.
	Apply(ctx context.Context, item preview.DryRun) (map[string]any, error)
	// Patch sends a JSON patch (RFC 6902), which tests what it rests on itself.
	Patch(ctx context.Context, ref preview.Ref, ops []preview.PatchOp) (map[string]any, error)
	// Delete deletes exactly the object with that uid and resourceVersion. gone is true if
	// it is known to be removed already.
	Delete(ctx context.Context, ref preview.Ref, uid, resourceVersion string, dependents preview.Propagation) (gone bool, err error)
}

// Cluster is the cluster as [Apply] uses it: for planning again, reading,
// writing, and following the rollout. Package k8s implements it.
type Cluster interface {
	engine.Cluster
	Reader
	Writer
	Counter
	rollout.Watcher
	rollout.Inspector
}
