package engine

import (
	"context"
	"fmt"
	"strconv"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// operandsKind is the kind under which the number of a definition's objects is
// recorded as a read. It is served nowhere: it is this tool's own.
const operandsKind = "Operands"

func isDeletedDefinition(o *preview.Object) bool {
	return o.Kind == "CustomResourceDefinition" && o.Action == preview.ActionDelete
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
		what, err := d.operands(ctx, o)
		if err != nil {
			return err
		}
		if err := d.noteOwn(operandsKind, o.Name, map[string]any{"operands": what}); err != nil {
			return err
		}
	}
	return nil
}

// operands words what goes with a definition.
func (d *decider) operands(ctx context.Context, o *preview.Object) (string, error) {
	kind := preview.String(o.LiveBody, "spec", "names", "kind")
	version := preview.ServedVersion(o.LiveBody)
	if version == "" {
		return "objects that cannot be counted: it serves no version", nil
	}
	d.tell("counting the objects of %s", o.Name)
	total, more, err := countObjects(ctx, d.cluster, preview.String(o.LiveBody, "spec", "group")+"/"+version, kind)
	switch {
	case preview.ReasonOf(err) == preview.ReasonNotServed:
		return "objects that cannot be counted: the cluster does not serve them", nil
	case err != nil:
		return "", fmt.Errorf("counting the %s objects that would be deleted with %s: %w", kind, o.Name, err)
	case total == 0:
		return "no objects", nil
	case more:
		return fmt.Sprintf("more than %d %s objects", total, kind), nil
	case total == 1:
		return "1 " + kind + " object", nil
	}
	return strconv.Itoa(total) + " " + kind + " objects", nil
}

// operandsOf is what was counted for a definition, empty when nothing was.
func operandsOf(p *preview.Plan, o *preview.Object) string {
	return preview.String(ownBody(p, operandsKind, o.Name), "operands")
}
