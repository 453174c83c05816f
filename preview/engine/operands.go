package engine

import (
	"context"
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// operandsKind is the kind of the reads that record the number of a CRD's custom
// resources. No cluster serves it: it is this program's own.
const operandsKind = "Operands"

func isDeletedDefinition(o *preview.Object) bool {
	return o.Is(preview.KindCustomResourceDefinition) && o.Action == preview.ActionDelete
}

// operandsRecord is the recorded number of custom resources of a CRD, in words.
type operandsRecord struct {
	Operands string `json:"operands"`
}

// operands is the check that counts the custom resources which are deleted along with
// CRDs.
type operands struct{ noCheck }

// read records how many custom resources each deleted CRD has. The numbers are facts:
// if one is added after the review, the plan is not applied. If they may not be listed,
// planning fails.
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

// operandsOf returns the recorded number of a CRD's custom resources in words, empty if
// they were not counted.
func operandsOf(seen recordReader, o *preview.Object) string {
	var found operandsRecord
	seen.Record(operandsKind, o.Name, &found)
	return found.Operands
}
