// Package access computes what a plan's RBAC objects permit: the rules of each role,
// for each subject of its bindings, become grants, and the grants of two revisions are
// compared. It works on decoded objects and performs no I/O.
package access

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

const (
	rbacGroup   = "rbac.authorization.k8s.io"
	rbacVersion = rbacGroup + "/v1"
	all         = "*"
)

// maxGrants is the most grants that are computed. For a binding beyond it, each subject
// gets one grant of everything: that overstates the binding, so that a review never
// misses a right.
const maxGrants = 50_000

// Fields returns the fields of roles and bindings that say what they permit: those that
// this package uses, besides what identifies an object.
func Fields() []string { return []string{"rules", "aggregationRule", "roleRef", "subjects"} }

// Input holds the RBAC objects that grants are computed from.
type Input struct {
	// Objects are the plan's objects, as they will be applied. Of workloads the accounts
	// count that their pods run as.
	Objects []map[string]any
	// Existing are roles and bindings that are only in the cluster. A role counts if a
	// binding names it or an aggregated role includes it; a binding if
	// [RelevantBindings] returns it.
	Existing []map[string]any
	// Missing are ids of built-in roles that the cluster is known to lack. Other
	// built-in roles count with their rules in [BuiltIn], unless Objects or Existing has
	// them.
	Missing []string
	// Accounts are further objects with accounts whose bindings in Existing count too.
	// Two inputs whose grants are compared must have the accounts of both.
	Accounts []map[string]any
	// Unread: no binding of a cluster was read. Then the bindings count that every
	// cluster has from its start, as far as the plan adds rules to the roles that they
	// name.
	Unread bool
}

// Compute returns the effective grants: one for every subject, scope and rule, sorted
// by [preview.SortGrants]. Equal grants through several roles or bindings are merged,
// with all of them in Via. Rules without effect, such as cluster-scoped resources
// granted in a namespace, are included. A binding to a role that is not known grants
// nothing.
//
// A binding that is only in the cluster grants its whole role to the plan's accounts, to
// those that have a role of the plan by another such binding, and to groups that include
// them: those grants are Held. To other subjects it grants only what the plan adds to the
// role.
func Compute(in Input) []preview.Grant {
	s := NewRBACIndex(in.Existing, in.Missing)
	s.unread = in.Unread
	return s.Compute(in.Objects, in.Accounts...)
}

// RBACIndex is an index of the cluster's roles and bindings. The grants of several sets
// of objects can be computed with it.
type RBACIndex struct {
	roles    *roleSet
	bindings []map[string]any
	unread   bool // no binding of a cluster was read
}

// NewRBACIndex returns an index of the roles and bindings among existing. missing is as
// in [Input].
func NewRBACIndex(existing []map[string]any, missing []string) *RBACIndex {
	s := &RBACIndex{roles: newBaseRoles(existing, missing)}
	for _, body := range existing {
		if isBinding(body) {
			s.bindings = append(s.bindings, body)
		}
	}
	return s
}

// Compute is the function [Compute] with the indexed roles and bindings as Existing,
// and accounts as Accounts.
func (s *RBACIndex) Compute(objects []map[string]any, accounts ...map[string]any) []preview.Grant {
	roles := newRoleSetOn(s.roles, objects)
	c := newCollector()
	for _, body := range objects {
		if isBinding(body) {
			c.bind(body, Subjects(body), roles.rules(RoleOf(body)), false)
		}
	}
	ours := accountsOf(objects, accounts, bindingsOf(idsOf(slices.Concat(objects, accounts)), s.bindings))
	for _, body := range s.bindings {
		// A stored copy of a planned binding is about to be overwritten.
		if !roles.planned[preview.RefOf(body).ID()] {
			c.bindHeld(roles, ours, body)
		}
	}
	if s.unread {
		for _, body := range defaultBindings() {
			if added, _ := roles.parts(RoleOf(body)); len(added) > 0 && !roles.planned[preview.RefOf(body).ID()] {
				c.bind(body, Subjects(body), added, false)
			}
		}
	}
	for i := range c.grants {
		c.grants[i].Via = sortPairs(c.grants[i].Via)
	}
	preview.SortGrants(c.grants)
	return c.grants
}

// RoleRefs returns the roles that bindings among objects name and that objects do not
// contain, sorted by id: they must be read from the cluster.
func RoleRefs(objects []map[string]any) []preview.Ref {
	have := idsOf(objects)
	var refs []preview.Ref
	for _, body := range objects {
		if !isBinding(body) {
			continue
		}
		if ref := RoleOf(body); ref.Name != "" && !have[ref.ID()] {
			have[ref.ID()] = true
			refs = append(refs, ref)
		}
	}
	slices.SortFunc(refs, func(a, b preview.Ref) int { return strings.Compare(a.ID(), b.ID()) })
	return refs
}

// RoleOf returns the role that a binding names; its Name is empty if the binding has
// none.
func RoleOf(binding map[string]any) preview.Ref {
	ref := preview.Ref{
		APIVersion: rbacVersion,
		Kind:       preview.String(binding, "roleRef", "kind"),
		Name:       preview.String(binding, "roleRef", "name"),
	}
	if ref.Is(preview.KindRole) {
		ref.Namespace = preview.String(binding, "metadata", "namespace")
	}
	return ref
}

// Subjects returns the subjects of a binding, sorted, without duplicates. A
// ServiceAccount without namespace gets the RoleBinding's, and a user named
// system:serviceaccount:NAMESPACE:NAME becomes that ServiceAccount, as in the RBAC
// authorizer.
func Subjects(binding map[string]any) []preview.Subject {
	var subjects []preview.Subject
	for _, item := range preview.List(binding, "subjects") {
		m, ok := item.(map[string]any)
		if !ok {
			continue
		}
		s := preview.Subject{
			Kind: preview.String(m, "kind"), Namespace: preview.String(m, "namespace"), Name: preview.String(m, "name"),
		}
		if group := preview.String(m, "apiGroup"); group != "" && (s.Kind == preview.SubjectServiceAccount || group != rbacGroup) {
			continue // the API server refuses it
		}
		switch s.Kind {
		case preview.SubjectServiceAccount:
			if s.Namespace == "" {
				s.Namespace = preview.String(binding, "metadata", "namespace")
			}
		case preview.SubjectUser:
			s.Namespace = ""
			rest, isAccount := strings.CutPrefix(s.Name, "system:serviceaccount:")
			if namespace, name, ok := strings.Cut(rest, ":"); isAccount && ok && namespace != "" && name != "" {
				s = preview.Subject{Kind: "ServiceAccount", Namespace: namespace, Name: name}
			}
		default:
			s.Namespace = ""
		}
		subjects = append(subjects, s)
	}
	slices.SortFunc(subjects, preview.CompareSubjects)
	return slices.Compact(subjects)
}

func subjectKey(s preview.Subject) string { return s.Kind + "\x00" + s.Namespace + "\x00" + s.Name }

// collector collects grants and merges those that differ only in Via.
type collector struct {
	grants []preview.Grant
	index  map[string]int    // grantKey → index in grants
	via    map[grantVia]bool // ways that were found, but the first of each grant
}

// grantVia is one way of a grant, by its index: a role and a binding.
type grantVia struct {
	grant         int
	role, binding string
}

func newCollector() *collector { return &collector{index: map[string]int{}, via: map[grantVia]bool{}} }

// bindHeld adds the grants of a binding that is only in the cluster.
func (c *collector) bindHeld(roles *roleSet, ours accounts, binding map[string]any) {
	added, rest := roles.parts(RoleOf(binding))
	var own []preview.Subject
	for _, subject := range Subjects(binding) {
		if ours.has(subject) {
			own = append(own, subject)
		}
	}
	c.bind(binding, Subjects(binding), added, false)
	c.bind(binding, own, rest, true)
}

func (c *collector) bind(binding map[string]any, subjects []preview.Subject, rules []preview.Grant, held bool) {
	if len(c.grants)+len(subjects)*len(rules) > maxGrants {
		rules = allRights()
	}
	scope, namespace := preview.ScopeCluster, ""
	if preview.IsKind(binding, preview.KindRoleBinding) {
		scope, namespace = preview.ScopeNamespace, preview.String(binding, "metadata", "namespace")
	}
	via := []string{viaName(RoleOf(binding)), viaName(preview.RefOf(binding))}
	for _, subject := range subjects {
		for _, rule := range rules {
			g := rule
			g.Subject, g.Scope, g.Namespace, g.Held = subject, scope, namespace, held
			c.add(g, via)
		}
	}
}

func (c *collector) add(g preview.Grant, via []string) {
	key := grantKey(g)
	at, ok := c.index[key]
	if !ok {
		c.index[key] = len(c.grants)
		g.Via = slices.Clone(via)
		c.grants = append(c.grants, g)
		return
	}
	known := &c.grants[at]
	known.Held = known.Held && g.Held
	way := grantVia{at, via[0], via[1]}
	if first := known.Via[0] == way.role && known.Via[1] == way.binding; !first && !c.via[way] {
		c.via[way] = true
		known.Via = append(known.Via, via...)
	}
}

// grantKey returns a key of a grant's subject, scope and permissions, without Via.
// Separators keep lists apart, so that different lists have different keys.
func grantKey(g preview.Grant) string {
	var b strings.Builder
	b.WriteString(subjectKey(g.Subject) + "\x00" + g.Scope + "\x00" + g.Namespace)
	for _, list := range [][]string{g.APIGroups, g.Resources, g.ResourceNames, g.NonResourceURLs, g.Verbs} {
		b.WriteString("\x00\x01")
		for _, item := range list {
			b.WriteString("\x00" + item)
		}
	}
	return b.String()
}

// sortPairs sorts the role-binding pairs in Via and keeps each pair together.
func sortPairs(via []string) []string {
	pairs := make([][2]string, 0, len(via)/2)
	for i := 0; i+1 < len(via); i += 2 {
		pairs = append(pairs, [2]string{via[i], via[i+1]})
	}
	slices.SortFunc(pairs, func(a, b [2]string) int {
		return strings.Compare(a[0]+"\x00"+a[1], b[0]+"\x00"+b[1])
	})
	out := make([]string, 0, len(via))
	for _, pair := range pairs {
		out = append(out, pair[0], pair[1])
	}
	return out
}

// viaName returns an object as Via names it: KIND/NAME, or KIND/NAMESPACE/NAME for a
// namespaced object.
func viaName(ref preview.Ref) string {
	if ref.Namespace != "" {
		return ref.Kind + "/" + ref.Namespace + "/" + ref.Name
	}
	return ref.Kind + "/" + ref.Name
}

// ViaRef returns the object that an entry of [preview.Grant.Via] names.
func ViaRef(via string) preview.Ref {
	kind, name, _ := strings.Cut(via, "/")
	ref := preview.Ref{APIVersion: rbacVersion, Kind: kind, Name: name}
	if kind == "Role" || kind == "RoleBinding" {
		if namespace, rest, ok := strings.Cut(name, "/"); ok {
			ref.Namespace, ref.Name = namespace, rest
		}
	}
	return ref
}

func isBinding(body map[string]any) bool {
	return preview.IsKind(body, preview.KindRoleBinding, preview.KindClusterRoleBinding)
}

func isRole(body map[string]any) bool {
	return preview.IsKind(body, preview.KindRole, preview.KindClusterRole)
}

func isRBAC(body map[string]any) bool { return preview.RefOf(body).Group() == rbacGroup }

// idsOf returns the ids of the RBAC objects among objects.
func idsOf(objects []map[string]any) map[string]bool {
	ids := map[string]bool{}
	for _, body := range objects {
		if isRBAC(body) {
			ids[preview.RefOf(body).ID()] = true
		}
	}
	return ids
}
