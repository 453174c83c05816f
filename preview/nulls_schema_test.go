package preview_test

import (
	"slices"
	"testing"

	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/schema"

	"github.com/kubectl-operator/kubectl-operator/k8s/mergeschema"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// step is a field on the way to a map; list says that it has a list of them.
type step struct {
	field string
	list  bool
}

// eachMap calls use with the way to each map with keys of any name, and whether its values
// are texts.
func eachMap(s *schema.Schema, at schema.TypeRef, way []step, seen []string, use func(way []step, texts bool)) {
	if name := at.NamedType; name != nil {
		if slices.Contains(seen, *name) {
			return // a type within itself
		}
		seen = append(slices.Clone(seen), *name)
	}
	atom, ok := s.Resolve(at)
	switch {
	case !ok:
	case atom.List != nil && len(way) > 0:
		last := len(way) - 1
		way = append(slices.Clone(way[:last]), step{way[last].field, true})
		eachMap(s, atom.List.ElementType, way, seen, use)
	case atom.Map != nil && len(atom.Map.Fields) > 0:
		for _, f := range atom.Map.Fields {
			eachMap(s, f.Type, append(slices.Clone(way), step{field: f.Name}), seen, use)
		}
	case atom.Map != nil && atom.Scalar == nil && atom.Map.ElementType != (schema.TypeRef{}):
		of := atom.Map.ElementType
		texts := of.Inlined.Scalar != nil && *of.Inlined.Scalar == schema.String && of.Inlined.Map == nil
		use(way, texts)
		if !texts {
			eachMap(s, of, append(slices.Clone(way), step{field: "key"}), seen, use)
		}
	}
}

// A null in a map of texts is an empty text, and one in any other map of a built-in kind is
// not set: for every map of every kind, as its schema has it.
func TestNullsInTheMapsOfAllKinds(t *testing.T) {
	types := &mergeschema.Parser().Schema
	maps, texts := 0, 0
	for kind := range scheme.Scheme.AllKnownTypes() {
		name, err := scheme.Scheme.ToOpenAPIDefinitionName(kind)
		if err != nil {
			continue // options of requests
		}
		eachMap(types, schema.TypeRef{NamedType: &name}, nil, nil, func(way []step, isTexts bool) {
			if slices.ContainsFunc(way, func(s step) bool { return s.field == "status" }) {
				return // no plan sends one
			}
			inner := map[string]any{"key": nil}
			var value any = inner
			for _, s := range slices.Backward(way) {
				if s.list {
					value = []any{value}
				}
				value = map[string]any{s.field: value}
			}
			body := value.(map[string]any)
			body["apiVersion"], body["kind"] = kind.GroupVersion().String(), kind.Kind
			preview.DropNulls(body)
			got, is := inner["key"]
			maps++
			if isTexts {
				texts++
			}
			if isTexts && got != "" || !isTexts && is {
				t.Errorf("%s %v: a null is %#v; its values are texts: %t", kind, way, got, isTexts)
			}
		})
	}
	t.Logf("%d maps, %d of them of texts", maps, texts)
	if texts < 300 || maps == texts {
		t.Error("these are too few")
	}
}
