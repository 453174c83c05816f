package remedy

import "github.com/kubectl-operator/kubectl-operator/preview"

// Refusals says which refusals of the API server an apply of a plan meets again.
type Refusals struct {
	objects map[string]*preview.Object
	defined map[preview.GroupKind]bool // by CRDs that the plan writes
	quotas  map[string]bool            // namespaces with a quota that the plan changes
	mutates bool                       // the plan changes admission that changes objects
	admits  bool                       // the plan changes admission that refuses objects
}

// NewRefusals returns the refusals of a plan.
func NewRefusals(p *preview.Plan) *Refusals {
	if len(p.Unknowns) == 0 {
		return &Refusals{}
	}
	r := &Refusals{objects: p.ObjectsByID(), defined: map[preview.GroupKind]bool{}, quotas: map[string]bool{}}
	for i := range p.Objects {
		switch o := &p.Objects[i]; {
		case o.Action == preview.ActionUnchanged:
		case o.Is(preview.KindCustomResourceDefinition):
			r.defined[definedBy(o)] = o.Planned != nil
		case o.Is(preview.KindResourceQuota):
			r.quotas[o.Namespace] = true
		case o.Is(preview.KindMutatingWebhookConfiguration, preview.KindMutatingAdmissionPolicy):
			r.mutates, r.admits = true, true
		case o.Is(preview.KindValidatingWebhookConfiguration, preview.KindValidatingAdmissionPolicy, preview.KindValidatingAdmissionPolicyBinding):
			r.admits = true
		}
	}
	return r
}

// Permanent reports whether an object is refused by what the plan leaves as it is, whatever
// is accepted: its namespace does not exist, its kind is not served, its values are invalid,
// a quota is used up, or a policy or webhook denies it. A webhook that does not answer may do
// so by the time of the apply, and a right may be given.
func (r *Refusals) Permanent(u preview.Unknown) bool {
	o := r.objects[u.Object]
	switch u.Reason {
	case preview.ReasonNotServed:
		return true
	case preview.ReasonNamespaceMissing:
		return o != nil
	case preview.ReasonQuota:
		return o != nil && !r.quotas[o.Namespace]
	case preview.ReasonPolicy, preview.ReasonWebhook:
		return o != nil && !r.admits
	case preview.ReasonInvalid:
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
		case u.Reason == preview.ReasonNamespaceMissing:
			out = append(out, Obstacle(NoNamespace, "goes into namespace "+c.Object.Namespace+", which does not exist and is not part of the plan", c))
		case u.Reason == preview.ReasonQuota:
			c.Quota = u.Quota
			out = append(out, Obstacle(OverQuota, "is refused by a quota: "+u.Why, c))
		case u.Reason == preview.ReasonPolicy:
			out = append(out, Obstacle(DeniedByPolicy, "is refused by an admission policy: "+u.Why, c))
		case u.Reason == preview.ReasonWebhook:
			out = append(out, Obstacle(DeniedByWebhook, "is refused by an admission webhook: "+u.Why, c))
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
