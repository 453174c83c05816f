package schema_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/schema"
)

func parse(t testing.TB, text string) map[string]any {
	t.Helper()
	docs, err := preview.Decode([]byte(text))
	if err != nil || len(docs) != 1 {
		t.Fatalf("decoding the test's own object: %d documents, %v", len(docs), err)
	}
	return docs[0].(map[string]any)
}

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: things, kind: Thing}
  versions:
  - name: v2
    served: false
    storage: false
    schema: {openAPIV3Schema: {type: object}}
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [size, mode]
            x-kubernetes-validations: [{rule: "self.size != 7 || self.mode != 'safe'", message: seven is never safe}]
            properties:
              size: {type: integer, format: int64, minimum: 1}
              mode: {type: string, enum: [fast, safe], default: safe}
              name: {type: string, pattern: '^[a-z]+$'}
              any: {type: object, x-kubernetes-preserve-unknown-fields: true}
              port: {x-kubernetes-int-or-string: true}
              tags: {type: array, x-kubernetes-list-type: set, items: {type: string}}
              members:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [key]
                items: {type: object, required: [key], properties: {key: {type: string}, weight: {type: integer, default: 1}}}
`

func TestValidate(t *testing.T) {
	for _, test := range []struct {
		name, spec string
		want       []string
	}{
		{"a resource that fits", "{size: 1, any: {a: [1]}, port: http, members: [{key: a}, {key: b}]}", nil},
		{"an integer no double holds", "{size: 9007199254740993}", nil},
		{"a field that is missing, beside one with a default", "{}", []string{"spec.size: is required"}},
		{"a field nobody declared", "{size: 1, zork: 2}", []string{"spec.zork: field not declared in schema"}},
		{"a value of another type", "{size: big}", []string{`spec.size: must be of type integer: "string"`}},
		{"a value out of range", "{size: 0}", []string{"spec.size: should be greater than or equal to 1"}},
		{"a value out of an enumeration", "{size: 1, mode: slow}", []string{"spec.mode: should be one of [fast safe]"}},
		{"a value that does not match", "{size: 1, name: A1}", []string{"spec.name: should match '^[a-z]+$'"}},
		{"a list with one key twice", "{size: 1, members: [{key: a}, {key: a}]}", []string{"spec.members[1]: FieldValueDuplicate"}},
		{"a rule in CEL that does not hold, by a default too", "{size: 7, members: [{key: a}]}", []string{"spec: seven is never safe"}},
		{"a set with one item twice", "{size: 1, tags: [a, a]}", []string{"spec.tags[1]: FieldValueDuplicate"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			resource := parse(t, "{apiVersion: example.com/v1, kind: Thing, metadata: {name: a}, spec: "+test.spec+"}")
			before, err := preview.Hash(resource)
			if err != nil {
				t.Fatal(err)
			}
			got, err := schema.Validate(parse(t, definition), resource)
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("got %q and %v, want %q", got, err, test.want)
			}
			if after, err := preview.Hash(resource); after != before || err != nil {
				t.Error("the resource was changed")
			}
		})
	}
}

func TestValidateSaysWhyADefinitionIsOfNoUse(t *testing.T) {
	for _, test := range []struct{ name, definition, apiVersion, want string }{
		{"a version that is not defined", definition, "example.com/v3", "does not define example.com/v3"},
		{"a version that is not served", definition, "example.com/v2", "v2 is not served"},
		{"a version without schema", "{metadata: {name: a}, spec: {group: example.com, versions: [{name: v1, served: true}]}}", "example.com/v1", "no schema"},
		{"a schema that refers elsewhere", "{spec: {group: example.com, versions: [{name: v1, served: true, schema: {openAPIV3Schema: {type: object, $ref: x}}}]}}", "example.com/v1", "$ref"},
		{"a pattern that is none", "{spec: {group: example.com, versions: [{name: v1, served: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, additionalProperties: {type: string, pattern: '['}}}}}}]}}", "example.com/v1", ""},
		{"a definition that is none", "{spec: {versions: 5}}", "example.com/v1", "cannot unmarshal"},
	} {
		t.Run(test.name, func(t *testing.T) {
			problems, err := schema.Validate(parse(t, test.definition), parse(t, "{apiVersion: "+test.apiVersion+", kind: Thing, spec: {a: b}}"))
			if test.want == "" {
				if err == nil && len(problems) == 0 {
					t.Error("it passed")
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestDefinitionIsFoundByGroupAndKind(t *testing.T) {
	objects := []map[string]any{parse(t, "{apiVersion: v1, kind: ConfigMap}"), parse(t, definition)}
	index := schema.NewIndex(slices.Values(objects))
	if index.Definition(preview.Ref{APIVersion: "example.com/v1", Kind: "Thing"}) == nil {
		t.Error("not found")
	}
	if index.Definition(preview.Ref{APIVersion: "other.example/v1", Kind: "Thing"}) != nil {
		t.Error("found for another group")
	}
}

// TestDefinitionsAreVisitedOnce: the schemas for thousands of resources are gathered in
// one pass, whatever their number.
func TestDefinitionsAreVisitedOnce(t *testing.T) {
	for _, n := range []int{10, 1000} {
		visits := 0
		index := schema.NewIndex(func(yield func(map[string]any) bool) {
			for range n {
				if visits++; !yield(parse(t, definition)) {
					return
				}
			}
		})
		resource := parse(t, "{apiVersion: example.com/v1, kind: Thing, spec: {unheard: of}}")
		for range n {
			if problems, err := index.Problems(resource); err != nil || len(problems) == 0 {
				t.Fatalf("got %v, %v; want a field that is not declared", problems, err)
			}
		}
		if visits != n {
			t.Errorf("%d visits for %d definitions", visits, n)
		}
	}
}

// FuzzValidate holds that no definition and resource a bundle may bring panics
// or grows the answer without end.
func FuzzValidate(f *testing.F) {
	f.Add(`{"type":"object","properties":{"spec":{"type":"object","required":["a"],"properties":{"a":{"type":"integer","default":1}}}}}`, `{"b":1}`)
	f.Add(`{"type":"object","properties":{"spec":{"type":"string","pattern":"["}}}`, `{"a":[]}`)
	f.Add(`{"type":"object","properties":{"spec":{"allOf":[{"not":{"required":["a"]}}],"type":"object","additionalProperties":{"type":"array","items":{"type":"object"}}}}}`, `{"a":[1,null]}`)
	f.Add(`{"type":"object","properties":{"spec":{"x-kubernetes-int-or-string":true,"enum":[1,"x",null]}}}`, `18446744073709551615`)
	f.Fuzz(func(t *testing.T, schemaText, specText string) {
		props, err := preview.DecodeJSON([]byte(schemaText))
		if err != nil {
			return
		}
		spec, err := preview.DecodeJSON([]byte(specText))
		if err != nil {
			return
		}
		crd := map[string]any{"metadata": map[string]any{"name": "a"}, "spec": map[string]any{
			"group": "example.com", "versions": []any{map[string]any{"name": "v1", "served": true, "schema": map[string]any{"openAPIV3Schema": props}}},
		}}
		problems, _ := schema.Validate(crd, map[string]any{"apiVersion": "example.com/v1", "kind": "Thing", "spec": spec})
		if len(problems) > 50 {
			t.Errorf("%d problems", len(problems))
		}
	})
}
