// Package locate finds the line of a finding's evidence in a package's file: the rule of
// a role, the container of a pod, the webhook of a configuration. An object alone has
// its first line, which for a role of 200 rules, or for an object generated from one
// entry of a ClusterServiceVersion, is far from the lines to read. The lines are
// displayed and no facts: no digest has them.
package locate

import (
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// podLists are the lists of a pod's spec whose items findings name.
var podLists = []string{"containers", "initContainers", "ephemeralContainers"}

// Items returns the lines of those list items of an object that evidence can name; lines
// are the lines of the object's source, whose fields have the same paths.
func Items(body map[string]any, lines preview.LineIndex) []preview.ItemLine {
	var out []preview.ItemLine
	for _, list := range lists(body) {
		for i, item := range preview.List(body, list...) {
			m, _ := item.(map[string]any)
			path := make([]any, 0, len(list)+1)
			for _, key := range list {
				path = append(path, key)
			}
			out = append(out, preview.ItemLine{Name: preview.String(m, "name"), Line: lines.At(append(path, i)...)})
		}
	}
	if len(out) > 0 && out[len(out)-1].Line == 0 {
		return nil // nothing is known of the file's lines
	}
	return out
}

// lists returns the paths of an object's lists whose items evidence can name.
func lists(body map[string]any) [][]string {
	switch {
	case preview.IsKind(body, preview.KindRole, preview.KindClusterRole):
		return [][]string{{"rules"}}
	case preview.IsKind(body, preview.KindValidatingWebhookConfiguration, preview.KindMutatingWebhookConfiguration):
		return [][]string{{"webhooks"}}
	}
	template, ok := preview.PodTemplatePath(preview.String(body, "kind"))
	if !ok {
		return nil
	}
	out := make([][]string, len(podLists))
	for i, list := range podLists {
		out[i] = slices.Concat(template, []string{"spec", list})
	}
	return out
}

// Findings sets the line of each finding whose evidence names an item of its object.
func Findings(p *preview.Plan) {
	objects := p.ObjectsByID()
	for i := range p.Findings {
		f := &p.Findings[i]
		o := objects[f.Object]
		if o == nil || len(o.Items) == 0 {
			continue
		}
		if len(f.Pieces) > 0 {
			f.Line = lineOf(o, f.Pieces[0])
		}
	}
}

// lineOf returns the line of the item that a piece of evidence is about; 0 for none.
func lineOf(o *preview.Object, piece preview.Piece) int {
	if o.Is(preview.KindRole, preview.KindClusterRole) {
		if at := ruleAbout(preview.List(o.Planned, "rules"), piece.Right); at >= 0 && at < len(o.Items) {
			return o.Items[at].Line
		}
		return 0
	}
	if at := slices.IndexFunc(o.Items, func(item preview.ItemLine) bool { return piece.Item != nil && piece.Item.Name == item.Name }); at >= 0 {
		return o.Items[at].Line
	}
	return 0
}

// ruleAbout returns the number of the rule that grants most of the verbs and resources of
// a matched right; of equal ones the one that grants least else. It is -1 for none.
func ruleAbout(rules []any, right *preview.MatchedRight) int {
	if right == nil {
		return -1
	}
	best, most, least := -1, 0, 0
	for i, rule := range rules {
		m, _ := rule.(map[string]any)
		granted := [2]int{granted(m, "verbs", right.Verbs), granted(m, "resources", right.Resources)}
		if granted[0] == 0 || granted[1] == 0 {
			continue
		}
		points, others := granted[0]+granted[1], len(preview.List(m, "verbs"))+len(preview.List(m, "resources"))
		if points > most || points == most && others < least {
			best, most, least = i, points, others
		}
	}
	return best
}

// granted returns how many of some words a rule has in one of its fields; each has less
// weight where only "*" stands for it.
func granted(rule map[string]any, field string, words []string) int {
	has := preview.Texts(rule[field])
	n := 0
	for _, word := range words {
		switch {
		case slices.Contains(has, word):
			n += 2
		case slices.Contains(has, "*"):
			n++
		}
	}
	return n
}
