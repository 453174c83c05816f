package engine

import (
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Obstacles returns what prevents a plan from being applied, whatever is approved and
// accepted: objects that may not be written, contested fields without a decision, and
// kinds that the cluster does not serve.
func Obstacles(p *preview.Plan) []preview.Obstacle {
	var out []preview.Obstacle
	add := func(object, cause, remedy string) {
		out = append(out, preview.Obstacle{Object: object, Cause: cause, Remedy: remedy})
	}
	for i := range p.Objects {
		o := &p.Objects[i]
		switch o.Action {
		case preview.ActionCreate, preview.ActionUpdate, preview.ActionUnchanged,
			preview.ActionReplace, preview.ActionDelete, preview.ActionKeep, preview.ActionPatch,
			preview.ActionSkip, preview.ActionShared, preview.ActionUnknown:
		case preview.ActionBlocked:
			add(o.ID, BlockedBy(p, o), "")
		case preview.ActionAdopt:
			if o.Adoption == nil {
				add(o.ID, Adoptable(p, o), "")
			}
		default:
			add(o.ID, fmt.Sprintf("has action %q, which this version does not apply", o.Action), "")
		}
		for _, c := range p.Unsettled(o) {
			add(o.ID, fmt.Sprintf("has a contested field: field manager %q owns %s", c.Manager, c.Path)+conflictAdvice(p.ConflictsOf(o)), "")
		}
	}
	for _, u := range p.Unknowns {
		if u.Reason == preview.ReasonNotServed {
			add(u.Object, "is of a kind that is neither served by the cluster nor brought by the plan", kindRemedy(u.Object))
		}
	}
	return out
}

// conflictAdvice returns what to do about a field conflict, in words that follow its
// description. decided is the value of the option --conflicts.
func conflictAdvice(decided string) string {
	switch decided {
	case preview.ConflictsOwn:
		return ", a field that the release has not set; plan with --conflicts take to take it over, or --conflicts leave to leave it alone"
	case preview.ConflictsLeave:
		return ", which cannot be left to it: plan with --conflicts take, or settle it there"
	}
	return "; plan with --conflicts take to take it over, or --conflicts leave to leave it alone"
}

// kindRemedy returns what to install so that the cluster serves the kind of an object;
// empty if id is no object id.
func kindRemedy(id string) string {
	group, kind, _, _, err := preview.ParseID(id)
	switch {
	case err != nil:
		return ""
	case group == "cert-manager.io":
		return "install cert-manager first (kubectl operator install chart+https://charts.jetstack.io/cert-manager), or plan with --certs generated, which needs nothing in the cluster, or with --certs service-ca on OpenShift"
	case strings.HasSuffix(group, ".openshift.io"):
		return "the package is for OpenShift: " + kind + " of " + group + " is part of it"
	}
	return "install first what brings the CRD of " + kind + " in " + group
}
