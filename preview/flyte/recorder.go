package flyte

import (
	"context"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Cluster is the part of a cluster that the search for plugins reads.
type Cluster interface {
	// Read answers in the order of refs.
	Read(ctx context.Context, refs []preview.Ref) []preview.ReadResult
	// List returns the objects of a kind in a namespace (all when empty) that
	// match a label selector.
	List(ctx context.Context, apiVersion, kind, namespace, selector string, fields ...string) ([]map[string]any, error)
	// CountObjects words how many objects there are of a live definition.
	CountObjects(ctx context.Context, definition map[string]any) (string, error)
}

// Records gives access to the values that a plan has recorded, by kind and name.
type Records interface {
	// Record decodes into a pointer; false where nothing was recorded.
	Record(kind, name string, into any) bool
	// Names are those that were recorded under a kind, in the order of the plan.
	Names(kind string) []string
}

// Recorder is the plan being made: it reads the cluster and records what was read.
type Recorder interface {
	Cluster
	Records
	Plan() *preview.Plan
	// Exists reports whether a namespace is in the cluster.
	Exists(namespace string) bool
	// ExcludePlanned leaves out what the plan itself writes or deletes.
	ExcludePlanned(bodies []map[string]any) []map[string]any
	// Note records what was learnt. Its JSON is a Fact: a plan whose review rests
	// on it moves when that does.
	Note(kind, name string, record any) error
	// Report says what is being done.
	Report(format string, args ...any)
}
