package schema_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview/schema"
)

func TestStoredObjectsAreHeldToTheNewSchema(t *testing.T) {
	const loose = "{type: object, properties: {size: {type: integer, format: int64}, mode: {type: string}, old: {type: string}, tags: {type: array, items: {type: string}}}}"
	for _, test := range []struct {
		name, before, after, object string
		refused, dropped            []string
	}{
		{"a value below the new minimum", loose, "{type: object, properties: {size: {type: integer, format: int64, minimum: 3}}}", "{size: 2}",
			[]string{"spec.size: should be greater than or equal to 3"}, nil},
		{"a field that becomes required", loose, "{type: object, required: [mode], properties: {mode: {type: string}}}", "{}",
			[]string{"spec.mode: is required"}, nil},
		{"a field that becomes required and has a default", loose, "{type: object, required: [mode], properties: {mode: {type: string, default: a}}}", "{}", nil, nil},
		{"a value that is allowed no more", loose, "{type: object, properties: {mode: {type: string, enum: [fast]}}}", "{mode: slow}",
			[]string{"spec.mode: should be one of [fast]"}, nil},
		{"a field that is gone is dropped, not refused", loose, "{type: object, properties: {mode: {type: string}}}", "{mode: a, old: b}",
			nil, []string{"spec.old"}},
		{"a list that becomes a set", loose, "{type: object, properties: {tags: {type: array, x-kubernetes-list-type: set, items: {type: string}}}}", "{tags: [a, a]}",
			[]string{"spec.tags[1]: FieldValueDuplicate"}, nil},
		{"a rule that does not hold", loose, "{type: object, properties: {size: {type: integer, format: int64}}, x-kubernetes-validations: [{rule: 'self.size > 2', message: too small}]}", "{size: 2}",
			[]string{"spec: too small"}, nil},
		{"a rule without a message", loose, "{type: object, properties: {size: {type: integer, format: int64}}, x-kubernetes-validations: [{rule: 'self.size > 2'}]}", "{size: 2}",
			[]string{"spec: failed rule: self.size > 2"}, nil},
		{"a rule whose message would quote a value", loose, `{type: object, properties: {mode: {type: string}}, x-kubernetes-validations: [{rule: 'self.mode == "a"', messageExpression: '"it is " + self.mode'}]}`, "{mode: s3cret}",
			[]string{`spec: failed rule: self.mode == "a"`}, nil},
		{"a rule about the earlier value", loose, "{type: object, properties: {size: {type: integer, format: int64, x-kubernetes-validations: [{rule: 'self < oldSelf'}]}}}", "{size: 2}", nil, nil},
		{"what did not fit before either", "{type: object, properties: {size: {type: integer, minimum: 3}}}", "{type: object, properties: {size: {type: integer, minimum: 3}, other: {type: string}}}", "{size: 2}", nil, nil},
		{"an object that fits", loose, "{type: object, properties: {size: {type: integer, minimum: 1}}}", "{size: 2}", nil, nil},
		{"a schema that begins to take anything", loose, "{type: object, x-kubernetes-preserve-unknown-fields: true}", "{size: 2, old: a}", nil, nil},
		{"a schema that stops taking anything", "{type: object, x-kubernetes-preserve-unknown-fields: true}", loose, "{zork: 2}", nil, []string{"spec.zork"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			checker := schema.NewChecker(definitionWith(t, test.before), definitionWith(t, test.after))
			if checker == nil || len(checker.Unchecked) > 0 || !slices.Equal(checker.ReadAs, []string{"v1"}) {
				t.Fatalf("checker %+v", checker)
			}
			got, err := checker.Check(t.Context(), parse(t, "{apiVersion: example.com/v1, kind: Thing, metadata: {name: a}, spec: "+test.object+"}"))
			if err != nil || !slices.Equal(got.Refused, test.refused) || !slices.Equal(got.Dropped, test.dropped) {
				t.Errorf("got %+v and %v", got, err)
			}
		})
	}
}

func TestNothingIsReadWhereNothingCanBreak(t *testing.T) {
	a := definitionWith(t, "{type: object, description: one, properties: {description: {type: string, description: x}}}")
	b := definitionWith(t, "{type: object, description: two, properties: {description: {type: string}}}")
	if checker := schema.NewChecker(a, b); checker != nil {
		t.Error("another description is no reason to read")
	}
	if checker := schema.NewChecker(a, definitionWith(t, "{type: object}")); checker == nil {
		t.Error("the property named description was not seen to go")
	}
}

const twoVersions = `{metadata: {name: a}, spec: {group: example.com, names: {kind: Thing}, versions: [
{name: v1beta2, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {a: {type: string}, b: {type: string}}}}}}},
{name: v1, served: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {a: {type: string}, b: {type: string}}}}}}}]}}`

const newVersion = `{metadata: {name: a}, spec: {group: example.com, names: {kind: Thing}, CONVERSION versions: [
{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {a: {type: string, maxLength: 1}}}}}}}]}}`

func TestObjectsOfAVersionThatGoesAreHeldToTheOneThatStays(t *testing.T) {
	checker := schema.NewChecker(parse(t, twoVersions), parse(t, strings.ReplaceAll(newVersion, "CONVERSION", "")))
	if checker == nil || !slices.Equal(checker.ReadAs, []string{"v1beta2", "v1"}) {
		t.Fatalf("%+v", checker)
	}
	got, err := checker.Check(t.Context(), parse(t, "{apiVersion: example.com/v1beta2, kind: Thing, spec: {a: long, b: x}}"))
	if err != nil || !slices.Equal(got.Refused, []string{"as v1: spec.a: should be at most 1 chars long"}) ||
		!slices.Equal(got.Dropped, []string{"as v1: spec.b"}) {
		t.Errorf("got %+v and %v", got, err)
	}
	narrow := strings.Replace(twoVersions, "name: v1, served: true, schema: {openAPIV3Schema: {type: object, ", "name: v1, served: true, schema: {openAPIV3Schema: {type: object, required: [spec], ", 1)
	checker = schema.NewChecker(parse(t, narrow), parse(t, strings.Replace(narrow, "name: v1beta2, served: true", "name: v1beta2, served: false", 1)))
	got, err = checker.Check(t.Context(), parse(t, "{apiVersion: example.com/v1beta2, kind: Thing}"))
	if err != nil || !slices.Equal(got.Refused, []string{"as v1: spec: is required"}) {
		t.Errorf("a version that stays as it is: got %+v and %v", got, err)
	}
	webhook := strings.ReplaceAll(newVersion, "CONVERSION", "conversion: {strategy: Webhook},")
	checker = schema.NewChecker(parse(t, twoVersions), parse(t, webhook))
	if len(checker.Unchecked) != 1 || !strings.Contains(checker.Unchecked[0], "version v1: the conversion webhook decides") {
		t.Errorf("%+v", checker.Unchecked)
	}
}

func TestDefinitionsThatCannotBeUsedAreToldApartFromObjects(t *testing.T) {
	good := definitionWith(t, "{type: object, properties: {a: {type: string}}}")
	object := parse(t, "{apiVersion: example.com/v1, kind: Thing, spec: {a: b}}")
	for _, test := range []struct{ name, spec, want string }{
		{"a rule that does not compile", "{type: object, x-kubernetes-validations: [{rule: 'self.zork >'}]}", "rule compile error"},
		{"a pattern that is none", "{type: object, properties: {a: {type: string, pattern: '['}}}", ""},
		{"a pattern that grows", "{type: object, properties: {a: {type: string, pattern: '(((a{1000}){1000}){1000})'}}}", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			checker := schema.NewChecker(good, definitionWith(t, test.spec))
			if len(checker.Unchecked) > 0 {
				return
			}
			verdict, err := checker.Check(t.Context(), object)
			if test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %+v and %v", verdict, err)
			}
			if test.want == "" && err == nil && len(verdict.Refused) == 0 {
				t.Error("it passed")
			}
		})
	}
	bare := parse(t, "{spec: {group: example.com, names: {kind: Thing}, versions: [{name: v1, served: true, storage: true}]}}")
	if checker := schema.NewChecker(good, bare); checker == nil || len(checker.Unchecked) != 1 || !strings.Contains(checker.Unchecked[0], "no schema") {
		t.Errorf("a definition without schema: %+v", checker)
	}
}

// Five thousand objects take a second, and no more memory than one.
func TestManyObjectsTakeLittleTimeAndMemory(t *testing.T) {
	checker := schema.NewChecker(parse(t, definition), parse(t, strings.ReplaceAll(definition, "minimum: 1", "minimum: 2")))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start, refused := time.Now(), 0
	for i := range 5_000 {
		verdict, err := checker.Check(ctx, map[string]any{
			"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{"name": fmt.Sprint(i)},
			"spec": map[string]any{"size": int64(1 + i%2), "members": []any{map[string]any{"key": "a"}, map[string]any{"key": "b"}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		refused += len(verdict.Refused)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	t.Logf("5,000 objects in %v", time.Since(start).Round(time.Millisecond))
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 4<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
	if refused != 2_500 {
		t.Errorf("%d refused", refused)
	}
}
