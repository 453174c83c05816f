package access

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// accounts is a set of ServiceAccounts (NAMESPACE/NAME), and of their namespaces.
type accounts struct {
	names      map[string]bool
	namespaces map[string]bool
}

// accountsOf returns the ServiceAccounts among objects, those that their pods run as,
// and those that their bindings name.
func accountsOf(lists ...[]map[string]any) accounts {
	a := accounts{names: map[string]bool{}, namespaces: map[string]bool{}}
	for _, list := range lists {
		for _, body := range list {
			a.collect(body)
		}
	}
	return a
}

func (a accounts) collect(body map[string]any) {
	namespace := preview.String(body, "metadata", "namespace")
	switch pod, _ := preview.PodTemplate(body); {
	case pod != nil:
		name := preview.PodAccount(pod)
		if name == "" {
			name = "default"
		}
		a.add(namespace, name)
	case isBinding(body):
		for _, s := range Subjects(body) {
			if s.Kind == preview.SubjectServiceAccount {
				a.add(s.Namespace, s.Name)
			}
		}
	case preview.IsKind(body, preview.KindServiceAccount):
		a.add(namespace, preview.String(body, "metadata", "name"))
	}
}

func (a accounts) add(namespace, name string) {
	a.names[namespace+"/"+name] = true
	a.namespaces[namespace] = true
}

// has reports whether a subject is one of the accounts, or a group with one of them.
func (a accounts) has(s preview.Subject) bool {
	switch s.Kind {
	case preview.SubjectServiceAccount:
		return a.names[s.Namespace+"/"+s.Name]
	case preview.SubjectGroup:
		if namespace, ok := strings.CutPrefix(s.Name, "system:serviceaccounts:"); ok {
			return a.namespaces[namespace]
		}
		return len(a.names) > 0 && (s.Name == groupAccounts || s.Name == groupAuthenticated)
	}
	return false
}

const (
	groupAccounts      = "system:serviceaccounts"
	groupAuthenticated = "system:authenticated"
)

// givenToAll are the names of bindings that every cluster has for all accounts:
// discovery, health, and questions about the user itself.
var givenToAll = [...]string{
	"system:basic-user", "system:cluster-trust-bundle-discovery", "system:discovery", "system:public-info-viewer",
	"system:service-account-issuer-discovery",
}

// TouchesRBAC reports whether objects include roles, bindings or ServiceAccounts, or
// pods, which run as one.
func TouchesRBAC(objects []map[string]any) bool {
	return slices.ContainsFunc(objects, isRBAC) || len(accountsOf(objects).names) > 0
}

// RelevantBindings returns the bindings of the cluster that matter for the objects:
// bindings of a role among objects, and bindings of their accounts, of accounts that the cluster
// binds to a role among objects, or of groups with these, which are returned with only
// these subjects. existing are the bindings of the cluster, roles its roles. Default bindings for all accounts are left out if their
// role is unchanged.
//
// far are RoleBindings to groups of many accounts in namespaces where objects has
// nothing: tenants of those namespaces write them.
func RelevantBindings(objects, existing, roles []map[string]any) (held, far []map[string]any) {
	set := newRoleSet(Input{Objects: objects, Existing: roles})
	planned := idsOf(objects)
	within := maps.Clone(accountsOf(objects).namespaces)
	ours := accountsOf(objects, bindingsOf(planned, existing))
	for _, body := range objects {
		within[preview.String(body, "metadata", "namespace")] = true
	}
	for _, body := range existing {
		if !isBinding(body) || planned[preview.RefOf(body).ID()] || set.bindsEveryone(body) {
			continue
		}
		if added, _ := set.parts(RoleOf(body)); len(added) > 0 || planned[RoleOf(body).ID()] {
			held = append(held, body)
			continue
		}
		subjects := slices.DeleteFunc(Subjects(body), func(s preview.Subject) bool { return !ours.has(s) })
		if len(subjects) == 0 {
			continue
		}
		list := &held
		named := slices.ContainsFunc(subjects, func(s preview.Subject) bool { return s.Kind != preview.SubjectGroup })
		if !named && preview.IsKind(body, preview.KindRoleBinding) && !within[preview.String(body, "metadata", "namespace")] {
			list = &far
		}
		*list = append(*list, OnlySubjects(body, subjects))
	}
	return held, far
}

// bindsEveryone reports whether a binding is one of [givenToAll] and its role is
// unchanged.
func (s *roleSet) bindsEveryone(binding map[string]any) bool {
	role := RoleOf(binding)
	if !slices.Contains(givenToAll[:], role.Name) || preview.String(binding, "metadata", "name") != role.Name {
		return false
	}
	return UnchangedBuiltIn(s.role(role.ID()))
}

// bindingsOf returns the bindings of roles with these ids: the accounts that they name have
// what such a role gives besides their other rights.
func bindingsOf(roles map[string]bool, existing []map[string]any) []map[string]any {
	return slices.DeleteFunc(slices.Clone(existing), func(body map[string]any) bool { return !isBinding(body) || !roles[RoleOf(body).ID()] })
}

// OwnSubjects returns those subjects that are accounts of the objects or that bindings of
// the cluster bind to a role among them, or groups with one of these.
func OwnSubjects(objects, existing []map[string]any, subjects []preview.Subject) []preview.Subject {
	ours := accountsOf(objects, bindingsOf(idsOf(objects), existing))
	return slices.DeleteFunc(slices.Clone(subjects), func(s preview.Subject) bool { return !ours.has(s) })
}

// OnlySubjects returns a copy of a binding with only the subjects in keep.
func OnlySubjects(binding map[string]any, keep []preview.Subject) map[string]any {
	out := maps.Clone(binding)
	var subjects []any
	for _, s := range Subjects(binding) {
		if !slices.Contains(keep, s) {
			continue
		}
		subject := map[string]any{"kind": s.Kind, "name": s.Name}
		if s.Namespace != "" {
			subject["namespace"] = s.Namespace
		}
		subjects = append(subjects, subject)
	}
	out["subjects"] = subjects
	return out
}
