package risk

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/right"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

const (
	anyVerb  = "get list watch create update patch delete deletecollection"
	read     = "get list watch"
	write    = "create update patch"
	deletes  = "delete deletecollection"
	writeAny = "create update patch delete deletecollection"
)

// takeoverGroups are the API groups where a wildcard over resources amounts to
// control of workloads or permissions.
var takeoverGroups = []string{all, "", "apps", "rbac.authorization.k8s.io"}

func wildcardRules() []entry {
	return []entry{
		{Rule: rules.RBACEverything, grant: &grantMatch{wins: true, fixed: matchAlways, custom: func(_ *scan, g preview.Grant) (shape, bool) {
			return shape{groups: g.APIGroups, resources: g.Resources, verbs: g.Verbs}, unlimited(g)
		}}},
		{Rule: rules.RBACGroupWildcard, grant: &grantMatch{wins: true, covers: lesser, level: groupLevel, items: groupsMatched, custom: func(_ *scan, g preview.Grant) (shape, bool) {
			return shape{groups: g.APIGroups, resources: []string{all}, verbs: []string{all}}, slices.Contains(g.Resources, all) && slices.Contains(g.Verbs, all)
		}}},
		{Rule: rules.RBACWriteAllResources, grant: &grantMatch{wins: true, items: verbsAmong(writeAny), custom: everyCoreResource(writeAny)}},
		{Rule: rules.RBACReadAllResources, grant: &grantMatch{wins: true, custom: everyCoreResource(read)}},
		{Rule: rules.RBACAllVerbs, grant: &grantMatch{
			unlike: func(c *scan, g preview.Grant) bool { return c.kinds.onlyOurs(g) || slices.Contains(g.Resources, all) },
			custom: func(_ *scan, g preview.Grant) (shape, bool) {
				return shape{groups: g.APIGroups, resources: g.Resources, verbs: []string{all}}, slices.Contains(g.Verbs, all) && len(g.Resources) > 0
			},
		}},
		{Rule: rules.RBACAllURLs, grant: &grantMatch{clusterOnly: true, custom: func(_ *scan, g preview.Grant) (shape, bool) {
			return shape{verbs: g.Verbs}, slices.ContainsFunc(g.NonResourceURLs, right.EveryURL)
		}}},
		{Rule: rules.RBACDeleteCollection, grant: &grantMatch{
			unlike: func(c *scan, g preview.Grant) bool {
				return c.kinds.onlyOurs(g) || slices.Contains(g.Verbs, all) || len(g.ResourceNames) > 0
			},
			custom: func(_ *scan, g preview.Grant) (shape, bool) {
				verb := []string{"deletecollection"}
				return shape{groups: g.APIGroups, resources: g.Resources, verbs: verb}, slices.Contains(g.Verbs, verb[0]) && len(g.Resources) > 0
			},
		}},
		{Rule: rules.RBACDeadRule, grant: &grantMatch{custom: deadRule}},
	}
}

// lesser are the rules that are left out for a grant which a rule about wildcards
// matches, as that rule says more.
var lesser = []string{rules.RBACAllVerbs.Name, rules.RBACDeleteCollection.Name}

func matchAlways(*scan, preview.Grant) bool { return true }

func groupLevel(c *scan, g preview.Grant, _ shape) Level {
	if slices.ContainsFunc(g.APIGroups, func(group string) bool { return slices.Contains(takeoverGroups, group) }) {
		return Critical
	}
	if c.kinds.onlyOurs(g) {
		return Low
	}
	return High
}

// groupsMatched returns the API groups of a grant, which choose a case of the rule about
// wildcards; "own" where all resources are of CRDs in the plan.
func groupsMatched(c *scan, g preview.Grant, _ shape) []string {
	if c.kinds.onlyOurs(g) {
		return []string{"own"}
	}
	return words.CoreNamed(g.APIGroups)
}

// verbsAmong returns a function for [grantMatch.items] which returns those matched
// verbs that are in the list verbs. A case of the rule is chosen by them.
func verbsAmong(verbs string) func(*scan, preview.Grant, shape) []string {
	wanted := append(strings.Fields(verbs), all)
	return func(_ *scan, _ preview.Grant, matched shape) []string {
		return slices.DeleteFunc(slices.Clone(matched.verbs), func(v string) bool { return !slices.Contains(wanted, v) })
	}
}

// everyCoreResource returns a matcher for grants of any of the verbs on resources "*"
// of the core group.
func everyCoreResource(verbs string) func(*scan, preview.Grant) (shape, bool) {
	s := newShape("core", "secrets", verbs)
	return func(_ *scan, g preview.Grant) (shape, bool) {
		if !slices.Contains(g.Resources, all) {
			return shape{}, false
		}
		part, ok := s.cut(g)
		part.verbs = g.Verbs
		return part, ok
	}
}

// deadRule matches grants in a namespace that have no effect, as all their resources
// are cluster-scoped.
func deadRule(_ *scan, g preview.Grant) (shape, bool) {
	if g.Scope != preview.ScopeNamespace {
		return shape{}, false
	}
	for _, group := range g.APIGroups {
		for _, resource := range g.Resources {
			if reached, known := right.Namespaced(group, resource); reached || !known {
				return shape{}, false
			}
		}
	}
	return shape{groups: g.APIGroups, resources: g.Resources, verbs: g.Verbs}, true
}
