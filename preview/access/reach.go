package access

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// maxAccounts bounds how many accounts [Reach] goes through.
const maxAccounts = 500

// way is one means of acting as another account.
type way struct {
	group, resource string
	verbs           []string
	named           bool   // resource names are those of accounts
	text            string // %N is the namespace, %A the account
}

// ways lists the surest first (rbac-risk.md: RBAC-18, -24, -12, -14, -10).
var ways = [...]way{
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

// end is a permission in the whole cluster from which there is no way further up.
type end struct {
	group, resource string
	verbs           []string
	text            string
}

var ends = [...]end{
	{all, all, []string{all}, "may do everything"},
	{rbacGroup, "clusterroles", []string{"escalate", "bind"}, "gives itself any right"},
	{"", "users", []string{"impersonate"}, "acts as any user"},
	{"", "groups", []string{"impersonate"}, "acts as a member of any group"},
	{"", "secrets", []string{"get", "list"}, "reads every Secret"},
	{"", "nodes/proxy", []string{"get", "create"}, "reaches every kubelet"},
}

// Reach returns the shortest way on which an account gets to a permission over
// the whole cluster that it does not hold itself, by acting as accounts that
// grants know: one sentence part for each step, the last one saying what is
// reached, such as "runs pods in namespace app as ServiceAccount app/admin",
// "may do everything". It is empty when there is none, and when the account is
// at such an end already.
func Reach(grants []preview.Grant, from preview.Subject) []string {
	net := newNet(grants)
	if net.end(from) != "" {
		return nil
	}
	type place struct {
		account preview.Subject
		path    []string
	}
	queue := []place{{account: from}}
	seen := map[preview.Subject]bool{from: true}
	for i := 0; i < len(queue); i++ {
		for _, next := range net.accounts {
			if seen[next] {
				continue
			}
			text := net.step(queue[i].account, next)
			if text == "" {
				continue
			}
			seen[next] = true
			path := append(slices.Clone(queue[i].path), text)
			if end := net.end(next); end != "" {
				return append(path, end)
			}
			queue = append(queue, place{next, path})
		}
	}
	return nil
}

// net is what accounts hold, by themselves and through their groups.
type net struct {
	accounts []preview.Subject
	held     map[preview.Subject][]preview.Grant // by the subject that grants name
	ends     map[preview.Subject]string
	ways     map[preview.Subject][len(ways)][]preview.Grant
}

func newNet(grants []preview.Grant) *net {
	n := &net{
		held: map[preview.Subject][]preview.Grant{}, ends: map[preview.Subject]string{},
		ways: map[preview.Subject][len(ways)][]preview.Grant{},
	}
	for _, g := range grants {
		if g.Change == preview.GrantRemoved {
			continue
		}
		if len(n.held[g.Subject]) == 0 && g.Subject.Kind == "ServiceAccount" {
			n.accounts = append(n.accounts, g.Subject)
		}
		n.held[g.Subject] = append(n.held[g.Subject], g)
	}
	slices.SortFunc(n.accounts, compareSubjects)
	n.accounts = n.accounts[:min(len(n.accounts), maxAccounts)]
	return n
}

// of returns the grants of an account and of its groups.
func (n *net) of(account preview.Subject) []preview.Grant {
	out := slices.Clone(n.held[account])
	for _, group := range []string{groupAuthenticated, groupAccounts, groupAccounts + ":" + account.Namespace} {
		out = append(out, n.held[preview.Subject{Kind: "Group", Name: group}]...)
	}
	return out
}

func (n *net) end(account preview.Subject) string {
	if text, known := n.ends[account]; known {
		return text
	}
	text := ""
	for _, e := range ends {
		if slices.ContainsFunc(n.of(account), e.met) {
			text = e.text
			break
		}
	}
	n.ends[account] = text
	return text
}

func (e end) met(g preview.Grant) bool {
	return g.Scope == preview.ScopeCluster && len(g.ResourceNames) == 0 &&
		slices.ContainsFunc(e.verbs, func(verb string) bool { return Reaches(g, e.group, e.resource, verb) })
}

// step says how one account acts as another, empty when it cannot.
func (n *net) step(from, to preview.Subject) string {
	found, known := n.ways[from]
	if !known {
		for _, g := range n.of(from) {
			for i, w := range ways {
				if slices.ContainsFunc(w.verbs, func(verb string) bool { return Reaches(g, w.group, w.resource, verb) }) {
					found[i] = append(found[i], g)
				}
			}
		}
		n.ways[from] = found
	}
	for i, w := range ways {
		if slices.ContainsFunc(found[i], func(g preview.Grant) bool { return w.leads(g, to) }) {
			account := "ServiceAccount " + to.Namespace + "/" + to.Name
			return strings.NewReplacer("%N", to.Namespace, "%A", account).Replace(w.text)
		}
	}
	return ""
}

// leads reports whether a grant of this way reaches an account. Of what is
// restricted to names other than those of accounts nothing is known.
func (w way) leads(g preview.Grant, to preview.Subject) bool {
	if g.Scope == preview.ScopeNamespace && g.Namespace != to.Namespace {
		return false
	}
	return len(g.ResourceNames) == 0 || w.named && slices.Contains(g.ResourceNames, to.Name)
}
