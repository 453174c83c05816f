package format

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// maxNondeterministic is the most notes of [NoteDifferences]; further fields are
// counted.
const maxNondeterministic = 200

// NoteDifferences compares two renderings of the same input and returns a note for each
// field that differs, because its value comes from a clock or a random source. Objects
// are matched by id; namespace is that of objects without one. Notes contain no values.
func NoteDifferences(first, second []RenderedObject, namespace string) []preview.Note {
	a, b := indexByID(first, namespace), indexByID(second, namespace)
	var notes []preview.Note
	note := func(id, text string) {
		notes = append(notes, rules.Nondeterministic.Note(id, text))
	}
	for id, body := range a {
		other, both := b[id]
		if !both {
			note(id, "a second rendering does not make this object; its name, or whether it exists, comes from a clock or a random source")
			continue
		}
		for _, change := range diff.Changes(body, other) {
			note(id, change.Path+" comes from a clock or a random source: a second rendering gave another value")
		}
	}
	slices.SortFunc(notes, func(a, b preview.Note) int {
		return cmp.Or(strings.Compare(a.Object, b.Object), strings.Compare(a.Text, b.Text))
	})
	notes = slices.Compact(notes)
	if extra := len(notes) - maxNondeterministic; extra > 0 {
		last := notes[maxNondeterministic]
		last.Text = fmt.Sprintf("this and %d more fields come from a clock or a random source", extra)
		notes = append(notes[:maxNondeterministic], last)
	}
	return notes
}

// indexByID returns the bodies of objects by the id that each has in the plan; the
// first of several with one id.
func indexByID(objects []RenderedObject, namespace string) map[string]map[string]any {
	bodies := make([]map[string]any, 0, len(objects))
	for _, o := range objects {
		bodies = append(bodies, o.Body)
	}
	scopes := preview.NewScopes(bodies)
	out := make(map[string]map[string]any, len(bodies))
	for _, body := range bodies {
		id := PlannedID(body, scopes, namespace)
		if _, taken := out[id]; !taken {
			out[id] = body
		}
	}
	return out
}

// PlannedID returns the id that a rendered object has in the plan. A namespaced object
// without a namespace gets that one, the release's.
func PlannedID(body map[string]any, scopes preview.Scopes, namespace string) string {
	ref := preview.RefOf(body)
	switch namespaced := scopes.Namespaced(ref.Group(), ref.Kind); {
	case !namespaced:
		ref.Namespace = ""
	case ref.Namespace == "":
		ref.Namespace = namespace
	}
	return ref.ID()
}
