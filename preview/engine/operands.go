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

// What is said where there is nothing to count, and where nothing can be.
const (
	noOperands = "no objects"
	uncounted  = "objects that cannot be counted: "
)

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
		what, err := d.operands(ctx, o.LiveBody)
		if err != nil {
			return fmt.Errorf("counting the %s objects that would be deleted with %s: %w", preview.String(o.LiveBody, "spec", "names", "kind"), o.Name, err)
		}
		if err := d.noteOwn(operandsKind, o.Name, map[string]any{"operands": what}); err != nil {
			return err
		}
	}
	return nil
}

// operands words how many objects there are of a live definition.
func (d *decider) operands(ctx context.Context, definition map[string]any) (string, error) {
	name := preview.String(definition, "metadata", "name")
	kind := preview.String(definition, "spec", "names", "kind")
	version := preview.ServedVersion(definition)
	if version == "" {
		return uncounted + "it serves no version", nil
	}
	d.tell("counting the objects of %s", name)
	total, more, err := countObjects(ctx, d.cluster, preview.String(definition, "spec", "group")+"/"+version, kind)
	switch {
	case preview.ReasonOf(err) == preview.ReasonNotServed:
		return uncounted + "the cluster does not serve them", nil
	case err != nil:
		return "", err
	case total == 0:
		return noOperands, nil
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
