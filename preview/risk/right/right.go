// Package right has a table of every right that Kubernetes can grant and that no rule
// of package risk matches by code. A row has the rule and level of the right, or says
// that it is harmless.
package right

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/tsv"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

//go:embed rights.tsv
var rightData string

//go:embed asked.tsv
var askedData string

//go:embed urls.tsv
var urlData string

// Row says how severe verbs on resources of API groups are.
type Row struct {
	Rule string // name of the rule; empty where the rights are harmless
	// Level is for grants in the whole cluster or a namespace of others, Own for those
	// in the namespaces of the release.
	Level, Own               rules.Level
	Groups, Resources, Verbs []string
	Cluster                  bool // the resources are cluster-scoped
	Why                      string
}

// URL says how severe requests to a non-resource path of the API server are.
type URL struct {
	Rule  string // name of the rule; empty where the requests are harmless
	Level rules.Level
	Path  string // a prefix if it ends in "*"
	Why   string
}

// Rows returns the rows of rights.tsv. Callers must not modify them.
var Rows = sync.OnceValue(func() []Row {
	cluster := clusterScoped()
	var out []Row
	for _, f := range tsv.Rows(rightData, 7) {
		r := Row{Level: levels[f[1]], Own: levels[f[2]], Groups: Groups(f[3]), Resources: strings.Fields(f[4]), Verbs: strings.Fields(f[5]), Why: f[6]}
		if f[0] != harmless {
			r.Rule = f[0]
		}
		r.Cluster = !slices.ContainsFunc(r.Resources, func(resource string) bool {
			return !cluster[r.Groups[0]+"/"+resource] || strings.HasPrefix(resource, "namespaces")
		})
		out = append(out, r)
	}
	return out
})

// URLs returns the rows of urls.tsv. Callers must not modify them.
var URLs = sync.OnceValue(func() []URL {
	var out []URL
	for _, f := range tsv.Rows(urlData, 4) {
		u := URL{Level: levels[f[1]], Path: f[2], Why: f[3]}
		if f[0] != harmless {
			u.Rule = f[0]
		}
		out = append(out, u)
	}
	return out
})

// Known returns every resource of [access.BuiltInVersion] with its verbs. Included are
// resources that API servers serve only behind feature gates, and those that they ask
// RBAC about without serving them. Callers must not modify it.
var Known = sync.OnceValue(func() []preview.ServedResource {
	out := slices.Clone(access.BuiltInServed())
	at := map[string]int{}
	for i, s := range out {
		at[s.Group+"/"+s.Resource] = i
	}
	for _, f := range tsv.Rows(askedData, 4) {
		s := preview.ServedResource{Group: Groups(f[0])[0], Resource: f[1], Namespaced: f[2] == "N", Verbs: strings.Fields(f[3])}
		if i, ok := at[s.Group+"/"+s.Resource]; ok {
			out[i].Verbs = slices.Concat(out[i].Verbs, s.Verbs)
			continue
		}
		out = append(out, s)
	}
	return out
})

// Harmless reports whether the table says that a verb on a resource does no harm.
func Harmless(group, resource, verb string) bool {
	return slices.ContainsFunc(Rows(), func(r Row) bool {
		return r.Rule == "" && r.covers(group, resource) && slices.Contains(r.Verbs, verb)
	})
}

func (r Row) covers(group, resource string) bool {
	_, sub, _ := strings.Cut(resource, "/")
	return (slices.Contains(r.Groups, group) || slices.Contains(r.Groups, "*")) &&
		(slices.Contains(r.Resources, resource) || sub != "" && slices.Contains(r.Resources, "*/"+sub))
}

// Groups splits a list of API groups at spaces; "core" becomes "".
func Groups(list string) []string {
	out := strings.Fields(list)
	for i, group := range out {
		if group == "core" {
			out[i] = ""
		}
	}
	return out
}

const harmless = "harmless"

var levels = map[string]rules.Level{
	"notice": rules.Notice, "low": rules.Low, "medium": rules.Medium, "high": rules.High, "critical": rules.Critical,
}

func clusterScoped() map[string]bool {
	out := map[string]bool{}
	for _, s := range Known() {
		out[s.Group+"/"+s.Resource] = !s.Namespaced
	}
	return out
}
