package engine

import (
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/remedy"
)

// Obstacles returns what prevents a plan from being applied, whatever is approved and
// accepted: objects that may not be written, contested fields without a decision, kinds
// that the cluster does not serve, objects that do not fit the schema of their kind or
// that the API server refuses as invalid, and those of a new namespace that its policies
// refuse.
func Obstacles(p *preview.Plan) []preview.Obstacle {
	var out []preview.Obstacle
	for i := range p.Objects {
		o := &p.Objects[i]
		c := remedy.Case{Plan: p, Object: o, ID: o.ID}
		switch o.Action {
		case preview.ActionCreate, preview.ActionUpdate, preview.ActionUnchanged,
			preview.ActionReplace, preview.ActionDelete, preview.ActionKeep, preview.ActionPatch,
			preview.ActionSkip, preview.ActionShared, preview.ActionUnknown:
		case preview.ActionBlocked:
			out = append(out, blocked(p, recordSearch{p}, o))
		case preview.ActionAdopt:
			if o.Adoption == nil {
				out = append(out, adoptable(p, o))
			}
		default:
			out = append(out, remedy.Obstacle(remedy.UnknownAction, fmt.Sprintf("has action %q, which this version does not apply", o.Action), c))
		}
		for _, f := range p.Unsettled(o) {
			owns := fmt.Sprintf("has a contested field: field manager %q owns %s", f.Manager, f.Path)
			switch p.ConflictsOf(o) {
			case preview.ConflictsOwn:
				owns += ", a field that the release has not set"
			case preview.ConflictsLeave:
				owns += ", which cannot be left to it"
			}
			out = append(out, remedy.Obstacle(remedy.Contested, owns, c))
		}
	}
	out = append(append(append(out, remedy.Misfits(p)...), remedy.Refused(p)...), remedy.Failing(p)...)
	if p.Computed != nil && len(p.Computed.Refused) > 0 {
		objects := p.ObjectsByID()
		for _, r := range p.Computed.Refused {
			out = append(out, remedy.Obstacle(remedy.RefusedByPolicy, "is refused by "+r.Policy+": "+r.Why, remedy.Case{Plan: p, Object: objects[r.Object], ID: r.Object, Policy: r.Policy}))
		}
	}
	return out
}
