package risk

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

func bindingRules() []entry {
	return []entry{
		{Rule: rules.BindingClusterAdmin, object: bindingMatch(bindsClusterAdmin)},
		{Rule: rules.BindingAdmin, object: bindingMatch(bindsAdmin)},
		{Rule: rules.BindingMasters, object: bindingMatch(bindsSubjects("Group", "system:masters"))},
		{Rule: rules.BindingAnonymous, object: bindingMatch(bindsAnonymous)},
		{Rule: rules.BindingAuthenticated, object: bindingMatch(bindsSubjects("Group", "system:authenticated", "system:serviceaccounts"))},
		{Rule: rules.BindingNamespaceGroup, object: bindingMatch(bindsNamespaceGroup)},
		{Rule: rules.BindingDefaultAccount, object: bindingMatch(bindsDefault)},
		{Rule: rules.BindingForeignAccount, object: bindingMatch(bindsForeign)},
		{Rule: rules.BindingUnknownRole, object: bindingMatch(bindsUnknown)},
		{Rule: rules.AggregatedView, object: facts(aggregatedView)},
		{Rule: rules.AggregationOpen, object: facts(openAggregation)},
	}
}

const rbacGroup = "rbac.authorization.k8s.io"

// bindingMatch returns a matcher that calls judge with the RoleBindings and
// ClusterRoleBindings that exist after the plan, and with no other object.
func bindingMatch(judge objectMatch) objectMatch {
	return func(c *scan, o *preview.Object) (Level, []preview.Piece) {
		if o.Planned == nil || !o.Is(preview.KindRoleBinding, preview.KindClusterRoleBinding) {
			return None, nil
		}
		return judge(c, o)
	}
}

// bindingEvidence returns one piece of evidence for each of the subjects of a binding: the
// subject, the scope, and what it is given.
func bindingEvidence(o *preview.Object, subjects []preview.Subject, what string) []preview.Piece {
	scope, namespace := preview.ScopeCluster, ""
	if o.Is(preview.KindRoleBinding) {
		scope, namespace = preview.ScopeNamespace, o.Namespace
	}
	var out []preview.Piece
	for _, s := range subjects {
		out = append(out, preview.Piece{Subject: &s, Scope: scope, Namespace: namespace, What: what})
	}
	return out
}

func bindsClusterAdmin(c *scan, o *preview.Object) (Level, []preview.Piece) {
	if access.RoleOf(o.Planned).Name != "cluster-admin" || !access.RoleOf(o.Planned).Is(preview.KindClusterRole) {
		return None, nil
	}
	level := Critical
	if o.Is(preview.KindRoleBinding) {
		level = c.namespaces.lower(o.Namespace, level)
	}
	return level, bindingEvidence(o, access.Subjects(o.Planned), "cluster-admin")
}

// bindsAdmin matches bindings to the roles admin and edit, which read every Secret
// and run commands in every pod; in a namespace they are less severe, as the grants
// of a role would be.
func bindsAdmin(c *scan, o *preview.Object) (Level, []preview.Piece) {
	role := access.RoleOf(o.Planned)
	if !role.Is(preview.KindClusterRole) || role.Name != "admin" && role.Name != "edit" {
		return None, nil
	}
	level := Critical
	if o.Is(preview.KindRoleBinding) {
		level = c.namespaces.lower(o.Namespace, level)
	}
	return level, bindingEvidence(o, access.Subjects(o.Planned), role.Name)
}

func subjects(o *preview.Object, match func(preview.Subject) bool) []preview.Subject {
	return slices.DeleteFunc(access.Subjects(o.Planned), func(s preview.Subject) bool { return !match(s) })
}

// roleEvidence returns, as evidence of a binding, the permissions of its role where the
// plan brings the role. Otherwise it returns the role's kind and name, as the role is
// the cluster's.
func roleEvidence(c *scan, o *preview.Object) string {
	role := access.RoleOf(o.Planned)
	known := c.objects[role.ID()]
	if known == nil {
		return role.Kind + " " + role.Name
	}
	text, looked := c.around.rules[role.ID()]
	if !looked {
		text = rulesText(known.Planned)
		c.around.rules[role.ID()] = text
	}
	return text
}

// maxRules is the most rules of a role that evidence spells out, maxRuleText the most
// bytes of their text.
const (
	maxRules    = 8
	maxRuleText = 600
)

// rulesText returns the permissions of a role in one line. Rules beyond maxRules are
// counted, and a hash of all rules is added, so that the line changes with any of them.
func rulesText(role map[string]any) string {
	list := access.Rules(role)
	var texts []string
	size := 0
	for _, g := range list {
		text := permission(g, shape{groups: g.APIGroups, resources: g.Resources, verbs: g.Verbs})
		if size += len(text); len(texts) == maxRules || size > maxRuleText {
			break
		}
		texts = append(texts, text)
	}
	more := len(list) - len(texts)
	if more == 0 && len(texts) > 0 {
		return strings.Join(texts, " and ")
	}
	hash, err := preview.Hash(role["rules"])
	switch {
	case err != nil:
		return "permissions that cannot be read"
	case len(list) == 0:
		return "no permissions (" + hash + ")"
	}
	return strings.Join(append(texts, preview.Plural(more, "more rule")), " and ") + " (" + hash + ")"
}

func bindsSubjects(kind string, names ...string) objectMatch {
	return func(c *scan, o *preview.Object) (Level, []preview.Piece) {
		found := subjects(o, func(s preview.Subject) bool { return s.Kind == kind && slices.Contains(names, s.Name) })
		return None, bindingEvidence(o, found, roleEvidence(c, o))
	}
}

// bindsAnonymous matches bindings for unauthenticated users, except those for
// discovery and health that every cluster has.
func bindsAnonymous(c *scan, o *preview.Object) (Level, []preview.Piece) {
	found := subjects(o, func(s preview.Subject) bool {
		return s.Kind == preview.SubjectGroup && s.Name == "system:unauthenticated" || s.Kind == preview.SubjectUser && s.Name == "system:anonymous"
	})
	role := access.RoleOf(o.Planned)
	if (role.Name == "system:discovery" || role.Name == "system:public-info-viewer") && c.builtIn(role) {
		return None, nil
	}
	return None, bindingEvidence(o, found, roleEvidence(c, o))
}

func bindsNamespaceGroup(c *scan, o *preview.Object) (Level, []preview.Piece) {
	found := subjects(o, func(s preview.Subject) bool {
		return s.Kind == preview.SubjectGroup && strings.HasPrefix(s.Name, "system:serviceaccounts:")
	})
	return None, bindingEvidence(o, found, roleEvidence(c, o))
}

func bindsDefault(c *scan, o *preview.Object) (Level, []preview.Piece) {
	found := subjects(o, func(s preview.Subject) bool { return s.Kind == preview.SubjectServiceAccount && s.Name == "default" })
	return None, bindingEvidence(o, found, roleEvidence(c, o))
}

func bindsForeign(c *scan, o *preview.Object) (Level, []preview.Piece) {
	found := subjects(o, func(s preview.Subject) bool {
		return s.Kind == preview.SubjectServiceAccount && s.Name != "default" && !c.accounts[s.Namespace+"/"+s.Name]
	})
	return None, bindingEvidence(o, found, roleEvidence(c, o))
}

// bindsUnknown matches bindings to roles that are not in the plan, not built in,
// and were not read from the cluster.
func bindsUnknown(c *scan, o *preview.Object) (Level, []preview.Piece) {
	role := access.RoleOf(o.Planned)
	if role.Name == "" || c.builtIn(role) {
		return None, nil
	}
	if c.objects[role.ID()] != nil || c.reads[role.ID()] {
		return None, nil
	}
	return None, bindingEvidence(o, access.Subjects(o.Planned), role.Kind+" "+role.Name)
}

// aggregateTargets returns which of admin, edit and view a ClusterRole is aggregated to
// by its labels; nil for other objects.
func aggregateTargets(o *preview.Object) []string {
	if o.Planned == nil || !o.Is(preview.KindClusterRole) {
		return nil
	}
	var targets []string
	for _, role := range []string{"admin", "edit", "view"} {
		if preview.String(o.Planned, "metadata", "labels", "rbac.authorization.k8s.io/aggregate-to-"+role) == "true" {
			targets = append(targets, role)
		}
	}
	return targets
}

func aggregatedView(_ *scan, o *preview.Object) (Level, []preview.Seen) {
	if !slices.Contains(aggregateTargets(o), "view") {
		return None, nil
	}
	var adds []preview.Grant
	for _, g := range access.Rules(o.Planned) {
		secrets := access.Reaches(g, "", "secrets", "get") || access.Reaches(g, "", "secrets", "list") || access.Reaches(g, "", "secrets", "watch")
		if secrets || slices.ContainsFunc(g.Verbs, func(v string) bool { return !slices.Contains([]string{"get", "list", "watch"}, v) }) {
			adds = append(adds, g)
		}
	}
	return None, permissionLines(adds, words.AddsTo.Of("ClusterRole", "view"))
}

func openAggregation(_ *scan, o *preview.Object) (Level, []preview.Seen) {
	if o.Planned == nil || !o.Is(preview.KindClusterRole) {
		return None, nil
	}
	for _, selector := range preview.Maps(o.Planned, "aggregationRule", "clusterRoleSelectors") {
		labels := preview.Map(selector, "matchLabels")
		exact := len(labels) > 0
		for _, e := range preview.Maps(selector, "matchExpressions") {
			exact = exact || preview.String(e, "operator") == "In"
		}
		if !exact {
			return None, []preview.Seen{words.AggregationRuleHasASelectorThatRequires.Of()}
		}
	}
	return None, nil
}
