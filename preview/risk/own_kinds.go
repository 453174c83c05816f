package risk

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/cloud"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/deputy"
)

// ours reports whether a resource is defined by a CRD in the plan. The wildcard "*"
// counts only if every dangerous resource that is known of the API group is.
func (c *scan) ours(group, resource string) bool {
	resource, _, _ = strings.Cut(resource, "/")
	if resource == all {
		for name := range c.named[group] {
			if !c.own[group+"/"+name] {
				return false
			}
		}
		for _, k := range deputy.Resources(group, all) {
			if rankOf(k.Effect) <= rankOf(deputy.Mints) && !strings.Contains(k.Plural, "/") && !c.own[group+"/"+k.Plural] {
				return false
			}
		}
	}
	return c.own[group+"/"+resource]
}

// onlyOurs reports whether all resources of a grant are defined by CRDs in the plan.
func (c *scan) onlyOurs(g preview.Grant) bool {
	for _, group := range g.APIGroups {
		for _, resource := range g.Resources {
			if !c.ours(group, resource) {
				return false
			}
		}
	}
	return len(g.Resources) > 0
}

// namedResources returns, by API group, the resources that rules about the verb create
// name in shapes. The table of operators' kinds does not judge these again.
func namedResources(rules []entry) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for _, rule := range rules {
		if rule.grant == nil {
			continue
		}
		for _, s := range rule.grant.shapes {
			if !slices.Contains(s.verbs, "create") {
				continue
			}
			for _, group := range s.groups {
				for _, resource := range s.resources {
					resource, _, _ = strings.Cut(resource, "/")
					if out[group] == nil {
						out[group] = map[string]bool{}
					}
					out[group][resource] = true
				}
			}
		}
	}
	return out
}

// worstKind returns the kind with the worst effect among those that a group and
// resource of a role name, either of which may be "*". Kinds of the plan, and resources
// that other rules judge, are left out; ok is false where no kind remains.
func (c *scan) worstKind(group, resource string) (worst deputy.Kind, ok bool) {
	for _, k := range deputy.Resources(group, resource) {
		plural := k.Plural
		if plural == all {
			plural = resource
		}
		if c.own[k.Group+"/"+plural] || c.own[group+"/"+plural] || c.named[group][plural] || effectOf(k) == deputy.Elsewhere {
			continue
		}
		if !ok || rankOf(effectOf(k)) < rankOf(effectOf(worst)) {
			worst, ok = k, true
		}
	}
	if provider, iam := cloud.IAMResource(group, resource); iam && provider != cloud.Openshift && !strings.Contains(resource, "/") && rankOf(deputy.IAM) < rankOf(effectOf(worst)) {
		return deputy.Kind{Group: group, Plural: resource, Effect: deputy.IAM}, true
	}
	return worst, ok
}

// kindsPart returns the part of a grant that has any of the verbs on resources whose
// worst kind is wanted. ok is false where there is none. Kinds of the plan do not
// count.
func (c *scan) kindsPart(g preview.Grant, verbs []string, wanted func(deputy.Kind) bool) (shape, bool) {
	part := shape{}
	usable := shape{verbs: verbs}.usable(g, g.Resources)
	if len(usable) == 0 {
		return part, false
	}
	for _, group := range g.APIGroups {
		for _, resource := range g.Resources {
			if worst, ok := c.worstKind(group, resource); ok && wanted(worst) {
				part.groups, part.resources = append(part.groups, group), append(part.resources, resource)
			}
		}
	}
	part.verbs = usable
	return part.join(shape{}), len(part.resources) > 0
}
