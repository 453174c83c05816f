package format

import (
	"slices"
	"testing"

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
