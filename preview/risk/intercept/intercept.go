// Package intercept has a table of what an admission webhook or policy gains from the
// requests that it intercepts: one that is sent Secrets reads them, and one that
// changes pods runs code in them, without any right in RBAC.
package intercept

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview/risk/tsv"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

//go:embed resources.tsv
var resourceData string

// Resource is a resource of Kubernetes, with the levels of being sent its objects and
// of changing them in every namespace.
type Resource struct {
	Group, Name string // Name may have a subresource, such as pods/exec
	Cluster     bool   // cluster-scoped
	See, Change rules.Level
}

// Resources returns the whole table. Callers must not modify it.
var Resources = sync.OnceValue(func() []Resource {
	var out []Resource
	for _, f := range tsv.Rows(resourceData, 5) {
		out = append(out, Resource{Group: strings.TrimPrefix(f[0], "core"), Name: f[1], Cluster: f[2] == "C", See: levels[f[3]], Change: levels[f[4]]})
	}
	return out
})

var levels = map[string]rules.Level{
	"none": rules.None, "low": rules.Low, "medium": rules.Medium, "high": rules.High, "critical": rules.Critical,
}

// Rule is a rule of a webhook or an admission policy: operations on resources.
type Rule struct {
	Groups, Resources, Operations []string
	Scope                         string // Cluster, Namespaced, or anything else for both
}

// Covered returns the rows of the table that the rule intercepts.
func (r Rule) Covered() []Resource {
	var out []Resource
	for _, row := range Resources() {
		if r.covers(row) {
			out = append(out, row)
		}
	}
	return out
}

// covers reports whether the rule intercepts a resource. It reads resources as the API
// server does: "*" is every resource without subresources, and "pods/*" includes pods.
func (r Rule) covers(row Resource) bool {
	if r.Scope == "Cluster" && !row.Cluster || r.Scope == "Namespaced" && row.Cluster {
		return false
	}
	if !slices.Contains(r.Groups, row.Group) && !slices.Contains(r.Groups, "*") {
		return false
	}
	name, sub, _ := strings.Cut(row.Name, "/")
	return slices.ContainsFunc(r.Resources, func(want string) bool {
		wantName, wantSub, _ := strings.Cut(want, "/")
		return (wantName == "*" || wantName == name) && (wantSub == "*" || wantSub == sub)
	})
}

// Changes reports whether a mutating webhook or policy with this rule can change
// objects. Deletions cannot be changed; a rule without operations has all of them.
func (r Rule) Changes() bool {
	return len(r.Operations) == 0 || slices.ContainsFunc(r.Operations, func(op string) bool { return op != "DELETE" })
}

// Known reports whether the table has a row of an API group.
func Known(group string) bool {
	return slices.ContainsFunc(Resources(), func(row Resource) bool { return row.Group == group })
}
