package risk

import (
	"slices"
	"strings"
)

// Matching describes in words what a rule about grants matches, for its page.
type Matching struct {
	// Any lists the permissions of which any one meets the rule, such as "get,
	// list or watch on secrets"; empty when no list of shapes says it.
	Any []string
	// With lists what the same subject must hold besides, all of it.
	With []string
	// ClusterOnly: grants in a namespace have no effect and do not count.
	ClusterOnly bool
	// Fixed: resource names do not always lower the level. Varies: the level
	// also depends on something that the page has to say.
	Fixed, Varies bool
}

// Matchings describes the matcher of every rule about grants, by rule.
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
		text := series(s.verbs, "or") + " on " + series(s.resources, "or")
		if groups := slices.DeleteFunc(slices.Clone(s.groups), func(g string) bool { return g == "" }); len(groups) > 0 {
			text += " (" + groupNames(s.groups) + ")"
		}
		out = append(out, text)
	}
	return out
}

// series returns "a", "a or b" and "a, b or c".
func series(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	n := len(words) - 1
	return strings.Join(words[:n], ", ") + " " + last + " " + words[n]
}
