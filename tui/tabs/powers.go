package tabs

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
)

// power is something that an account can do and that administrators ask about first.
type power struct {
	word      string
	group     string // API group
	resources []string
}

// powers are in the order in which they are named.
var powers = []power{
	{"Secrets", "", []string{"secrets"}},
	{"RBAC", "rbac.authorization.k8s.io", []string{"roles", "clusterroles", "rolebindings", "clusterrolebindings"}},
	{"webhooks", "admissionregistration.k8s.io", []string{"validatingwebhookconfigurations", "mutatingwebhookconfigurations"}},
	{"CRDs", "apiextensions.k8s.io", []string{"customresourcedefinitions"}},
	{"nodes", "", []string{"nodes"}},
	{"pods", "", []string{"pods"}},
	{"workloads", "apps", []string{"deployments", "daemonsets", "statefulsets"}},
	{"workloads", "batch", []string{"jobs", "cronjobs"}},
}

// summary says in a few words what a subject amounts to, and which of the powers its
// grants hold, such as "cluster-admin in effect: writes Secrets, RBAC".
func (m *AccessTab) summary(s preview.Subject) string {
	var writes, reads []string
	for i := range m.Plan.Access.Grants {
		g := &m.Plan.Access.Grants[i]
		if g.Subject != s || g.Change == preview.GrantRemoved {
			continue
		}
		changes := slices.ContainsFunc(g.Verbs, func(v string) bool { return !slices.Contains([]string{"get", "list", "watch"}, v) })
		for _, p := range powers {
			switch {
			case !p.within(g):
			case changes:
				writes = add(writes, p.word)
			case p.word == "Secrets":
				reads = add(reads, p.word)
			}
		}
	}
	var parts []string
	if len(writes) > 0 {
		parts = append(parts, "writes "+strings.Join(inOrder(writes), ", "))
	}
	if len(reads) > 0 && !slices.Contains(writes, "Secrets") {
		parts = append(parts, "reads Secrets")
	}
	extent, does := "", strings.Join(parts, "; ")
	for _, a := range m.Plan.Access.Accounts {
		if a.Subject == s {
			extent = verdict.ExtentText(a)
		}
	}
	if extent != "" && does != "" {
		return extent + ": " + does
	}
	return extent + does
}

func (p power) within(g *preview.Grant) bool {
	has := func(list []string, names ...string) bool {
		return slices.ContainsFunc(list, func(item string) bool { return item == "*" || slices.Contains(names, item) })
	}
	return has(g.APIGroups, p.group) && has(g.Resources, p.resources...)
}

func add(words []string, word string) []string {
	if slices.Contains(words, word) {
		return words
	}
	return append(words, word)
}

// inOrder returns words in the order of the powers.
func inOrder(words []string) []string {
	at := func(word string) int { return slices.IndexFunc(powers, func(p power) bool { return p.word == word }) }
	slices.SortFunc(words, func(a, b string) int { return at(a) - at(b) })
	return words
}
