package reads

import (
	"context"
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Kinds answers which API version of a kind a cluster serves.
type Kinds interface {
	// ServedVersion returns the API version of a kind that the cluster serves: the one that
	// it prefers, or else another; empty if none. A group or a version that does not answer
	// is an error.
	ServedVersion(ctx context.Context, group, kind string) (apiVersion string, err error)
	List(ctx context.Context, apiVersion, kind, namespace, selector string, fields ...string) ([]map[string]any, error)
}

// KindReader reads objects in the API versions that a cluster serves.
type KindReader interface {
	Kinds
	Read(ctx context.Context, refs []preview.Ref) []preview.ReadResult
}

// Recorded reads objects that a record names, in the order of refs. An object is the same
// in every API version of its group and kind, and clusters stop serving versions: one that
// its own version does not answer is read in the version that is served, which the Ref of
// its result has. An error has the reason kind gone where no object of the kind can exist
// any more, and kind not served where objects may exist that no version shows.
func Recorded(ctx context.Context, cluster KindReader, refs []preview.Ref) []preview.ReadResult {
	results := cluster.Read(ctx, refs)
	var moved []int
	for i, r := range results {
		if preview.ReasonOf(r.Err) == preview.ReasonNotServed {
			moved = append(moved, i)
		}
	}
	ReadMoved(ctx, cluster, results, moved)
	return results
}

// ReadMoved is [Recorded] for the results at these indices, which were read in a version
// that is not served.
func ReadMoved(ctx context.Context, cluster KindReader, results []preview.ReadResult, moved []int) {
	type answer struct {
		apiVersion string
		err        error
	}
	known := map[preview.GroupKind]answer{}
	var refs []preview.Ref
	var at []int
	for _, i := range moved {
		ref := results[i].Ref
		served, asked := known[ref.GroupKind()]
		if !asked {
			served.apiVersion, served.err = servedVersion(ctx, cluster, ref)
			known[ref.GroupKind()] = served
		}
		if results[i].Err = served.err; served.err == nil {
			ref.APIVersion = served.apiVersion
			refs, at = append(refs, ref), append(at, i)
		}
	}
	if len(refs) == 0 {
		return
	}
	for n, r := range cluster.Read(ctx, refs) {
		results[at[n]] = r
	}
}

// servedVersion returns the API version for reading objects of ref's kind. Where there is
// none, the CRDs say why: without one that defines the kind its objects are gone, because
// the API server deletes them with their CRD.
func servedVersion(ctx context.Context, cluster Kinds, ref preview.Ref) (string, error) {
	apiVersion, err := cluster.ServedVersion(ctx, ref.Group(), ref.Kind)
	if err != nil || apiVersion != "" {
		return apiVersion, err
	}
	crds, err := cluster.List(ctx, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "", "spec.group", "spec.names.kind")
	if err != nil {
		return "", fmt.Errorf("no version of %s is served, and whether a CRD defines it is not known: %w", ref.GroupKind(), err)
	}
	for _, crd := range crds {
		if preview.String(crd, "spec", "group") == ref.Group() && preview.String(crd, "spec", "names", "kind") == ref.Kind {
			return "", &preview.Refusal{
				Reason:  preview.ReasonNotServed,
				Message: fmt.Sprintf("CustomResourceDefinition %s serves no version of %s", preview.String(crd, "metadata", "name"), ref.Kind),
			}
		}
	}
	return "", &preview.Refusal{Reason: preview.ReasonKindGone, Message: fmt.Sprintf("the cluster serves no version of %s, and no CRD defines it", ref.GroupKind())}
}
