package format

import (
	"cmp"
	"fmt"
	"maps"
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
// field that differs, because its value comes from a clock or a random source, and one for
// each object that only one of them makes. Objects are matched by id; the rest are matched
// in pairs of one kind and namespace, as names may be random too. namespace is for objects
// without one. Notes contain no values.
func NoteDifferences(first, second []RenderedObject, namespace string) []preview.Note {
	a, b := indexByID(first, namespace), indexByID(second, namespace)
	var notes []preview.Note
	note := func(id, text string) {
		notes = append(notes, rules.Nondeterministic.Note(id, text))
	}
	compare := func(id string, body, other map[string]any) {
		for _, change := range diff.Changes(body, other) {
			if change.Path == ".metadata.name" {
				continue // said of the object as a whole
			}
			note(id, change.Path+" comes from a clock or a random source: a second rendering gave another value")
		}
	}
	added := map[string][]string{} // ids of the second alone, by kind and namespace
	for _, id := range slices.Sorted(maps.Keys(b)) {
		if body, both := a[id]; both {
			compare(id, body, b[id])
		} else {
			added[kindOf(id)] = append(added[kindOf(id)], id)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(a)) {
		if _, both := b[id]; both {
			continue
		}
		note(id, "a second rendering does not make this object; its name, or whether it exists, comes from a clock or a random source")
		if others := added[kindOf(id)]; len(others) > 0 {
			compare(id, a[id], b[others[0]])
			added[kindOf(id)] = others[1:]
		}
	}
	return append(limited(notes), addedNotes(added)...)
}

// AddedObjects returns the ids of the objects that the second of two renderings makes and
// the first does not, sorted. One in the place of another of the same kind and namespace
// does not count.
func AddedObjects(first, second []RenderedObject, namespace string) []string {
	var ids []string
	for _, n := range NoteDifferences(first, second, namespace) {
		if n.Rule == rules.ObjectsByChance.Name {
			ids = append(ids, n.Object)
		}
	}
	return ids
}

func addedNotes(added map[string][]string) []preview.Note {
	var notes []preview.Note
	for _, key := range slices.Sorted(maps.Keys(added)) {
		for _, id := range added[key] {
			notes = append(notes, rules.ObjectsByChance.Note(id, rules.ObjectsByChance.Text))
		}
	}
	if extra := len(notes) - maxNondeterministic; extra > 0 {
		notes = notes[:maxNondeterministic]
		notes[0].Text = fmt.Sprintf("only a second rendering makes this and %d more objects: whether they exist comes from a clock or a random source", extra)
	}
	return notes
}

// kindOf returns the API group, kind and namespace of an id.
func kindOf(id string) string { return id[:strings.LastIndexByte(id, '/')+1] }

// limited returns the notes about fields in order, at most [maxNondeterministic].
func limited(notes []preview.Note) []preview.Note {
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
