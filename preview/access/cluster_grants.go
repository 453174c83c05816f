package access

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// maxOthers is the most grants that [ClusterGrants] returns.
const maxOthers = 20_000

// ClusterGrants returns the grants that bindings of the cluster give to subjects other
// than the plan's accounts, as far as an escalation path can use them. If no binding
// was read, those that every cluster has are used. left is the number of bindings that
// were left out at the limit maxOthers.
func ClusterGrants(in Input) (grants []preview.Grant, left int) {
	roles := newRoleSet(in)
	planned := idsOf(in.Objects)
	ours := accountsOf(in.Objects, in.Accounts)
	useful := map[string][]preview.Grant{}
	c := newCollector()
	bindings := in.Existing
	if in.Unread {
		bindings = slices.Concat(bindings, defaultBindings())
	}
	for _, body := range bindings {
		if !isBinding(body) || planned[preview.RefOf(body).ID()] {
			continue
		}
		subjects := slices.DeleteFunc(Subjects(body), ours.has)
		role := RoleOf(body)
		rules, known := useful[role.ID()]
		if !known {
			rules = slices.DeleteFunc(roles.rules(role), func(g preview.Grant) bool { return !Escalates(g) })
			useful[role.ID()] = rules
		}
		if len(c.grants)+len(subjects)*len(rules) > maxOthers {
			left++
			continue
		}
		c.bind(body, subjects, rules, true)
	}
	return c.grants, left
}

// Escalates reports whether a rule gives a right that a step of an escalation path
// uses, wherever it is bound. Writing ConfigMaps does not count: it leads only to
// accounts of the plan, whose pods are known.
func Escalates(g preview.Grant) bool {
	g.Scope = preview.ScopeCluster
	return slices.ContainsFunc(compiledSteps().rights, func(r right) bool {
		_, ok := r.in(g)
		return ok && !r.equal(changeScripts().rights[0])
	})
}

// AccountsEscalate reports whether objects have a ServiceAccount, and give by themselves a
// right that a step of an escalation path uses.
func AccountsEscalate(objects []map[string]any) bool {
	return slices.ContainsFunc(objects, func(body map[string]any) bool {
		ref := preview.RefOf(body)
		return ref.Is(preview.KindServiceAccount) && ref.Group() == ""
	}) && slices.ContainsFunc(Compute(Input{Objects: objects}), Escalates)
}

// ActingAccounts returns the ServiceAccounts that grants name, sorted, without
// duplicates. For the group of a namespace's accounts it returns the account default,
// which every namespace has.
func ActingAccounts(grants []preview.Grant) []preview.Subject {
	var out []preview.Subject
	seen := map[preview.Subject]bool{}
	for _, g := range grants {
		s := g.Subject
		if namespace, ok := strings.CutPrefix(s.Name, groupAccounts+":"); ok && s.Kind == preview.SubjectGroup {
			s = preview.Subject{Kind: "ServiceAccount", Namespace: namespace, Name: "default"}
		}
		if s.Kind == preview.SubjectServiceAccount && !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	slices.SortFunc(out, preview.CompareSubjects)
	return out
}

// SourceRoles returns the roles of the cluster that a grant comes from: the first role
// in Via and, if that is aggregated, the role that has the rule.
func SourceRoles(in Input, g preview.Grant) []map[string]any {
	if len(g.Via) == 0 {
		return nil
	}
	return newRoleSet(in).sourceRoles(ViaRef(g.Via[0]).ID(), func(rule preview.Grant) bool {
		rule.Subject, rule.Scope, rule.Namespace = g.Subject, g.Scope, g.Namespace
		return grantKey(rule) == grantKey(g)
	})
}

func (s *roleSet) sourceRoles(id string, states func(preview.Grant) bool) []map[string]any {
	var out []map[string]any
	members, _ := s.members(id)
	for i, member := range members {
		found := slices.ContainsFunc(Rules(s.role(member)), states)
		if (i == 0 || found) && !s.planned[member] {
			out = append(out, s.role(member))
		}
		if found {
			break
		}
	}
	return out
}
