package risk

import (
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview/risk/wording"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// Matching describes in words which grants a rule matches, for the rule's page.
type Matching struct {
	// Any lists permissions such as "get, list or watch on secrets"; a grant with any
	// one of them meets the rule. It is empty for rules that match by code.
	Any []string
	// With lists the permissions that the same subject must hold too, all of them.
	With []string
	// ClusterOnly: only grants in the whole cluster meet the rule; in a namespace they
	// have no effect.
	ClusterOnly bool
	// Fixed: for some grants resourceNames do not lower the level. Varies: the level
	// also depends on a condition that the page has to describe.
	Fixed, Varies bool
}

// Matchings returns the descriptions of all rules about grants, by the name of the
// rule.
func Matchings() map[string]Matching {
	out := map[string]Matching{}
	for _, e := range table() {
		if e.grant == nil {
			continue
		}
		out[e.Name] = Matching{
			Any: permissions(e.grant.shapes), With: permissions(e.grant.with), ClusterOnly: e.grant.clusterOnly,
			Fixed: e.grant.fixed != nil, Varies: e.grant.level != nil,
		}
	}
	return out
}

func permissions(shapes []shape) []string {
	var out []string
	for _, s := range shapes {
		text := words.Series(s.verbs, "or") + " on " + words.Series(s.resources, "or")
		if groups := slices.DeleteFunc(slices.Clone(s.groups), func(g string) bool { return g == "" }); len(groups) > 0 {
			text += " (" + wording.Groups(s.groups) + ")"
		}
		out = append(out, text)
	}
	return out
}
