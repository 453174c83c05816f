// Package locate says on which line of a package's file a finding's evidence stands: the
// rule of a role, the container of a pod, the webhook of a configuration. An object
// alone has the line on which it begins, which for a role of 200 rules, or for what was
// generated from one entry of a ClusterServiceVersion, is far from what a reader is to
// look at. The lines are displayed and no facts: no digest has them.
package locate

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// podLists are the lists of a pod's spec whose items findings name.
var podLists = []string{"containers", "initContainers", "ephemeralContainers"}

// Items returns the lines of those list items of an object that evidence can name; lines
// are those of what the object was made from, whose fields have the same paths.
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
		if pieces := preview.EvidencePieces(f.Evidence); len(pieces) > 0 {
			f.Line = lineOf(o, strings.TrimPrefix(pieces[0], o.ID+": "))
		}
	}
}

// lineOf returns the line of the item that a piece of evidence names; 0 for none.
func lineOf(o *preview.Object, evidence string) int {
	if o.Is(preview.KindRole, preview.KindClusterRole) {
		if at := ruleAbout(preview.List(o.Planned, "rules"), evidence); at >= 0 && at < len(o.Items) {
			return o.Items[at].Line
		}
		return 0
	}
	words := strings.FieldsFunc(evidence, func(r rune) bool { return strings.ContainsRune(" :,\"", r) })
	for _, item := range o.Items {
		if item.Name != "" && slices.Contains(words, item.Name) {
			return item.Line
		}
	}
	return 0
}

// ruleAbout returns the number of the rule that grants most of the verbs and resources
// that evidence names, as "ServiceAccount a/b cluster-wide: get, list on secrets"; of
// equal ones the one that grants least besides. It is -1 for none.
func ruleAbout(rules []any, evidence string) int {
	_, right, ok := strings.Cut(evidence, ": ")
	verbs, rest, on := strings.Cut(right, " on ")
	if !ok || !on {
		return -1
	}
	resources, _, _ := strings.Cut(rest, " in ")
	best, most, least := -1, 0, 0
	for i, rule := range rules {
		m, _ := rule.(map[string]any)
		granted := [2]int{granted(m, "verbs", verbs), granted(m, "resources", resources)}
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

// granted returns how many of the words of a list, parted by commas, a rule has in one
// of its fields; each has less weight where only "*" stands for it.
func granted(rule map[string]any, field, words string) int {
	has := preview.Texts(rule[field])
	n := 0
	for word := range strings.SplitSeq(words, ", ") {
		switch {
		case slices.Contains(has, word):
			n += 2
		case slices.Contains(has, "*"):
			n++
		}
	}
	return n
}
