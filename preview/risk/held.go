package risk

import (
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// referred are the kinds whose content decides what objects that name them do: the
// program or setting of a pod, the server of a webhook, the checks of a policy.
var referred = []preview.GroupKind{
	preview.KindConfigMap, preview.KindSecret, preview.KindService,
	preview.KindValidatingAdmissionPolicy, preview.KindMutatingAdmissionPolicy,
}

// untouched reports whether the plan leaves as it is what decides a finding about an
// object: the object itself, and the objects that it refers to. A finding that was
// accepted, or that another version has too, counts as the same only then, as evidence
// does not hold all of an object.
func (c *scan) untouched(o *preview.Object) bool {
	if !o.Untouched() {
		return false
	}
	for key, value := range o.Planned {
		if key != "metadata" && c.namesTouched(o.Namespace, value) {
			return false
		}
	}
	return !c.policyTouched(o)
}

// namesTouched reports whether a value holds the name of an object that the plan touches,
// in the namespace or in one that stands next to the name.
func (c *scan) namesTouched(namespace string, value any) bool {
	switch v := value.(type) {
	case string:
		return c.touched[namespace+"/"+v] || c.touched["/"+v]
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return c.namesTouched(namespace, item) })
	case map[string]any:
		if own := preview.String(v, "namespace"); own != "" {
			namespace = own
		}
		for _, item := range v {
			if c.namesTouched(namespace, item) {
				return true
			}
		}
	}
	return false
}

// policyTouched reports whether the plan touches what takes effect together with an
// admission policy or a binding of one: bindings of the policy, and objects of the kind
// that has its parameters.
func (c *scan) policyTouched(o *preview.Object) bool {
	policy := o.Planned
	switch {
	case o.Is(preview.KindValidatingAdmissionPolicy, preview.KindMutatingAdmissionPolicy):
		if slices.ContainsFunc(c.around.bound[string(o.GroupKind())+"Binding/"+o.Name], func(b *preview.Object) bool { return !b.Untouched() }) {
			return true
		}
	case o.Is(preview.KindValidatingAdmissionPolicyBinding, kindMutatingBinding):
		policy, _ = c.policyBody(boundPolicy(o))
	default:
		return false
	}
	kind := preview.Map(policy, "spec", "paramKind")
	return kind != nil && slices.ContainsFunc(c.plan.Objects, func(param preview.Object) bool {
		return !param.Untouched() && param.Kind == preview.String(kind, "kind") && param.APIVersion == preview.String(kind, "apiVersion")
	})
}
