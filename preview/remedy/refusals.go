package remedy

import "github.com/kubectl-operator/kubectl-operator/preview"

// Refusals says which refusals of the API server an apply of a plan meets again.
type Refusals struct {
	objects map[string]*preview.Object
	defined map[preview.GroupKind]bool // by CRDs that the plan writes
	mutates bool                       // the plan writes admission that changes objects
}

// NewRefusals returns the refusals of a plan.
func NewRefusals(p *preview.Plan) *Refusals {
	if len(p.Unknowns) == 0 {
		return &Refusals{}
	}
	r := &Refusals{objects: p.ObjectsByID(), defined: map[preview.GroupKind]bool{}}
	for i := range p.Objects {
		switch o := &p.Objects[i]; {
		case o.Planned == nil || o.Action == preview.ActionUnchanged:
		case o.Is(preview.KindCustomResourceDefinition):
			r.defined[definedBy(o)] = true
		case o.Is(preview.KindMutatingWebhookConfiguration, preview.KindMutatingAdmissionPolicy):
			r.mutates = true
		}
	}
	return r
}

// Permanent reports whether an object stays refused, whatever is accepted: its kind is
// not served, or its values are invalid, and the plan neither defines its kind anew nor
// writes admission that might set them. A quota, a policy or a right may be another by
// the time of the apply.
func (r *Refusals) Permanent(u preview.Unknown) bool {
	switch u.Reason {
	case preview.ReasonNotServed:
		return true
	case preview.ReasonInvalid:
		o := r.objects[u.Object]
		return o != nil && !r.mutates && !r.defined[o.GroupKind()]
	}
	return false
}

// Refused returns an obstacle for each object that stays refused.
func Refused(p *preview.Plan) []preview.Obstacle {
	var out []preview.Obstacle
	refusals := NewRefusals(p)
	for _, u := range p.Unknowns {
		switch c := (Case{Plan: p, Object: refusals.objects[u.Object], ID: u.Object, Served: u.Served}); {
		case !refusals.Permanent(u):
		case u.Served != "" && c.Object != nil:
			out = append(out, Obstacle(OtherVersion, "exists as "+u.Served+", and the content has it as "+c.Object.APIVersion+", which the cluster does not serve", c))
		case u.Reason == preview.ReasonNotServed && c.Object != nil && c.Object.Planned == nil:
			out = append(out, Obstacle(Unreadable, "may exist, and can be neither read nor deleted: no version of its kind is served", c))
		case u.Reason == preview.ReasonInvalid:
			out = append(out, Obstacle(Invalid, "is refused by the API server: "+u.Why, c))
		default:
			out = append(out, Obstacle(NotServed, "is of a kind that is neither served by the cluster nor brought by the plan", c))
		}
	}
	return out
}

// definedBy returns the kind that a CRD defines.
func definedBy(definition *preview.Object) preview.GroupKind {
	return preview.GroupKind(preview.String(definition.Planned, "spec", "group") + "/" + preview.String(definition.Planned, "spec", "names", "kind"))
}
