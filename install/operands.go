package install

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Counter counts the objects of a kind in all namespaces.
type Counter interface {
	Count(ctx context.Context, apiVersion, kind string) (int, error)
}

// Operands counts the custom resources of CustomResourceDefinitions, by
// KIND.GROUP; kinds without any are left out. crds are the definitions as the
// cluster has them.
func Operands(ctx context.Context, counter Counter, crds []map[string]any) (map[string]int, error) {
	out := map[string]int{}
	for _, crd := range crds {
		group, kind := preview.String(crd, "spec", "group"), preview.String(crd, "spec", "names", "kind")
		version := preview.ServedVersion(crd)
		if version == "" {
			continue // nothing can be read through a definition that serves nothing
		}
		n, err := counter.Count(ctx, group+"/"+version, kind)
		if preview.ReasonOf(err) == preview.ReasonNotServed {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("counting the %s.%s in the cluster: %w", kind, group, err)
		}
		if n > 0 {
			out[kind+"."+group] = n
		}
	}
	return out, nil
}

// checkOperands refuses to take an operator away from what it operates, unless
// the plan removes that first.
func (r *run) checkOperands(ctx context.Context) error {
	if !isUninstall(r.plan) {
		return nil
	}
	var crds []map[string]any
	for i := range r.checked.Objects {
		if o := &r.checked.Objects[i]; o.Kind == "CustomResourceDefinition" && o.Action != preview.ActionDelete && o.LiveBody != nil {
			crds = append(crds, o.LiveBody)
		}
	}
	counts, err := Operands(ctx, r.cluster, crds)
	if err != nil {
		return r.fail("looking for what the operator still operates", "", err)
	}
	if err := RefuseOperands(r.plan.Release, counts); err != nil {
		return r.fail("uninstalling "+r.plan.Release.Name, "", err)
	}
	return nil
}

// RefuseOperands returns the refusal to uninstall a release whose custom
// resources still exist, nil when there are none.
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
