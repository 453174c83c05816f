// Package wording puts parts of objects into the words of evidence: lists, API groups,
// label selectors, and the requests that a webhook intercepts.
package wording

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// NameLabel is the label that the API server sets on every namespace.
const NameLabel = "kubernetes.io/metadata.name"

const all = "*"

// Strings returns the strings of a list in an object, sorted.
func Strings(v any) []string {
	out := preview.Texts(v)
	slices.Sort(out)
	return out
}

// Keys returns the keys of a map, sorted.
func Keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Groups returns API groups separated by commas, with "core" for the core group.
func Groups(groups []string) string { return strings.Join(words.CoreNamed(groups), ",") }

// Verbs returns the operations of a webhook's rule in words, such as "create and delete of".
func Verbs(rule map[string]any) string {
	operations := Strings(rule["operations"])
	if len(operations) == 0 || slices.Contains(operations, all) {
		return "every change of"
	}
	var verbs []string
	for _, verb := range []string{"CREATE", "UPDATE", "DELETE", "CONNECT"} {
		if slices.Contains(operations, verb) {
			verbs = append(verbs, strings.ToLower(verb))
		}
	}
	return words.Series(verbs, "and") + " of"
}

// Resources returns the resources of a webhook's rule in words, with their API groups.
func Resources(rule map[string]any) string {
	resources := Strings(rule["resources"])
	groups := slices.DeleteFunc(Strings(rule["apiGroups"]), func(g string) bool { return g == "" })
	text := words.Series(resources, "and")
	switch {
	case slices.Contains(resources, "*/*"):
		text = "everything and its subresources"
	case slices.Contains(resources, all):
		text = "everything"
	}
	switch {
	case slices.Contains(groups, all):
		return text + " of every API group"
	case len(groups) > 0:
		return text + " (" + Groups(Strings(rule["apiGroups"])) + ")"
	case text == "everything" || text == "everything and its subresources":
		return text + " of the core group"
	}
	return text
}

// Selector returns a label selector in words (meta/v1, LabelSelector). things is
// the word for what is selected, such as "namespaces".
func Selector(things string, selector map[string]any) string {
	var with, without []string
	matched := preview.Map(selector, "matchLabels")
	for _, key := range Keys(matched) {
		with = append(with, labelWords(key, []string{fmt.Sprint(matched[key])}))
	}
	for _, e := range preview.Maps(selector, "matchExpressions") {
		key, values := preview.String(e, "key"), Strings(e["values"])
		switch preview.String(e, "operator") {
		case "In":
			with = append(with, labelWords(key, values))
		case "Exists":
			with = append(with, "with a label "+key)
		case "NotIn":
			without = append(without, labelWords(key, values))
		case "DoesNotExist":
			without = append(without, "with a label "+key)
		default:
			return things + " that its selector, which cannot be read, selects"
		}
	}
	slices.Sort(with)
	slices.Sort(without)
	text := "every " + strings.TrimSuffix(things, "s")
	if len(with) > 0 {
		text = things + " " + words.Series(with, "and")
	}
	if len(without) > 0 {
		text += " but those " + words.Series(without, "or")
	}
	return text
}

func labelWords(key string, values []string) string {
	if key == NameLabel {
		return "named " + words.Series(values, "or")
	}
	return "labelled " + key + "=" + words.Series(values, "or")
}
