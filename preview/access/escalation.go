package access

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// maxAccounts bounds the number of accounts on an escalation path.
const maxAccounts = 500

// impersonation is a permission by which a subject can act as another account.
type impersonation struct {
	group, resource string
	verbs           []string
	named           bool   // resource names are those of accounts
	text            string // %N is the namespace, %A the account
}

// impersonations lists the surest first (RBAC-18, -24, -12, -14, -10).
var impersonations = [...]impersonation{
	{"", "serviceaccounts/token", []string{"create"}, true, "obtains a token of %A"},
	{"", "serviceaccounts", []string{"impersonate"}, true, "impersonates %A"},
	{"", "pods", []string{"create"}, false, "runs pods in namespace %N as %A"},
	{"apps", "deployments", []string{"create", "update", "patch"}, false, "runs deployments in namespace %N as %A"},
	{"apps", "statefulsets", []string{"create", "update", "patch"}, false, "runs statefulsets in namespace %N as %A"},
	{"apps", "daemonsets", []string{"create", "update", "patch"}, false, "runs daemonsets in namespace %N as %A"},
	{"apps", "replicasets", []string{"create", "update", "patch"}, false, "runs replicasets in namespace %N as %A"},
	{"", "replicationcontrollers", []string{"create", "update", "patch"}, false, "runs replicationcontrollers in namespace %N as %A"},
	{"batch", "jobs", []string{"create"}, false, "runs jobs in namespace %N as %A"},
	{"batch", "cronjobs", []string{"create", "update", "patch"}, false, "runs cronjobs in namespace %N as %A"},
	{"", "pods/exec", []string{"create", "get"}, false, "runs commands in pods of namespace %N, such as those of %A"},
	{"", "secrets", []string{"get", "list"}, false, "reads Secrets of namespace %N, where a token of %A may be"},
}

// clusterRight is a cluster-wide permission that an escalation path can end in.
type clusterRight struct {
	group, resource string
	verbs           []string
	text            string
}

var clusterRights = [...]clusterRight{
	{all, all, []string{all}, rules.RBACEverything.Title},
	{rbacGroup, "clusterroles", []string{"escalate", "bind"}, "gives itself any right"},
	{"", "users", []string{"impersonate"}, "acts as any user"},
	{"", "groups", []string{"impersonate"}, "acts as a member of any group"},
	{"", "secrets", []string{"get", "list"}, "reads every Secret"},
	{"", "nodes/proxy", []string{"get", "create"}, "reaches every kubelet"},
}

// EscalationPath is a sequence of steps by which an account gets a cluster-wide
// permission that it does not hold itself: by acting as other accounts, or by
// giving itself a role.
type EscalationPath struct {
	// Steps are parts of a sentence, the last saying what is reached, such as
	// "runs pods in namespace app as ServiceAccount app/admin", rules.RBACEverything.Title.
	Steps []string
	// Accounts are the accounts acted as, in order.
	Accounts []preview.Subject
	// Grants are those that the steps use, without those of the account
	// itself.
	Grants []preview.Grant
	// Roles are ids of roles that the account may give itself.
	Roles []string
	rank  int // in ends
}

// GraphInput has the grants and accounts in which escalation paths are searched.
type GraphInput struct {
	Grants           []preview.Grant   // the plan's
	ClusterGrants    []preview.Grant   // of accounts that only the cluster has, see [ClusterGrants]
	ExistingAccounts []preview.Subject // those of them that exist
	Roles            Input             // where roles are found that an account may give itself
}

// AccountGraph records which account can act as which other. It is not for
// concurrent use.
type AccountGraph struct {
	// Skipped is the number of accounts beyond the limit, which are not
	// searched.
	Skipped int

	accounts []preview.Subject
	held     map[preview.Subject][]preview.Grant // by the subject that grants name
	direct   map[preview.Subject]EscalationPath
	usable   map[preview.Subject][len(impersonations)][]preview.Grant
	roles    *roleSet
}

// NewAccountGraph prepares the search for escalation paths. Only accounts that
// have grants, or are in Exist, are considered: an account that only a binding
// names cannot be acted as.
func NewAccountGraph(in GraphInput) *AccountGraph {
	n := &AccountGraph{
		held: map[preview.Subject][]preview.Grant{}, direct: map[preview.Subject]EscalationPath{},
		usable: map[preview.Subject][len(impersonations)][]preview.Grant{}, roles: newRoleSet(in.Roles),
	}
	known := map[preview.Subject]bool{}
	add := func(s preview.Subject) {
		if s.Kind == preview.SubjectServiceAccount && !known[s] {
			known[s] = true
			n.accounts = append(n.accounts, s)
		}
	}
	for _, g := range in.Grants {
		if g.Change != preview.GrantRemoved {
			add(g.Subject)
			n.held[g.Subject] = append(n.held[g.Subject], g)
		}
	}
	for _, g := range in.ClusterGrants {
		n.held[g.Subject] = append(n.held[g.Subject], g)
	}
	for _, s := range in.ExistingAccounts {
		add(s)
	}
	// The plan's own come first, then those that every cluster has: what others
	// are added later then changes no way that is as short.
	exist := map[preview.Subject]bool{}
	for _, s := range in.ExistingAccounts {
		exist[s] = true
	}
	slices.SortFunc(n.accounts, func(a, b preview.Subject) int {
		return cmp.Or(nearness(a, exist)-nearness(b, exist), compareSubjects(a, b))
	})
	n.Skipped = max(0, len(n.accounts)-maxAccounts)
	n.accounts = n.accounts[:len(n.accounts)-n.Skipped]
	return n
}

func nearness(s preview.Subject, exist map[preview.Subject]bool) int {
	switch {
	case !exist[s]:
		return 0
	case s.Namespace == "kube-system":
		return 1
	}
	return 2
}

// Path returns the shortest escalation path of an account; among paths of equal
// length, the one that ends in the strongest right. It has no steps if there is
// none, or if the account holds such a right itself.
func (n *AccountGraph) Path(from preview.Subject) EscalationPath {
	if end, _ := n.heldRight(from); end != "" {
		return EscalationPath{}
	}
	if own := n.directPath(from); len(own.Steps) > 0 {
		return own
	}
	seen := map[preview.Subject]bool{from: true}
	level := []pathStep{{account: from}}
	for len(level) > 0 {
		var next []pathStep
		var best EscalationPath
		for _, at := range level {
			for _, to := range n.accounts {
				if seen[to] {
					continue
				}
				text, g := n.actAs(at.account, to)
				if text == "" {
					continue
				}
				seen[to] = true
				way := at.extend(to, text, g)
				next = append(next, pathStep{to, way})
				end := n.directPath(to)
				if len(end.Steps) > 0 && (len(best.Steps) == 0 || end.rank < best.rank) {
					best = way.join(end)
				}
			}
		}
		if len(best.Steps) > 0 {
			return best
		}
		level = next
	}
	return EscalationPath{}
}

// pathStep is an account on a path, with the path that leads to it.
type pathStep struct {
	account preview.Subject
	path    EscalationPath
}

// extend returns the path with one more account. The grants of the first step are
// left out, because they are the account's own.
func (s pathStep) extend(to preview.Subject, text string, g preview.Grant) EscalationPath {
	way := EscalationPath{
		Steps: append(slices.Clone(s.path.Steps), text), Accounts: append(slices.Clone(s.path.Accounts), to),
		Grants: slices.Clone(s.path.Grants),
	}
	if len(s.path.Accounts) > 0 {
		way.Grants = append(way.Grants, g)
	}
	return way
}

// join returns the path followed by the path of its last account.
func (w EscalationPath) join(end EscalationPath) EscalationPath {
	return EscalationPath{
		Steps: slices.Concat(w.Steps, end.Steps), Accounts: w.Accounts, Grants: slices.Concat(w.Grants, end.Grants),
		Roles: end.Roles, rank: end.rank,
	}
}

// grantsOf returns the grants of an account and of its groups.
func (n *AccountGraph) grantsOf(account preview.Subject) []preview.Grant {
	out := slices.Clone(n.held[account])
	for _, group := range []string{groupAuthenticated, groupAccounts, groupAccounts + ":" + account.Namespace} {
		out = append(out, n.held[preview.Subject{Kind: "Group", Name: group}]...)
	}
	return out
}

// heldRight returns the strongest cluster-wide right that an account holds itself.
func (n *AccountGraph) heldRight(account preview.Subject) (text string, way EscalationPath) {
	list := n.grantsOf(account)
	for rank, e := range clusterRights {
		if i := slices.IndexFunc(list, e.grantedBy); i >= 0 {
			return e.text, EscalationPath{Steps: []string{e.text}, Grants: []preview.Grant{list[i]}, rank: rank}
		}
	}
	return "", EscalationPath{}
}

// directPath returns the path of an account that leads over no other account.
func (n *AccountGraph) directPath(account preview.Subject) EscalationPath {
	if way, known := n.direct[account]; known {
		return way
	}
	_, way := n.heldRight(account)
	if len(way.Steps) == 0 {
		way = n.selfGrantPath(n.grantsOf(account))
	}
	n.direct[account] = way
	return way
}

// selfGrantPath returns the path by which an account gives itself a ClusterRole:
// one that it may bind by name, or may write with rights it does not hold. The
// account must also be able to write bindings, or be bound to the role already.
func (n *AccountGraph) selfGrantPath(list []preview.Grant) EscalationPath {
	wide := func(resource string, verbs ...string) int {
		return slices.IndexFunc(list, func(g preview.Grant) bool {
			return g.Scope == preview.ScopeCluster && slices.ContainsFunc(verbs, func(v string) bool { return Reaches(g, rbacGroup, resource, v) })
		})
	}
	var best EscalationPath
	for _, g := range list {
		if g.Scope != preview.ScopeCluster {
			continue
		}
		for _, name := range g.ResourceNames {
			id := preview.Ref{APIVersion: rbacVersion, Kind: "ClusterRole", Name: name}.ID()
			if i := wide("clusterrolebindings", "create"); i >= 0 && Reaches(g, rbacGroup, "clusterroles", "bind") {
				if rank := n.highestRight(id); rank >= 0 && (len(best.Steps) == 0 || rank < best.rank) {
					best = EscalationPath{Steps: []string{"gives itself ClusterRole " + name, clusterRights[rank].text}, Grants: []preview.Grant{g, list[i]}, Roles: []string{id}, rank: rank}
				}
			}
			holds := slices.IndexFunc(list, func(h preview.Grant) bool {
				return h.Scope == preview.ScopeCluster && slices.Contains(h.Via, "ClusterRole/"+name)
			})
			writes := slices.IndexFunc(list, func(w preview.Grant) bool {
				return w.Scope == preview.ScopeCluster && (len(w.ResourceNames) == 0 || slices.Contains(w.ResourceNames, name)) &&
					(Reaches(w, rbacGroup, "clusterroles", "update") || Reaches(w, rbacGroup, "clusterroles", "patch"))
			})
			if holds >= 0 && writes >= 0 && Reaches(g, rbacGroup, "clusterroles", "escalate") {
				return EscalationPath{
					Steps:  []string{"writes any right into ClusterRole " + name + ", which it is bound to", clusterRights[0].text},
					Grants: []preview.Grant{g, list[writes], list[holds]}, Roles: []string{id},
				}
			}
		}
	}
	return best
}

// highestRight returns the rank of the strongest right that a role has when it is
// bound cluster-wide, or -1.
func (n *AccountGraph) highestRight(roleID string) int {
	members, complete := n.roles.members(roleID)
	if !complete {
		return 0
	}
	for rank, e := range clusterRights {
		for _, member := range members {
			for _, g := range Rules(n.roles.role(member)) {
				if g.Scope = preview.ScopeCluster; e.grantedBy(g) {
					return rank
				}
			}
		}
	}
	return -1
}

func (e clusterRight) grantedBy(g preview.Grant) bool {
	return g.Scope == preview.ScopeCluster && len(g.ResourceNames) == 0 &&
		slices.ContainsFunc(e.verbs, func(verb string) bool { return Reaches(g, e.group, e.resource, verb) })
}

// actAs returns how an account can act as another, and the grant that permits it;
// empty if it cannot.
func (n *AccountGraph) actAs(from, to preview.Subject) (string, preview.Grant) {
	found, known := n.usable[from]
	if !known {
		for _, g := range n.grantsOf(from) {
			for i, w := range impersonations {
				if w.matches(g) {
					found[i] = append(found[i], g)
				}
			}
		}
		n.usable[from] = found
	}
	for i, w := range impersonations {
		if at := slices.IndexFunc(found[i], func(g preview.Grant) bool { return w.reaches(g, to) }); at >= 0 {
			account := "ServiceAccount " + to.Namespace + "/" + to.Name
			return strings.NewReplacer("%N", to.Namespace, "%A", account).Replace(w.text), found[i][at]
		}
	}
	return "", preview.Grant{}
}

// matches reports whether a grant permits this kind of impersonation.
func (w impersonation) matches(g preview.Grant) bool {
	return slices.ContainsFunc(w.verbs, func(verb string) bool { return Reaches(g, w.group, w.resource, verb) })
}

// reaches reports whether a grant permits to impersonate an account. A grant
// restricted to resource names that are not accounts counts as no.
func (w impersonation) reaches(g preview.Grant, to preview.Subject) bool {
	if g.Scope == preview.ScopeNamespace && g.Namespace != to.Namespace {
		return false
	}
	return len(g.ResourceNames) == 0 || w.named && slices.Contains(g.ResourceNames, to.Name)
}
