package reads

import (
	"context"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/schema"
)

// Cluster lists the requests to a cluster that planning needs: reads and dry
// runs, no writes. Errors carry a [preview.Refusal] when the API server
// answered.
type Cluster interface {
	schema.Pager
	Server

	// Target identifies the cluster and the user.
	Target(ctx context.Context) (preview.Target, error)
	// Kind reports whether a kind is namespaced; one that is not served is a
	// Refusal with ReasonNotServed.
	Kind(ctx context.Context, apiVersion, kind string) (namespaced bool, err error)
	// APIVersions returns what is served, sorted: "v1", "apps/v1" and
	// "apps/v1/Deployment".
	APIVersions(ctx context.Context) ([]string, error)
	// Read answers in the order of refs.
	Read(ctx context.Context, refs []preview.Ref) []preview.ReadResult
	// List returns the objects of a kind in a namespace (all when empty) that match a label
	// selector: whole, or only the named fields (paths such as "status.nodeInfo") with name,
	// namespace, uid and labels.
	List(ctx context.Context, apiVersion, kind, namespace, selector string, fields ...string) ([]map[string]any, error)
	// DryRun answers in the order of items.
	DryRun(ctx context.Context, items []preview.DryRun) []preview.DryRunResult
	// Merge computes from reads alone what an apply would make of a live
	// object, as far as that can be known without a dry run.
	Merge(ctx context.Context, live map[string]any, item preview.DryRun) preview.DryRunResult
	// Plural names the resource of a kind, such as "deployments".
	Plural(ctx context.Context, apiVersion, kind string) (string, error)
	// May answers which rights the user has, in their order.
	May(ctx context.Context, rights []preview.Right) []preview.RightAnswer
}

// Server answers which APIs the cluster serves, and which objects a namespace has.
type Server interface {
	Served(ctx context.Context) (preview.Discovery, error)
	// ServedVersion implements [Kinds].
	ServedVersion(ctx context.Context, group, kind string) (apiVersion string, err error)
	// Residents returns the objects of a namespace, of every kind that can be
	// listed and deleted there, without spec and status.
	Residents(ctx context.Context, namespace string) ([]map[string]any, error)
}
