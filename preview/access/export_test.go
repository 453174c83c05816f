package access

import (
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Essence is essence for the test that holds the table against an API server.
var Essence = essence

// Edge is a kind of edge of the graph.
type Edge struct {
	Name string
	text *regexp.Regexp // of what a path says of it
	step *step          // nil for edges that the search makes from roles and Secrets
}

// Edges returns every kind of edge: the steps of the table, and what the search makes
// of roles, bindings and Secrets.
func Edges() []Edge {
	var out []Edge
	for _, s := range steps() {
		out = append(out, Edge{s.name, worded(s.text), &s})
	}
	for name, text := range map[string]string{
		"any role, everywhere":             anyRight,
		"any role, in a namespace":         anyRight + " in namespace %N",
		"a role, everywhere":               "gives itself ClusterRole %A",
		"a role, in a namespace":           "gives itself %C %A in namespace %N",
		"a role that it is bound to":       "writes any right into %C %A, which it is bound to",
		"a role that is added to one":      "writes any right into ClusterRoles that are added to ClusterRole %A, which it is bound to",
		"a token in a Secret":              "reads a token of %A in Secret %C of namespace %N",
		"a Secret turned into a token":     "turns Secret %C of namespace %N into a token of %A",
		"the token of a pod on a node":     "uses the token of %A on its node",
		"another account's rights at once": "", // see Together: the same edges from several accounts
	} {
		out = append(out, Edge{name, worded(text), nil})
	}
	return out
}

func worded(text string) *regexp.Regexp {
	if text == "" {
		return nil
	}
	expr := regexp.QuoteMeta(strings.ReplaceAll(text, "namespace %N", "%N"))
	return regexp.MustCompile("^" + strings.NewReplacer("%N", "(?:any namespace|namespace .+)", "%A", ".+", "%C", ".+").Replace(expr) + "$")
}

// EdgesOf returns the names of the edges whose words these are.
func EdgesOf(words string) []string {
	var out []string
	for _, e := range Edges() {
		if e.text != nil && e.text.MatchString(words) {
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
