package access

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Deputies returns the ServiceAccounts that may change a resource, its status or its
// finalizers by a rule that names its API group: so their controllers act on its
// objects. Accounts that may do so only by a wildcard over API groups do not count, and
// the plan's accounts are left out. The result is sorted.
func Deputies(in Input, group, resource string) []preview.Subject {
	roles, ours, planned := newRoleSet(in), accountsOf(in.Objects, in.Accounts), idsOf(in.Objects)
	acts := map[string]bool{}
	var out []preview.Subject
	for _, body := range in.Existing {
		if !isBinding(body) || planned[preview.RefOf(body).ID()] {
			continue
		}
		role := RoleOf(body)
		does, known := acts[role.ID()]
		if !known {
			does = slices.ContainsFunc(roles.rules(role), func(g preview.Grant) bool { return changes(g, group, resource) })
			acts[role.ID()] = does
		}
		if !does {
			continue
		}
		for _, s := range Subjects(body) {
			if s.Kind == preview.SubjectServiceAccount && !ours.has(s) && !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	slices.SortFunc(out, preview.CompareSubjects)
	return out
}

// changes reports whether a rule names the API group and permits to change the
// resource, its status or its finalizers. "*" as resource stands for any.
func changes(g preview.Grant, group, resource string) bool {
	if !slices.Contains(g.APIGroups, group) || !HasVerb(g, "update") && !HasVerb(g, "patch") {
		return false
	}
	return slices.ContainsFunc(g.Resources, func(named string) bool {
		main, _, _ := strings.Cut(named, "/")
		return main == resource || main == all || resource == all
	})
}
