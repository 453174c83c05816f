package access

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// simulation is the closure by brute force: it asks the authorizer's own question
// ([Allows]) for every request that could lead on, for every identity gained so
// far, until nothing changes. It knows nothing of the table of steps.
type simulation struct {
	grants     []preview.Grant
	accounts   []preview.Subject
	namespaces []string
	roles      []map[string]any
	identities map[preview.Subject]bool
	given      map[string]bool
	extra      []preview.Grant // given on the way
	nodes      bool
	usable     []preview.Grant // those of the identities
	counted    int
}

var simulated = preview.Subject{Kind: "User", Name: "gained"}

func (m *simulation) can(verb, group, resource, namespace, name string) bool {
	if m.counted != len(m.identities) {
		m.counted, m.usable = len(m.identities), nil
		for _, g := range m.grants {
			if m.identities[g.Subject] {
				m.usable = append(m.usable, g)
			}
		}
	}
	r := Request{Namespace: namespace, Verb: verb, Group: group, Resource: resource, Name: name}
	return slices.ContainsFunc(m.usable, func(g preview.Grant) bool { return permits(g, r) }) || Allows(m.extra, simulated, r)
}

// canSome reports whether any of verbs is permitted, for an object of any name of
// some where the request has one.
func (m *simulation) canSome(verbs, group, resource, namespace string, names ...string) bool {
	for verb := range strings.FieldsSeq(verbs) {
		if verb == "create" && !strings.Contains(resource, "/") {
			if m.can(verb, group, resource, namespace, "") {
				return true
			}
			continue
		}
		if (verb == "list" || verb == "watch") && m.can(verb, group, resource, namespace, "") {
			return true
		}
		for _, name := range append(names, "some-object") {
			if m.can(verb, group, resource, namespace, name) {
				return true
			}
		}
	}
	return false
}

var simulatedNames = []string{"a0", "a1", "a2", "a3", "r0", "r1"}

func (m *simulation) runsPods(namespace string) bool {
	const written = "create update patch"
	for _, resource := range []string{"deployments", "statefulsets", "daemonsets", "replicasets"} {
		if m.canSome(written, "apps", resource, namespace, simulatedNames...) {
			return true
		}
	}
	return m.canSome("create", "", "pods", namespace) || m.canSome(written, "", "replicationcontrollers", namespace, simulatedNames...) ||
		m.canSome("create", "batch", "jobs", namespace) || m.canSome(written, "batch", "cronjobs", namespace, simulatedNames...)
}

// entersPods reports whether what runs in every pod of a namespace can be taken
// over.
func (m *simulation) entersPods(namespace string) bool {
	enters := func(verbs, resource string) bool {
		for verb := range strings.FieldsSeq(verbs) {
			if m.can(verb, "", resource, namespace, "some-object") {
				return true
			}
		}
		return false
	}
	return enters("create get", "pods/exec") || enters("create get", "pods/attach") ||
		enters("update patch", "pods/ephemeralcontainers") || enters("update patch", "pods")
}

func (m *simulation) actsAs(to preview.Subject) bool {
	secret := m.canSome("create", "", "secrets", to.Namespace) && m.canSome("get list watch", "", "secrets", to.Namespace, simulatedNames...)
	return secret || m.can("create", "", "serviceaccounts/token", to.Namespace, to.Name) || m.can("impersonate", "", "serviceaccounts", to.Namespace, to.Name) ||
		m.runsPods(to.Namespace) || m.entersPods(to.Namespace)
}

// grow adds what is within one request, and reports whether anything was.
func (m *simulation) grow() bool {
	before := len(m.identities) + len(m.extra)
	nodes := m.nodes
	for _, to := range m.accounts {
		if !m.identities[to] && (m.nodes || m.actsAs(to)) {
			m.identities[to] = true
		}
	}
	m.nodes = m.nodes || m.canSome("get create", "", "nodes/proxy", "", simulatedNames...) || m.takesNodes()
	m.bind()
	m.escalate()
	return before != len(m.identities)+len(m.extra) || nodes != m.nodes
}

// takesNodes reports whether a namespace of the simulation may be chosen: pods
// everywhere are privileged pods somewhere.
func (m *simulation) takesNodes() bool {
	for _, namespace := range m.namespaces {
		if m.runsPods(namespace) && (m.can("update", "", "namespaces", namespace, namespace) || m.can("patch", "", "namespaces", namespace, namespace)) {
			return true
		}
	}
	return m.runsPods("some-namespace") || m.entersPodsBut(systemNamespace) || m.canSome("create", "", "secrets", systemNamespace)
}

func (m *simulation) entersPodsBut(namespace string) bool {
	for _, resource := range []string{"pods/exec create get", "pods/ephemeralcontainers update patch", "pods update patch"} {
		words := strings.Fields(resource)
		for _, verb := range words[1:] {
			if m.can(verb, "", words[0], namespace, "some-object") {
				return true
			}
		}
	}
	return false
}

func (m *simulation) give(key string, scope, namespace string, rules []preview.Grant) {
	key += "\x00" + scope + "\x00" + namespace
	if m.given[key] {
		return
	}
	m.given[key] = true
	for _, g := range rules {
		g.Subject, g.Scope, g.Namespace = simulated, scope, namespace
		m.extra = append(m.extra, g)
	}
}

func (m *simulation) bind() {
	for _, role := range m.roles {
		ref := preview.RefOf(role)
		rules := Rules(role)
		if ref.Kind == "ClusterRole" && m.canSome("create", rbacGroup, "clusterrolebindings", "") && m.can("bind", rbacGroup, "clusterroles", "", ref.Name) {
			m.give(ref.ID(), preview.ScopeCluster, "", rules)
		}
		for _, namespace := range m.namespaces {
			if !m.canSome("create", rbacGroup, "rolebindings", namespace) {
				continue
			}
			if ref.Kind == "ClusterRole" && m.can("bind", rbacGroup, "clusterroles", namespace, ref.Name) ||
				ref.Kind == "Role" && ref.Namespace == namespace && m.can("bind", rbacGroup, "roles", namespace, ref.Name) {
				m.give(ref.ID(), preview.ScopeNamespace, namespace, rules)
			}
		}
	}
}

// bound returns the places where what was gained is bound to a role.
func (m *simulation) bound(id string) map[string]string {
	out := map[string]string{}
	for who := range m.identities {
		for _, g := range m.grants {
			if includesSubject(who, g.Subject) && len(g.Via) > 0 && ViaRef(g.Via[0]).ID() == id {
				out[g.Scope+"\x00"+g.Namespace] = g.Namespace
			}
		}
	}
	return out
}

// escalate writes any right into each role that may be written so, and is bound
// to, or into a new role.
func (m *simulation) escalate() {
	for _, role := range m.roles {
		ref := preview.RefOf(role)
		resource := "clusterroles"
		if ref.Kind == "Role" {
			resource = "roles"
		}
		if !m.can("escalate", rbacGroup, resource, ref.Namespace, ref.Name) || !m.can("update", rbacGroup, resource, ref.Namespace, ref.Name) && !m.can("patch", rbacGroup, resource, ref.Namespace, ref.Name) {
			continue
		}
		for at, namespace := range m.bound(ref.ID()) {
			scope, _, _ := strings.Cut(at, "\x00")
			m.give("any", scope, namespace, allRights())
		}
	}
	m.escalateNew("clusterroles", "")
	for _, namespace := range m.namespaces {
		m.escalateNew("roles", namespace)
	}
}

func (m *simulation) escalateNew(resource, namespace string) {
	if !m.canSome("create", rbacGroup, resource, namespace) {
		return
	}
	able := false
	for _, name := range append(slices.Clone(simulatedNames), "new-role") {
		able = able || m.can("escalate", rbacGroup, resource, namespace, name) &&
			(m.can("update", rbacGroup, resource, namespace, name) || m.can("patch", rbacGroup, resource, namespace, name))
	}
	if !able {
		return
	}
	if resource == "clusterroles" && m.canSome("create", rbacGroup, "clusterrolebindings", "") {
		m.give("any", preview.ScopeCluster, "", allRights())
	}
	for _, in := range m.namespaces {
		if (resource == "clusterroles" || in == namespace) && m.canSome("create", rbacGroup, "rolebindings", in) {
			m.give("any", preview.ScopeNamespace, in, allRights())
		}
	}
}

func (m *simulation) everything() bool {
	certificate := m.canSome("create", certificateGroup, "certificatesigningrequests", "") && m.canSome("update patch", certificateGroup, "certificatesigningrequests/approval", "") &&
		(m.can("approve", certificateGroup, "signers", "", "kubernetes.io/kube-apiserver-client") || m.can("approve", certificateGroup, "signers", "", "kubernetes.io/*"))
	asUser := m.can("impersonate", "", "users", "", "some-object")
	return certificate || asUser || m.can("*", "*", "*", "", "some-object") || m.canSome("create update patch", admissionGroup, "mutatingwebhookconfigurations", "", simulatedNames...)
}

// extent runs the simulation to its end.
func (m *simulation) extent(from preview.Subject) Extent {
	m.identities, m.given, m.usable, m.counted = map[preview.Subject]bool{from: true}, map[string]bool{}, nil, 0
	for m.grow() {
	}
	switch {
	case m.everything():
		return ClusterAdmin
	case m.can("get", "", "secrets", "some-namespace", "some-object") || m.can("list", "", "secrets", "some-namespace", "") || m.can("watch", "", "secrets", "some-namespace", ""):
		return EverySecret
	case m.nodes:
		return Nodes
	}
	return Nothing
}

// randomRule returns a rule of the kinds that lead somewhere, mostly.
func randomRule(chance *rand.Rand) preview.Grant {
	pick := func(list ...string) string { return list[chance.IntN(len(list))] }
	rows := [][3]string{
		{"", "serviceaccounts/token", "create"}, {"", "serviceaccounts", "impersonate"}, {"", "pods", "create"}, {"", "pods", "patch"}, {"apps", "deployments", "patch"},
		{"apps", "daemonsets", "create"}, {"batch", "jobs", "update"}, {"batch", "cronjobs", "update"}, {"", "pods/exec", "get"}, {"", "pods/attach", "create"},
		{"", "pods/ephemeralcontainers", "patch"}, {"", "secrets", "create"}, {"", "secrets", "get"}, {"", "secrets", "list"}, {"", "nodes/proxy", "get"},
		{rbacGroup, "clusterroles", "bind"}, {rbacGroup, "roles", "bind"}, {rbacGroup, "clusterroles", "escalate"}, {rbacGroup, "roles", "escalate"},
		{rbacGroup, "clusterroles", "update"}, {rbacGroup, "roles", "patch"}, {rbacGroup, "clusterroles", "create"}, {rbacGroup, "roles", "create"},
		{rbacGroup, "rolebindings", "create"}, {rbacGroup, "clusterrolebindings", "create"}, {"", "configmaps", "get"}, {"", "configmaps", "update"},
		{certificateGroup, "certificatesigningrequests", "create"}, {certificateGroup, "certificatesigningrequests/approval", "update"}, {certificateGroup, "signers", "approve"},
		{"", "users", "impersonate"}, {"", "namespaces", "patch"}, {admissionGroup, "mutatingwebhookconfigurations", "patch"},
	}
	row := rows[chance.IntN(len(rows))]
	g := preview.Grant{APIGroups: []string{row[0]}, Resources: []string{row[1]}, Verbs: []string{row[2]}, ResourceNames: []string{}}
	if chance.IntN(3) == 0 {
		more := rows[chance.IntN(len(rows))]
		g.APIGroups, g.Resources, g.Verbs = append(g.APIGroups, more[0]), append(g.Resources, more[1]), append(g.Verbs, more[2])
	}
	switch chance.IntN(12) {
	case 0:
		g.Verbs = []string{"*"}
	case 1, 2, 3:
		// Verbs on users of given names lead to those users, of whom there are none here.
		g.ResourceNames = []string{pick("a0", "a1", "a2", "a3"), pick("r0", "r1", "a0")}
	case 4:
		g.ResourceNames = []string{""}
	}
	return g
}

// randomWorld returns roles, accounts and the grants of bindings.
func randomWorld(chance *rand.Rand) (roles []map[string]any, accounts []preview.Subject, grants []preview.Grant) {
	namespaces := []string{"n0", "n1", "n2"}
	for i := range 4 + chance.IntN(5) {
		role := map[string]any{"apiVersion": rbacVersion, "kind": "ClusterRole", "metadata": map[string]any{"name": fmt.Sprintf("r%d", i)}}
		if chance.IntN(2) == 0 {
			role["kind"] = "Role"
			role["metadata"].(map[string]any)["namespace"] = namespaces[chance.IntN(3)]
		}
		var rules []any
		for range 1 + chance.IntN(3) {
			g := randomRule(chance)
			texts := func(list []string) []any {
				out := []any{}
				for _, text := range list {
					out = append(out, text)
				}
				return out
			}
			rules = append(rules, map[string]any{"apiGroups": texts(g.APIGroups), "resources": texts(g.Resources), "verbs": texts(g.Verbs), "resourceNames": texts(g.ResourceNames)})
		}
		role["rules"] = rules
		roles = append(roles, role)
	}
	for i := range 3 + chance.IntN(4) {
		accounts = append(accounts, preview.Subject{Kind: "ServiceAccount", Namespace: namespaces[chance.IntN(3)], Name: fmt.Sprintf("a%d", i)})
	}
	for i, who := range accounts {
		for range 1 + chance.IntN(2) {
			role := roles[chance.IntN(len(roles))]
			ref := preview.RefOf(role)
			binding := fmt.Sprintf("ClusterRoleBinding/b%d", i)
			scope, namespace := preview.ScopeCluster, ""
			if ref.Kind == "Role" || chance.IntN(3) > 0 {
				scope, namespace = preview.ScopeNamespace, namespaces[chance.IntN(3)]
				if ref.Kind == "Role" {
					namespace = ref.Namespace
				}
				binding = "RoleBinding/" + namespace + fmt.Sprintf("/b%d", i)
			}
			for _, g := range Rules(role) {
				g.Subject, g.Scope, g.Namespace, g.Via = who, scope, namespace, []string{viaName(ref), binding}
				grants = append(grants, g)
			}
		}
	}
	every := []any{"*"}
	roles = append(roles, map[string]any{
		"apiVersion": rbacVersion, "kind": "ClusterRole", "metadata": map[string]any{"name": "cluster-admin"},
		"rules": []any{map[string]any{"apiGroups": every, "resources": every, "verbs": every}},
	})
	return roles, accounts, grants
}

// The graph finds what a simulation finds that tries each request with each
// identity, over random roles, bindings and accounts.
func TestClosureEqualsSimulation(t *testing.T) { closures(t, 40) }

func TestSlowClosuresEqualSimulation(t *testing.T) {
	slowtest.Skip(t, "a thousand seeds")
	closures(t, 1000)
}

func closures(t *testing.T, seeds uint64) {
	t.Helper()
	ends, edges := map[Extent]int{}, map[string]int{}
	for seed := range seeds {
		chance := rand.New(rand.NewPCG(seed, 17))
		roles, accounts, grants := randomWorld(chance)
		graph := NewAccountGraph(GraphInput{Grants: grants, ExistingAccounts: accounts, Roles: Input{Objects: roles, Missing: builtInIDs()}})
		for _, from := range accounts {
			m := &simulation{grants: grants, accounts: accounts, namespaces: []string{"n0", "n1", "n2", systemNamespace, "some-namespace"}, roles: roles}
			want := m.extent(from)
			got := graph.Amount(from)
			extent := got.Extent
			if slices.Index(extents[:], extent) > slices.Index(extents[:], Nodes) {
				extent = Nothing
			}
			ends[extent]++
			for _, step := range got.Path.Facts {
				names := EdgesOf(step)
				if len(names) == 0 {
					t.Errorf("seed %d: %+v is the edge of no kind that a test carries out", seed, step)
				}
				for _, name := range names {
					edges[name]++
				}
			}
			if extent != want {
				var list []string
				for _, g := range grants {
					list = append(list, g.Subject.Namespace+"/"+brief(g))
				}
				t.Fatalf("seed %d, %s/%s: graph %s by %v, simulation %s (nodes %v, %v)\n%s", seed, from.Namespace, from.Name, got.Extent, strings.Join(got.Path.Steps, "; "), want, m.nodes, slices.Collect(maps.Keys(m.given)), strings.Join(list, "\n"))
			}
		}
	}
	t.Logf("%d seeds: %v, %v", seeds, ends, edges)
	for _, extent := range []Extent{ClusterAdmin, EverySecret, Nodes, Nothing} {
		if ends[extent] < int(seeds)/10 {
			t.Errorf("only %d accounts amount to %s", ends[extent], extent)
		}
	}
}

func builtInIDs() []string {
	var ids []string
	for _, role := range BuiltIn() {
		ids = append(ids, preview.RefOf(role).ID())
	}
	return ids
}

// Accounts with the same rights share a search. What is found of each is what a graph
// finds that is asked of it alone.
func TestASharedSearchFindsWhatOneOfItsOwnFinds(t *testing.T) {
	shared := 0
	for seed := range uint64(50) {
		chance := rand.New(rand.NewPCG(seed, 23))
		roles, accounts, grants := randomWorld(chance)
		ofRole := ""
		if seed%2 == 0 { // no account writes roles: the roles that they are bound to do not matter
			ofRole = "-twin"
			grants = slices.DeleteFunc(grants, func(g preview.Grant) bool {
				return slices.ContainsFunc(g.Verbs, func(verb string) bool { return verb == "bind" || verb == "escalate" || verb == "*" })
			})
		}
		for _, from := range accounts { // the rights of another account by a binding of its own
			twin := preview.Subject{Kind: from.Kind, Namespace: from.Namespace, Name: from.Name + "-twin"}
			accounts = append(accounts, twin)
			for _, g := range grants {
				if g.Subject == from && chance.IntN(20) > 0 {
					g.Subject, g.Via = twin, []string{g.Via[0] + ofRole, g.Via[1] + "-twin"}
					grants = append(grants, g)
				}
			}
			if chance.IntN(3) == 0 { // and one that leads nowhere
				grants = append(grants, preview.Grant{Subject: twin, Scope: preview.ScopeCluster, APIGroups: []string{""}, Resources: []string{"services"}, Verbs: []string{"update"}, Via: []string{"ClusterRole/more", "ClusterRoleBinding/more"}})
			}
		}
		in := GraphInput{Grants: grants, ExistingAccounts: accounts, Roles: Input{Objects: roles, Missing: builtInIDs()}}
		graph := NewAccountGraph(in)
		for _, from := range accounts {
			got, want := graph.Amount(from), NewAccountGraph(in).Amount(from)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("seed %d, %s/%s:\n%+v\nalone\n%+v", seed, from.Namespace, from.Name, got, want)
			}
			if !reflect.DeepEqual(graph.Path(from), NewAccountGraph(in).Path(from)) {
				t.Errorf("seed %d, %s/%s: another path", seed, from.Namespace, from.Name)
			}
		}
		shared += len(accounts) - searches(graph)
	}
	t.Logf("%d accounts share the search of another", shared)
	if shared < 50 {
		t.Errorf("%d accounts share the search of another", shared)
	}
}

// searches returns how many searches a graph has made.
func searches(n *AccountGraph) int {
	made := map[*search]bool{}
	for _, s := range n.found {
		made[s] = true
	}
	return len(made)
}
