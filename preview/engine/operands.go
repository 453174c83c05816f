package engine

import (
	"context"
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// operandsKind is the kind under which the number of a definition's objects is
// recorded as a read. It is served nowhere: it is this tool's own.
const operandsKind = "Operands"

func isDeletedDefinition(o *preview.Object) bool {
	return o.Is(preview.KindCustomResourceDefinition) && o.Action == preview.ActionDelete
}

// countOperands records how many objects go with each definition that the plan
// deletes. The numbers are Facts: one more object than was reviewed, and the
// plan is not carried out. What cannot be counted cannot be approved.
func (d *decider) countOperands(ctx context.Context) error {
	for i := range d.plan.Objects {
		o := &d.plan.Objects[i]
		if !isDeletedDefinition(o) {
			continue
		}
		what, err := d.CountObjects(ctx, o.LiveBody)
		if err != nil {
			return fmt.Errorf("counting the %s objects that would be deleted with %s: %w", preview.String(o.LiveBody, "spec", "names", "kind"), o.Name, err)
		}
		if err := d.Note(operandsKind, o.Name, map[string]any{"operands": what}); err != nil {
			return err
		}
	}
	return nil
}

// operandsOf is what was counted for a definition, empty when nothing was.
func operandsOf(p *preview.Plan, o *preview.Object) string {
	return preview.String(ownBody(p, operandsKind, o.Name), "operands")
}
