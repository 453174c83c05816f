package access

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// roleRights are the rights that let a subject give itself roles, as indexes into
// stepTable.rights.
type roleRights struct {
	bindCluster, bindLocal         int // bind ClusterRoles, Roles
	escalateCluster, escalateLocal int
	createCluster, createLocal     int // ClusterRoles, Roles
	changeCluster, changeLocal     int
	bindEverywhere, bindIn         int // create ClusterRoleBindings, RoleBindings
	changeEverywhere, changeIn     int // change existing bindings
	secretsRead, secretsChange     int
}

func newRoleRights(t *stepTable) roleRights {
	return roleRights{
		bindCluster: t.id(rightTo(rbacGroup, "clusterroles", "bind")), bindLocal: t.id(rightTo(rbacGroup, "roles", "bind")),
		escalateCluster: t.id(wideRight(rbacGroup, "clusterroles", "escalate")), escalateLocal: t.id(rightTo(rbacGroup, "roles", "escalate")),
		createCluster: t.id(wideRight(rbacGroup, "clusterroles", "create")), createLocal: t.id(rightTo(rbacGroup, "roles", "create")),
		changeCluster: t.id(wideRight(rbacGroup, "clusterroles", "update", "patch")), changeLocal: t.id(rightTo(rbacGroup, "roles", "update", "patch")),
		bindEverywhere: t.id(wideRight(rbacGroup, "clusterrolebindings", "create")), bindIn: t.id(rightTo(rbacGroup, "rolebindings", "create")),
		changeEverywhere: t.id(wideRight(rbacGroup, "clusterrolebindings", "update", "patch")), changeIn: t.id(rightTo(rbacGroup, "rolebindings", "update", "patch")),
		secretsRead: t.id(rightTo("", "secrets", "get", "list", "watch")), secretsChange: t.id(rightTo("", "secrets", "update", "patch")),
	}
}

// grants reports whether a right lets a subject give rights that it does not hold: bind
// or escalate.
func (r roleRights) grants(id int) bool {
	return id == r.bindCluster || id == r.bindLocal || id == r.escalateCluster || id == r.escalateLocal
}

// giveRoles adds the rights that the subject can give itself by roles: it may bind a
// role, or write rules that it does not hold into a role that it is bound to.
func (s *search) giveRoles() {
	r := s.table.role
	s.takeBound()
	namespaces := map[string]bool{}
	for at := range s.held {
		namespaces[at.namespace] = true
	}
	for _, roles := range s.bound {
		for _, role := range roles {
			namespaces[role.namespace] = true
		}
	}
	s.bindEverywhere()
	s.escalate(s.held[place{r.escalateCluster, ""}], "", "ClusterRole", r.changeCluster, r.createCluster)
	for _, namespace := range slices.Sorted(maps.Keys(namespaces)) {
		s.left--
		s.bindIn(namespace)
		s.escalate(s.in(r.escalateLocal, namespace), namespace, "Role", r.changeLocal, r.createLocal)
	}
}

// takeBound adds the roles that the origins of the last rounds are bound to.
func (s *search) takeBound() {
	for _, of := range s.binds {
		for _, b := range of.list {
			s.bound[b.id] = append(s.bound[b.id], gainedRole{b.namespace, premise{b.grant, of.by, noRight}})
		}
	}
	if len(s.binds) > 0 {
		s.binds, s.boundIDs = nil, nil
	}
}

// boundTo returns the ids of the roles that the account, and those that it acts as, are
// bound to, sorted.
func (s *search) boundTo() []string {
	if s.boundIDs == nil {
		s.boundIDs = slices.Sorted(maps.Keys(s.bound))
	}
	return s.boundIDs
}

// anyRightIn returns the step of an account that gives itself any right in a namespace, or in
// any one if that is empty.
func anyRightIn(namespace string) preview.Step {
	return preview.Step{Key: words.StepGivesAnyRightIn.Name, Namespace: namespace}
}

// bindEverywhere adds the ClusterRoles that the subject can bind to itself in the whole
// cluster: by a new binding, or by adding itself to an existing one.
func (s *search) bindEverywhere() {
	r := s.table.role
	creates, changes := s.held[place{r.bindEverywhere, ""}], s.held[place{r.changeEverywhere, ""}]
	for _, bind := range s.held[place{r.bindCluster, ""}] {
		for _, write := range slices.Concat(creates, changes) {
			if bind.names == nil && write.names == nil {
				s.end(ClusterAdmin, preview.Step{Key: words.StepGivesAnyRight.Name}, []premise{bind.premise, write.premise}, true)
			}
		}
		for _, write := range creates {
			for _, name := range bind.names {
				s.giveRole(preview.Ref{APIVersion: rbacVersion, Kind: "ClusterRole", Name: name}, true, "", bind.premise, write.premise)
			}
		}
		for _, write := range changes {
			s.giveEach(s.boundBy("ClusterRoleBinding", "", write.names, bind.names, "ClusterRole"), true, "", bind.premise, write.premise)
		}
	}
}

// bindIn adds the roles that the subject can bind to itself in a namespace, or in every
// one if it is empty.
func (s *search) bindIn(namespace string) {
	r := s.table.role
	creates, changes := s.in(r.bindIn, namespace), s.in(r.changeIn, namespace)
	if len(creates)+len(changes) == 0 {
		return
	}
	for _, bind := range s.in(r.bindCluster, namespace) {
		for _, write := range creates {
			if bind.names == nil {
				s.give("any right", allRights(), false, namespace, anyRightIn(namespace), bind.premise, write.premise)
			}
			for _, name := range bind.names {
				s.giveRole(preview.Ref{APIVersion: rbacVersion, Kind: "ClusterRole", Name: name}, false, namespace, bind.premise, write.premise)
			}
		}
		for _, write := range changes {
			s.giveEach(s.boundBy("RoleBinding", namespace, write.names, bind.names, "ClusterRole"), false, namespace, bind.premise, write.premise)
		}
	}
	for _, bind := range s.in(r.bindLocal, namespace) {
		for _, write := range creates {
			s.giveEach(s.rolesIn(namespace, bind.names), false, namespace, bind.premise, write.premise)
		}
		for _, write := range changes {
			s.giveEach(s.boundBy("RoleBinding", namespace, write.names, bind.names, "Role"), false, namespace, bind.premise, write.premise)
		}
	}
}

// boundBy returns the roles of existing bindings in a namespace that the subject may
// change and whose role it may bind. bindings and roles are the names that the rights
// are restricted to, nil for any.
func (s *search) boundBy(kind, namespace string, bindings, roles []string, roleKind string) []preview.Ref {
	key := kind + "\x00" + namespace + "\x00" + roleKind
	known, looked := s.bindable[key]
	if looked && bindings == nil && roles == nil {
		return known
	}
	var out []preview.Ref
	for id, role := range s.AccountGraph.bindings {
		_, of, in, name, err := preview.ParseID(id)
		if err == nil && of == kind && in == namespace && role.Kind == roleKind && hasName(bindings, name) && hasName(roles, role.Name) {
			out = append(out, role)
		}
	}
	slices.SortFunc(out, compareRefs)
	if bindings == nil && roles == nil {
		s.bindable[key] = out
	}
	return out
}

// rolesIn returns the known Roles of a namespace, or of all if it is empty, that have
// one of the names; nil for any.
func (s *search) rolesIn(namespace string, names []string) []preview.Ref {
	known, looked := s.localRoles[namespace]
	if !looked {
		known = s.findRoles(namespace)
		s.localRoles[namespace] = known
	}
	if names == nil {
		return known
	}
	return slices.DeleteFunc(slices.Clone(known), func(ref preview.Ref) bool { return !slices.Contains(names, ref.Name) })
}

func (n *AccountGraph) findRoles(namespace string) []preview.Ref {
	var out []preview.Ref
	for _, set := range []*roleSet{n.roles, n.roles.base} {
		for _, body := range set.roles {
			ref := preview.RefOf(body)
			if ref.Is(preview.KindRole) && (namespace == "" || namespace == ref.Namespace) {
				out = append(out, ref)
			}
		}
	}
	slices.SortFunc(out, compareRefs)
	return slices.Compact(out)
}

func compareRefs(a, b preview.Ref) int { return strings.Compare(a.ID(), b.ID()) }

// hasName reports whether names include a name; nil names include all.
func hasName(names []string, name string) bool { return names == nil || slices.Contains(names, name) }

// escalate adds the rights that the subject can write into a role: into one that it is
// bound to, into one that such a role aggregates, or into a new role that it binds
// while the role is empty.
func (s *search) escalate(list []gained, namespace string, kind string, change, create int) {
	for _, allowed := range list {
		for _, write := range s.in(change, namespace) {
			names, some := common(allowed.names, write.names)
			if !some {
				continue
			}
			by := []premise{allowed.premise, write.premise}
			for _, id := range s.boundTo() {
				s.writeBound(id, names, namespace, kind, by)
			}
			if len(s.in(create, namespace)) > 0 {
				s.bindNew(namespace, kind, append(by, s.in(create, namespace)[0].premise))
			}
		}
		for _, write := range s.in(create, namespace) {
			if hasName(allowed.names, "") && kind == "ClusterRole" {
				for _, id := range s.boundTo() {
					s.writeBound(id, []string{""}, namespace, kind, []premise{allowed.premise, write.premise})
				}
			}
		}
	}
}

// common returns the names that are in both lists, where nil stands for all names; some
// is false if there are none.
func common(a, b []string) (names []string, some bool) {
	switch {
	case a == nil:
		return b, true
	case b == nil:
		return a, true
	}
	names = slices.DeleteFunc(slices.Clone(a), func(name string) bool { return !slices.Contains(b, name) })
	return names, len(names) > 0
}

// writeBound adds all rights if the subject may write the role with this id, which it
// is bound to, or a role that is aggregated to it.
func (s *search) writeBound(id string, names []string, namespace string, kind string, by []premise) {
	ref := s.roleOfID(id)
	if ref.Kind != kind || namespace != "" && ref.Namespace != namespace {
		return
	}
	named := hasName(names, ref.Name)
	if !named && len(preview.List(s.roles.role(id), "aggregationRule", "clusterRoleSelectors")) == 0 {
		return
	}
	for _, to := range s.bound[id] {
		everywhere := to.grant.Scope == preview.ScopeCluster
		ends := names == nil && everywhere && !s.ended(max(depthOf(by), to.by.depth))
		if !ends && s.visited[givenKey("any right", everywhere, to.namespace)] {
			continue
		}
		how := preview.Step{Key: words.StepWritesRole.Name, Kind: ref.Kind, Name: ref.Name}
		if !named {
			how.Key = words.StepWritesCollectedRole.Name
		}
		with := append(by[:len(by):len(by)], to.premise)
		if ends {
			s.end(ClusterAdmin, preview.Step{Key: words.StepGivesAnyRight.Name}, with, true)
		}
		s.give("any right", allRights(), everywhere, to.namespace, how, with...)
	}
}

// ended reports whether a right that the account holds, or one of the accounts that it
// acts as (depth above 0), was found before to reach ClusterAdmin.
func (s *search) ended(depth int) bool {
	if depth == 0 {
		return s.holds && s.own[ClusterAdmin] != nil
	}
	return s.reached[ClusterAdmin] != nil
}

// roleOfID returns the role with an id; for ids of other objects, an empty
// reference.
func (n *AccountGraph) roleOfID(id string) preview.Ref {
	ref, known := n.boundRoles[id]
	if !known {
		if _, kind, namespace, name, err := preview.ParseID(id); err == nil {
			ref = preview.Ref{APIVersion: rbacVersion, Kind: kind, Namespace: namespace, Name: name}
		}
		if ref.ID() != id {
			ref = preview.Ref{}
		}
		n.boundRoles[id] = ref
	}
	return ref
}

// bindNew adds all rights if the subject may bind a new, empty role, because it then
// writes rights into the role.
func (s *search) bindNew(namespace string, kind string, by []premise) {
	r := s.table.role
	if kind == "ClusterRole" {
		for _, write := range s.held[place{r.bindEverywhere, ""}] {
			s.end(ClusterAdmin, preview.Step{Key: words.StepGivesAnyRight.Name}, append(slices.Clone(by), write.premise), true)
		}
	}
	for at, list := range s.held {
		if at.right == r.bindIn && (namespace == "" || at.namespace == "" || at.namespace == namespace) {
			in := at.namespace
			if in == "" {
				in = namespace
			}
			s.give("any right", allRights(), false, in, anyRightIn(in), append(slices.Clone(by), list[0].premise)...)
		}
	}
}

// giveRole adds the rules of a role that the subject gives itself, in the whole cluster
// or in a namespace.
func (s *search) giveRole(role preview.Ref, everywhere bool, namespace string, by ...premise) {
	if s.done() || s.visited[givenKey(role.ID(), everywhere, namespace)] {
		return
	}
	how := preview.Step{Key: words.StepGivesRole.Name, Kind: role.Kind, Name: role.Name}
	if !everywhere {
		how.Key, how.Namespace = words.StepGivesRoleIn.Name, namespace
	}
	list := slices.Clone(s.roles.rules(role))
	for i := range list {
		list[i].Via = []string{viaName(role)}
	}
	s.give(role.ID(), list, everywhere, namespace, how, by...)
}

// giveEach gives the roles one after the other, until nothing higher can be found: a Role
// in its own namespace, a ClusterRole in the one that is named.
func (s *search) giveEach(roles []preview.Ref, everywhere bool, namespace string, by ...premise) {
	for _, role := range roles {
		if s.done() {
			return
		}
		s.giveRole(role, everywhere, cmp.Or(role.Namespace, namespace), by...)
	}
}

// givenKey is the key in search.visited of a role that was given.
func givenKey(what string, everywhere bool, namespace string) string {
	return "role\x00" + what + "\x00" + strconv.FormatBool(everywhere) + "\x00" + namespace
}

// give adds rules that the subject gives itself: in the whole cluster if everywhere is
// true, else in a namespace, or in every namespace if it is empty.
func (s *search) give(what string, list []preview.Grant, everywhere bool, namespace string, how preview.Step, by ...premise) {
	key := givenKey(what, everywhere, namespace)
	if s.visited[key] {
		return
	}
	if what == "any right" {
		s.admin[namespace] = true
	}
	if s.done() {
		s.visited[key] = true // what is given now is not looked at
		return
	}
	scope := preview.ScopeNamespace
	if everywhere {
		scope = preview.ScopeCluster
	}
	for i := range list {
		list[i].Scope, list[i].Namespace = scope, namespace
	}
	s.visit(key, &origin{step: &how, premises: by, depth: depthOf(by) + 1, gives: s.newHoldings(list), rules: list})
}
