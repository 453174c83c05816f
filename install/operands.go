package install

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Counter counts the objects of a kind in all namespaces.
type Counter interface {
	Count(ctx context.Context, apiVersion, kind string) (int, error)
}

// Operands counts the custom resources of live CRDs in all namespaces, by
// KIND.GROUP. CRDs without custom resources are left out.
func Operands(ctx context.Context, counter Counter, crds []map[string]any) (map[string]int, error) {
	out := map[string]int{}
	for _, k := range servedKinds(crds) {
		n, err := counter.Count(ctx, k.apiVersion, k.kind)
		if preview.ReasonOf(err) == preview.ReasonNotServed {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("counting the %s in the cluster: %w", k, err)
		}
		if n > 0 {
			out[k.String()] = n
		}
	}
	return out, nil
}

// servedKind is the kind of a CRD, with the version for reading its objects.
type servedKind struct{ apiVersion, group, kind string }

// String returns KIND.GROUP.
func (k servedKind) String() string { return k.kind + "." + k.group }

// servedKinds returns the kinds of CRDs, but of those that serve no version: nothing can
// be read through them.
func servedKinds(crds []map[string]any) []servedKind {
	var out []servedKind
	for _, crd := range crds {
		if version := preview.ServedVersion(crd); version != "" {
			group := preview.String(crd, "spec", "group")
			out = append(out, servedKind{group + "/" + version, group, preview.String(crd, "spec", "names", "kind")})
		}
	}
	return out
}

// Operand is a custom resource of a kind whose CRD a release has.
type Operand struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Namespace  string    `json:"namespace,omitempty"`
	Name       string    `json:"name"`
	Created    time.Time `json:"created"`
}

// ListOperands returns the custom resources of live CRDs in all namespaces, by kind,
// namespace and name. A CRD that does not exist (nil) has none.
func ListOperands(ctx context.Context, lister Lister, crds []map[string]any) ([]Operand, error) {
	out := []Operand{}
	for _, k := range servedKinds(crds) {
		found, err := lister.List(ctx, k.apiVersion, k.kind, "", "", "metadata.creationTimestamp")
		if err != nil && preview.ReasonOf(err) != preview.ReasonNotServed {
			return nil, fmt.Errorf("listing the %s in the cluster: %w", k, err)
		}
		for _, body := range found {
			created, _ := time.Parse(time.RFC3339, preview.String(body, "metadata", "creationTimestamp")) // the API server writes it
			out = append(out, Operand{k.apiVersion, k.kind, preview.String(body, "metadata", "namespace"), preview.String(body, "metadata", "name"), created})
		}
	}
	slices.SortFunc(out, func(a, b Operand) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return out, nil
}

// Lister lists the objects of a kind in a namespace that match a selector.
type Lister interface {
	List(ctx context.Context, apiVersion, kind, namespace, selector string, fields ...string) ([]map[string]any, error)
}

// LeftOperands counts the custom resources, by KIND.GROUP, that an uninstall would leave
// without their operator: the CRDs of these stay. For a CRD that another release has
// too, only custom resources in the release's own namespace count.
func LeftOperands(ctx context.Context, cluster interface {
	Counter
	Lister
}, plan *preview.Plan) (map[string]int, error) {
	var own, shared []map[string]any
	for i := range plan.Objects {
		o := &plan.Objects[i]
		switch {
		case o.Kind != "CustomResourceDefinition" || o.Action == preview.ActionDelete || o.LiveBody == nil:
		case preview.IsMember(o.LiveBody, plan.Release):
			own = append(own, o.LiveBody)
		case preview.String(o.LiveBody, "spec", "scope") == "Namespaced":
			shared = append(shared, o.LiveBody)
		}
	}
	counts, err := Operands(ctx, cluster, own)
	if err != nil {
		return nil, err
	}
	here, err := Operands(ctx, namespaceCounter{cluster, plan.Release.Namespace}, shared)
	if err != nil {
		return nil, err
	}
	maps.Copy(counts, here)
	return counts, nil
}

// namespaceCounter counts the objects of a kind in one namespace.
type namespaceCounter struct {
	Lister
	namespace string
}

// Count implements [Counter].
func (c namespaceCounter) Count(ctx context.Context, apiVersion, kind string) (int, error) {
	found, err := c.List(ctx, apiVersion, kind, c.namespace, "", "metadata.name")
	return len(found), err
}

// checkOperands refuses an uninstall that would leave custom resources without
// their operator.
func (c *checker) checkOperands(ctx context.Context) error {
	if !record.IsUninstall(c.plan) {
		return nil
	}
	counts, err := LeftOperands(ctx, c.cluster, c.checked)
	if err != nil {
		return c.fail("counting the custom resources that the operator manages", "", err)
	}
	if err := RefuseOperands(c.plan.Release, counts); err != nil {
		return c.fail("uninstalling "+c.plan.Release.Name, "", err)
	}
	return nil
}

// RefuseOperands returns the error that refuses to uninstall a release whose
// custom resources (counts, by KIND.GROUP) still exist, nil if there are none.
func RefuseOperands(release preview.Release, counts map[string]int) error {
	var reasons []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		reasons = append(reasons, fmt.Sprintf("%d %s still exist", counts[kind], kind))
	}
	if len(reasons) == 0 {
		return nil
	}
	return refusal("uninstalling "+release.Name, "delete them first, while the operator can still clean up after them", reasons...)
}
