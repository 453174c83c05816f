package words

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// phrase is the wording of a right on one resource.
type phrase struct {
	group, resource string
	verbs           []string // the grant must have one of them
	text            string   // words between "can" and the scope
	one             string   // the words with resourceNames, for %s
}

const rbac = "rbac.authorization.k8s.io"

var plainTable = [...]phrase{
	{"", "secrets", []string{"get", "list", "watch"}, "read the content of every Secret", "read the content of Secret %s"},
	{"", "secrets", []string{"create", "update", "patch"}, "write Secrets", "write Secret %s"},
	{"", "pods/exec", []string{"create", "get"}, "run commands in every pod", "run commands in pod %s"},
	{"", "pods/attach", []string{"create", "get"}, "attach to every running container", "attach to pod %s"},
	{"", "pods/log", []string{"get", "list"}, "read the logs of every pod", "read the logs of pod %s"},
	{"", "pods", []string{"create"}, "run pods as any ServiceAccount", ""},
	{"", "serviceaccounts/token", []string{"create"}, "obtain a token of every ServiceAccount", "obtain a token of ServiceAccount %s"},
	{"", "nodes/proxy", []string{"get", "create"}, "run commands in every pod through the kubelet, unseen by admission and audit", ""},
	{rbac, "clusterroles", []string{"escalate"}, "write ClusterRoles with rights it does not hold", ""},
	{rbac, "clusterroles", []string{"bind"}, "give any ClusterRole to any subject", "give ClusterRole %s to any subject"},
	{rbac, "roles", []string{"escalate"}, "write Roles with rights it does not hold", ""},
	{rbac, "roles", []string{"bind"}, "give any Role to any subject", "give Role %s to any subject"},
	{"", "users", []string{"impersonate"}, "act as any user", "act as user %s"},
	{"", "groups", []string{"impersonate"}, "act as a member of any group", "act as a member of group %s"},
	{"", "serviceaccounts", []string{"impersonate"}, "act as any ServiceAccount", "act as ServiceAccount %s"},
}

// maxNamed is the most resources, verbs or names that a sentence lists; the others are
// counted.
const maxNamed = 6

// Explain returns in words what a grant permits, such as "can read the content of every
// Secret in every namespace". Names in it are from outside and must be escaped by
// textsafe.
func Explain(g preview.Grant) string {
	where := Scope(g.Scope, g.Namespace)
	if len(g.Resources) == 0 {
		return explainURLs(g)
	}
	everyResource, everyVerb := slices.Contains(g.Resources, all), slices.Contains(g.Verbs, all)
	if everyResource && len(g.ResourceNames) == 0 {
		of := groupsOf(g)
		if everyVerb {
			return "can do anything with every resource" + of + where
		}
		return "can " + counted(orderVerbs(g.Verbs)) + " every resource" + of + where
	}
	if text := phraseText(g); text != "" {
		return "can " + text + where
	}
	verbs := counted(orderVerbs(g.Verbs))
	if everyVerb {
		verbs = "do anything with"
	}
	sentence := "can " + verbs + " " + counted(g.Resources) + groupsOf(g) + where
	if len(g.ResourceNames) > 0 {
		sentence += ", only " + counted(g.ResourceNames)
	}
	return sentence
}

func phraseText(g preview.Grant) string {
	if len(g.Resources) != 1 || len(g.APIGroups) != 1 {
		return ""
	}
	var parts []string
	for _, row := range plainTable {
		if g.Resources[0] != row.resource || g.APIGroups[0] != row.group || !anyVerb(g, row.verbs) {
			continue
		}
		switch {
		case len(g.ResourceNames) == 0:
			parts = append(parts, row.text)
		case row.one != "":
			parts = append(parts, strings.Replace(row.one, "%s", counted(g.ResourceNames), 1))
		}
	}
	return strings.Join(parts, " and ")
}

func anyVerb(g preview.Grant, verbs []string) bool {
	return slices.Contains(g.Verbs, all) || slices.ContainsFunc(verbs, func(v string) bool { return slices.Contains(g.Verbs, v) })
}

func explainURLs(g preview.Grant) string {
	verbs := counted(orderVerbs(g.Verbs))
	if slices.Contains(g.Verbs, all) {
		verbs = "send any request to"
	}
	if slices.Contains(g.NonResourceURLs, all) {
		return "can " + verbs + " every URL of the API server that is not a resource"
	}
	return "can " + verbs + " " + counted(g.NonResourceURLs) + " of the API server"
}

// groupsOf returns the API groups of a grant in words, without the core group.
func groupsOf(g preview.Grant) string {
	if slices.Contains(g.APIGroups, all) {
		return " of every API group"
	}
	var named []string
	for _, group := range g.APIGroups {
		if group != "" {
			named = append(named, group)
		}
	}
	if len(named) == 0 {
		return ""
	}
	if len(named) < len(g.APIGroups) {
		named = append([]string{"core"}, named...)
	}
	return " of " + counted(named)
}

// orderVerbs returns verbs in the usual order: get, list, watch, create and so on.
func orderVerbs(verbs []string) []string {
	common := []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}
	out := slices.Clone(verbs)
	slices.SortStableFunc(out, func(a, b string) int { return rank(common, a) - rank(common, b) })
	return out
}

func rank(list []string, s string) int {
	if i := slices.Index(list, s); i >= 0 {
		return i
	}
	return len(list)
}

// counted returns "a, b and c". More than maxNamed items are cut and counted.
func counted(items []string) string {
	if extra := len(items) - maxNamed; extra > 1 {
		return strings.Join(items[:maxNamed], ", ") + " and " + strconv.Itoa(extra) + " more"
	}
	if len(items) == 0 {
		return "nothing"
	}
	return Series(items, "and")
}

// maxShown is the most resources that the text about a wildcard lists.
const maxShown = 8

// WildcardText returns in one line what a wildcard matches, dangerous resources first,
// such as "75 resources: secrets, pods/exec, serviceaccounts (impersonate) and 72
// more". Names in it are from outside.
func WildcardText(m *preview.WildcardExpansion) string {
	list := slices.Concat(m.Dangerous, m.Others)
	text := "nothing that is served"
	switch {
	case m.Count == 1 && len(list) == 1:
		text = list[0].Resource + ": " + strings.Join(orderVerbs(list[0].Verbs), ", ")
	case m.Count > 0:
		var names []string
		for _, r := range list[:min(len(list), maxShown)] {
			names = append(names, r.Resource+specialVerbText(m, r))
		}
		text = strconv.Itoa(m.Count) + " resources: " + strings.Join(names, ", ")
		if rest := m.Count - len(names); rest > 0 {
			text += " and " + strconv.Itoa(rest) + " more"
		}
	}
	if len(m.NotServed) > 0 {
		text += "; not served: " + counted(m.NotServed)
	}
	return text
}

// specialVerbText returns the verbs on a resource, such as impersonate, that a wildcard
// over verbs includes and that neither read nor write; empty if there are none.
func specialVerbText(m *preview.WildcardExpansion, r preview.ResourceAccess) string {
	if !slices.Contains(m.Verbs, all) {
		return ""
	}
	var verbs []string
	for _, v := range r.Verbs {
		if slices.Contains([]string{"approve", "attest", "bind", "escalate", "impersonate", "sign", "use"}, v) {
			verbs = append(verbs, v)
		}
	}
	if len(verbs) == 0 {
		return ""
	}
	return " (" + strings.Join(verbs, ", ") + ")"
}

// DiscoveryText returns in words which resources wildcards were matched against, and
// which API versions are missing there.
func DiscoveryText(w *preview.Wildcards) string {
	if w == nil {
		return ""
	}
	text := "what the cluster serves"
	if w.Against != preview.AgainstCluster {
		text = "the kinds of Kubernetes " + w.Version
	}
	text = "wildcards are expanded against " + text + " and the plan's own CRDs"
	if w.Why != "" {
		text += ", because the cluster could not be asked: " + w.Why
	}
	if len(w.Unanswered) > 0 {
		text += "; not answered, and so missing: " + counted(w.Unanswered)
	}
	if w.More > 0 {
		text += "; " + strconv.Itoa(w.More) + " more rules with wildcards are not expanded"
	}
	return text
}
