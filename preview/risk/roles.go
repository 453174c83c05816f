package risk

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// roleObjectRules returns the rules about roles and bindings that change other roles:
// by redefining built-in ones, or by aggregation.
func roleObjectRules() []entry {
	return []entry{
		{Rule: rules.RoleRedefined, object: facts(redefinesRole)},
		{Rule: rules.BindingRedefined, object: facts(redefinesBinding)},
		{Rule: rules.BindingOutside, object: bindingMatch(bindsOutside)},
		{Rule: rules.AggregatedRole, object: facts(aggregated)},
		{Rule: rules.AggregatedElsewhere, object: facts(aggregatedElsewhere)},
		{Rule: rules.SecurityConstraints, object: facts(securityConstraints)},
	}
}

// redefinesRole matches built-in roles that the plan gives other rules than every
// cluster has. For a role that Kubernetes binds by default the level is High here, as
// findings about its grants say the rest.
func redefinesRole(c *scan, o *preview.Object) (Level, []preview.Seen) {
	if o.Planned == nil || !o.Is(preview.KindClusterRole, preview.KindRole) || !access.IsBuiltIn(o.Ref()) || access.UnchangedBuiltIn(o.Planned) {
		return None, nil
	}
	level := High
	added := beyond(access.Rules(o.Planned), access.BuiltInRules(o.Ref()))
	if !access.BoundByDefault(o.Ref()) {
		level = max(level, c.levelOf(added, preview.Subject{Kind: "everybody with", Name: o.Name}, o.Namespace))
	}
	lines := permissionLines(added, words.AddsTo.Of(o.Kind, o.Name))
	if len(lines) == 0 {
		lines = []preview.Seen{words.ItHasOtherRulesThanOn.Of()}
	}
	return level, lines
}

// redefinesBinding matches bindings of Kubernetes' own that the plan gives another role
// or other subjects.
func redefinesBinding(_ *scan, o *preview.Object) (Level, []preview.Seen) {
	if o.Planned == nil || !o.Is(preview.KindClusterRoleBinding, preview.KindRoleBinding) {
		return None, nil
	}
	known := access.DefaultBinding(o.Ref())
	if known == nil {
		return None, nil
	}
	before, after := access.Subjects(known), access.Subjects(o.Planned)
	var lines []preview.Seen
	if was, is := access.RoleOf(known), access.RoleOf(o.Planned); was.ID() != is.ID() {
		lines = append(lines, words.BindsInPlaceOf.Of(is.Kind, is.Name, was.Name))
	}
	for _, s := range after {
		if !slices.Contains(before, s) {
			lines = append(lines, words.AddsSubject.Of(subjectName(s)))
		}
	}
	for _, s := range before {
		if !slices.Contains(after, s) {
			lines = append(lines, words.RemovesSubject.Of(subjectName(s)))
		}
	}
	return None, lines
}

// bindsOutside matches bindings to users and groups that are not ServiceAccounts or
// groups of ServiceAccounts: subjects of the identity provider, nodes and the control
// plane.
func bindsOutside(c *scan, o *preview.Object) (Level, []preview.Piece) {
	level := None
	found := subjects(o, func(s preview.Subject) bool {
		if s.Kind == preview.SubjectServiceAccount {
			return false
		}
		switch {
		case strings.HasPrefix(s.Name, "system:serviceaccounts"), s.Name == "system:authenticated", s.Name == "system:unauthenticated",
			s.Name == "system:anonymous", s.Name == "system:masters":
			return false
		case strings.HasPrefix(s.Name, "system:"):
			level = High
		}
		level = max(level, Medium)
		return true
	})
	return level, bindingEvidence(o, found, roleEvidence(c, o))
}

// aggregated matches ClusterRoles that are aggregated to admin, edit or view. The level
// is the level of the worst rule that this adds to the built-in role.
func aggregated(c *scan, o *preview.Object) (Level, []preview.Seen) {
	targets := aggregateTargets(o)
	if len(targets) == 0 {
		return None, nil
	}
	level, own := Low, access.Rules(o.Planned)
	for _, target := range targets {
		subject := preview.Subject{Kind: "everybody with", Name: target}
		role := preview.Ref{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: target}
		level = max(level, c.levelOf(beyond(own, access.BuiltInRules(role)), subject, ""))
	}
	return level, permissionLines(own, words.AddsTo.Of("ClusterRole", words.Series(targets, "and")))
}

// aggregationKeys are prefixes of the labels that ClusterRoles of well-known systems,
// such as Knative, aggregate others by.
var aggregationKeys = []string{
	"duck.knative.dev/", "serving.knative.dev/controller", "eventing.knative.dev/", "rbac.crossplane.io/", "rbac.istio.io/",
	"rbac.authorization.k8s.io/", "rbac.authorization.kubevirt.io/", "authorization.openshift.io/", "kubevirt.io/",
}

// aggregatedElsewhere matches ClusterRoles with a label that makes a ClusterRole outside
// the plan aggregate them: one that was read from the cluster, or one of a well-known
// system.
func aggregatedElsewhere(c *scan, o *preview.Object) (Level, []preview.Seen) {
	if o.Planned == nil || !o.Is(preview.KindClusterRole) {
		return None, nil
	}
	labels := preview.Map(o.Planned, "metadata", "labels")
	if len(labels) == 0 || c.collectedHere(o) {
		return None, nil
	}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		known := slices.ContainsFunc(aggregationKeys, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
		target, ours := strings.CutPrefix(key, "rbac.authorization.k8s.io/aggregate-to-")
		if !known && !strings.Contains(key, "aggregate-to-") || ours && slices.Contains([]string{"admin", "edit", "view"}, target) {
			continue
		}
		return c.addedTo("roles that select label "+key, o)
	}
	for name, selector := range c.around.aggregating {
		if c.around.left--; c.around.left > 0 && selector.matches(textLabels(o.Planned)) {
			return c.addedTo(name, o)
		}
	}
	return None, nil
}

// collectedHere reports whether a ClusterRole of the plan aggregates this one. If so,
// the grants that result are judged, and this one is not.
func (c *scan) collectedHere(o *preview.Object) bool {
	have := textLabels(o.Planned)
	return slices.ContainsFunc(c.around.collecting, func(selector labelSelector) bool {
		c.around.left--
		return c.around.left > 0 && selector.matches(have)
	})
}

func (c *scan) addedTo(who string, o *preview.Object) (Level, []preview.Seen) {
	own := slices.DeleteFunc(access.Rules(o.Planned), func(g preview.Grant) bool { return c.kinds.onlyOurs(g) })
	subject := preview.Subject{Kind: "everybody with", Name: who}
	level := c.levelOf(own, subject, "")
	if level <= Low {
		return None, nil
	}
	return level, permissionLines(own, words.AddsToRoles.Of(who))
}

// levelOf returns the highest level that a list of rules has if they are granted to a
// subject, in the whole cluster if namespace is empty.
func (c *scan) levelOf(list []preview.Grant, subject preview.Subject, namespace string) Level {
	level := None
	for _, g := range list {
		g.Subject, g.Scope, g.Namespace = subject, preview.ScopeCluster, namespace
		if namespace != "" {
			g.Scope = preview.ScopeNamespace
		}
		for _, m := range c.matchGrant(g) {
			level = max(level, m.level)
		}
	}
	return level
}

// permissionLines returns what each rule of a list adds to a role.
func permissionLines(list []preview.Grant, to preview.Seen) []preview.Seen {
	var lines []preview.Seen
	for _, g := range list {
		lines = append(lines, words.With(to, words.Permits.Of(permission(g, shape{groups: g.APIGroups, resources: g.Resources, verbs: g.Verbs}))))
	}
	return lines
}

// maxTriples is the most combinations of group, resource and verb of a rule that are
// compared one by one.
const maxTriples = 4096

// beyond returns what the rules of list permit and the rules of have do not: one rule for
// each group and resource, with the remaining verbs. A rule with more than maxTriples
// combinations, or without resources, is returned as it is.
func beyond(list, have []preview.Grant) []preview.Grant {
	have = slices.DeleteFunc(slices.Clone(have), func(g preview.Grant) bool { return len(g.ResourceNames) > 0 })
	var out []preview.Grant
	for _, g := range list {
		if len(g.Resources) == 0 || len(g.APIGroups)*len(g.Resources)*len(g.Verbs) > maxTriples {
			out = append(out, g)
			continue
		}
		for _, group := range g.APIGroups {
			for _, resource := range g.Resources {
				verbs := slices.DeleteFunc(slices.Clone(g.Verbs), func(verb string) bool {
					return slices.ContainsFunc(have, func(h preview.Grant) bool { return access.Reaches(h, group, resource, verb) })
				})
				if len(verbs) > 0 {
					part := g
					part.APIGroups, part.Resources, part.Verbs = []string{group}, []string{resource}, verbs
					out = append(out, part)
				}
			}
		}
	}
	return out
}
