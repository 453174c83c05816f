package engine

import (
	"context"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// unreadableKind is the kind of the read that lists records of other releases which
// cannot be parsed.
const unreadableKind = "Unreadable"

// unreadableRecord is the recorded list of such records, by id.
type unreadableRecord struct {
	Records []string `json:"records"`
}

// unreadableRecords is the check for records of other releases that cannot be parsed.
type unreadableRecords struct{ noCheck }

// read records the ids of the records that other checks could not parse.
func (unreadableRecords) read(_ context.Context, to *recorder) error {
	if len(to.broken) == 0 {
		return nil
	}
	slices.Sort(to.broken)
	return to.Note(unreadableKind, unreadableName, unreadableRecord{Records: to.broken})
}

const unreadableName = "records"

// findings returns one finding for each unreadable record.
func (unreadableRecords) findings(of *decidedPlan) []preview.Finding {
	var found unreadableRecord
	of.Record(unreadableKind, unreadableName, &found)
	var out []preview.Finding
	for _, id := range found.Records {
		ref := preview.Ref{}
		if _, kind, namespace, name, err := preview.ParseID(id); err == nil {
			ref = preview.Ref{APIVersion: "v1", Kind: kind, Namespace: namespace, Name: name}
		}
		out = append(out, rules.RecordUnreadable.WithReason(commandline.KubectlArgument(ref)).Finding(id,
			rules.RecordUnreadable.Of("Secret "+ref.Namespace+"/"+ref.Name+" is marked as the record of a release and"),
			preview.Piece{Object: id, What: "what it holds cannot be read"}))
	}
	return out
}
