package engine

import (
	"cmp"
	"errors"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/schema"
)

// schemaFit is the check for objects that no API server accepts.
type schemaFit struct{ noCheck }

// findings returns a finding for each object that server-side apply refuses whatever
// the cluster holds.
func (schemaFit) findings(of *decidedPlan) []preview.Finding {
	p := of.plan
	var out []preview.Finding
	for i := range p.Objects {
		o := &p.Objects[i]
		if o.Planned == nil {
			continue
		}
		if problem := misfit(of.definitions, o, of.schemas); problem != "" {
			out = append(out, rules.NotAppliable.Finding(o.ID, rules.NotAppliable.Of(o.Label()), preview.Piece{Object: o.ID, What: preview.Shorten(problem, 500)}))
		}
	}
	return out
}

// misfit returns why an object is not valid under the schema of its kind, empty if it
// is: the built-in schema, or a CRD's in the plan, which no dry run can know yet.
func misfit(definitions *schema.Index, o *preview.Object, schemas Schemas) string {
	var refusal *preview.Refusal
	if err := schemas.Check(o.Planned); errors.As(err, &refusal) && refusal.Reason == preview.ReasonNotAppliable {
		return cmp.Or(refusal.Message, string(refusal.Reason))
	}
	problems, err := definitions.Problems(o.Planned)
	if err != nil {
		return "its definition cannot be used: " + err.Error()
	}
	return strings.Join(problems, "; ")
}
