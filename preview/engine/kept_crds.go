package engine

import (
	"context"
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/schema"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
)

// keptCRDs returns the CRDs that stay after an upgrade although the new version does
// not have them.
func keptCRDs(p *preview.Plan) []*preview.Object {
	var out []*preview.Object
	for i := range p.Objects {
		o := &p.Objects[i]
		if o.Is(preview.KindCustomResourceDefinition) && o.Action == preview.ActionKeep && o.LiveBody != nil && len(p.Packages) > 0 {
			out = append(out, o)
		}
	}
	return out
}

// countKept adds the number of custom resources to the finding of each kept CRD, and to
// the verdict of an uninstall. The number is only displayed and no fact, because apply
// does not depend on it.
func countKept(ctx context.Context, p *preview.Plan, pager schema.Pager) error {
	count := func(crd *preview.Object) (string, error) { return schema.CountStored(ctx, crd.LiveBody, pager) }
	for _, o := range keptCRDs(p) {
		counted, err := count(o)
		if err != nil {
			return fmt.Errorf("counting the objects of %s: %w", o.Name, err)
		}
		for i := range p.Findings {
			if f := &p.Findings[i]; f.Rule == rules.CRDKept.Name && f.Object == o.ID {
				f.Counted = counted
			}
		}
	}
	return verdict.CountKept(p, count)
}
