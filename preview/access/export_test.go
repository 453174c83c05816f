package access

import (
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Essence is essence for the test that holds the table against an API server.
var Essence = essence

// Edge is a kind of edge of the graph.
type Edge struct {
	Name string
	keys []string // of the steps of paths
	kind string   // of the workload that such a step runs
	step *step    // nil for edges that the search makes from roles and Secrets
}

// Edges returns every kind of edge: the steps of the table, and what the search makes
// of roles, bindings and Secrets.
func Edges() []Edge {
	var out []Edge
	for _, s := range steps() {
		out = append(out, Edge{s.name, []string{s.key.Name}, s.kind, &s})
	}
	for name, keys := range map[string][]string{
		"any role, everywhere":             {"gives-any-right"},
		"any role, in a namespace":         {"gives-any-right-in"},
		"a role, everywhere":               {"gives-role"},
		"a role, in a namespace":           {"gives-role-in"},
		"a role that it is bound to":       {"writes-role"},
		"a role that is added to one":      {"writes-collected-role"},
		"a token in a Secret":              {"reads-token"},
		"a Secret turned into a token":     {"turns-into-token"},
		"the token of a pod on a node":     {"uses-token-on-node"},
		"another account's rights at once": nil, // see Together: the same edges from several accounts
	} {
		out = append(out, Edge{name, keys, "", nil})
	}
	return out
}

// EdgesOf returns the names of the edges that a step may be.
func EdgesOf(fact preview.Step) []string {
	var out []string
	for _, e := range Edges() {
		if slices.Contains(e.keys, fact.Key) && (e.step == nil || fact.Kind == e.kind) {
			out = append(out, e.Name)
		}
	}
	return out
}

// Held reports whether grants give the rights of an edge that is a step; it is true for
// other edges.
func (e Edge) Held(grants []preview.Grant) bool {
	if e.step == nil {
		return true
	}
	return !slices.ContainsFunc(e.step.rights, func(r right) bool {
		return !slices.ContainsFunc(grants, func(g preview.Grant) bool { _, ok := r.in(g); return ok })
	})
}
