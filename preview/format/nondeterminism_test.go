package format

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

func TestTwoRenderingsAreComparedFieldByField(t *testing.T) {
	object := func(kind, name string, data map[string]any) RenderedObject {
		return RenderedObject{Body: map[string]any{
			"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": name}, "data": data,
		}}
	}
	first := []RenderedObject{
		object("ConfigMap", "same", map[string]any{"a": "1"}),
		object("Secret", "s", map[string]any{"user": "admin", "password": "first"}),
		object("Namespace", "n", nil),
		object("ConfigMap", "only-here", nil),
	}
	second := []RenderedObject{
		object("Secret", "s", map[string]any{"user": "admin", "password": "second"}),
		object("ConfigMap", "same", map[string]any{"a": "1"}),
		object("Namespace", "n", map[string]any{"new": "x"}),
	}
	var got []string
	for _, n := range NoteDifferences(first, second, "here") {
		if n.Rule != rules.Nondeterministic.Name {
			t.Errorf("rule %s", n.Rule)
		}
		got = append(got, n.Object+" "+n.Text[:9])
	}
	want := []string{"core/ConfigMap/here/only-here a second ", "core/Namespace/-/n .data.new", "core/Secret/here/s .data.pas"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if notes := NoteDifferences(first, first, "here"); len(notes) != 0 {
		t.Errorf("the same twice: %v", notes)
	}
}

// Additions of a second rendering are not in the review: a note names each such object,
// even with many other differences, but not one that only has another name.
func TestWhatASecondRenderingAddsIsNotKnown(t *testing.T) {
	object := func(kind, name string, data any) RenderedObject {
		return RenderedObject{Body: map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": name}, "data": data}}
	}
	first, second := []RenderedObject{object("ConfigMap", "a-1", nil)}, []RenderedObject{object("ConfigMap", "b-2", nil)}
	if added := AddedObjects(first, second, "here"); len(added) != 0 {
		t.Errorf("another name counts as added: %v", added)
	}
	for i := range 2 * maxNondeterministic {
		name := "s-" + strconv.Itoa(i)
		first, second = append(first, object("Secret", name, map[string]any{"a": "1"})), append(second, object("Secret", name, map[string]any{"a": "2"}))
	}
	second = append(second, object("ConfigMap", "c-3", nil), object("ServiceAccount", "x", nil))
	want := []string{"core/ConfigMap/here/c-3", "core/ServiceAccount/here/x"}
	if added := AddedObjects(first, second, "here"); !slices.Equal(added, want) {
		t.Errorf("added %v, want %v", added, want)
	}
	for i := range 2 * maxNondeterministic {
		second = append(second, object("Service", strconv.Itoa(i), nil))
	}
	notes := NoteDifferences(first, second, "here")
	if n := len(notes); n > 2*maxNondeterministic+1 || !slices.ContainsFunc(notes, func(n preview.Note) bool { return strings.Contains(n.Text, " and 202 more objects") }) {
		t.Errorf("%d notes", n)
	}
}
