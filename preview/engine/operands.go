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

// operandsRecord has the number of custom resources of a CRD.
type operandsRecord struct {
	Operands string `json:"operands"`
}

// operands counts the custom resources that are deleted with CRDs.
type operands struct{ noCheck }

// read records how many custom resources each deleted CRD has. The numbers are
// Facts: if one is added after the review, the plan is not applied. If they cannot
// be counted, the plan cannot be approved.
func (operands) read(ctx context.Context, to *recorder) error {
	for i := range to.plan.Objects {
		o := &to.plan.Objects[i]
		if !isDeletedDefinition(o) {
			continue
		}
		what, err := to.CountObjects(ctx, o.LiveBody)
		if err != nil {
			return fmt.Errorf("counting the %s objects that would be deleted with %s: %w", preview.String(o.LiveBody, "spec", "names", "kind"), o.Name, err)
		}
		if err := to.Note(operandsKind, o.Name, operandsRecord{Operands: what}); err != nil {
			return err
		}
	}
	return nil
}

// operandsOf returns the recorded count of a CRD's objects, empty when nothing
// was counted.
func operandsOf(seen recordReader, o *preview.Object) string {
	var found operandsRecord
	seen.Record(operandsKind, o.Name, &found)
	return found.Operands
}
