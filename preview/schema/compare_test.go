package schema_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/schema"
)

func TestUpgradesOfOLMsOwnTestDataAreJudgedAsTheirNamesSay(t *testing.T) {
	dir := corpustest.Dir(t, "plain", "crd-upgrade-safety")
	read := func(name string) map[string]any {
		data, err := os.ReadFile(filepath.Join(dir, name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		v, err := preview.DecodeJSON(data)
		if err != nil {
			t.Fatal(err)
		}
		return v.(map[string]any)
	}
	for _, test := range []struct {
		before, after string
		want          []string
	}{
		{"old-crd", "crd-valid-upgrade", nil},
		{"old-crd", "crd-description-changed", nil},
		{"old-crd", "old-crd", nil},
		{"old-crd", "crd-field-removed", []string{
			"crd-field-removed warning: v2 spec.removedField: field integer → none",
			"crd-versions-differ info: v1 to v2 spec.removedField: field integer → none",
			`crd-versions-differ info: v1 to v3 spec.enum: type "string" → "integer"`,
		}},
		{"old-crd", "crd-invalid-upgrade", []string{
			`crd-default-changed info: v2 spec.defaultVal: default none → "foo"`,
			`crd-enum-narrowed warning: v2 spec.enum: enum "c" → none`,
			"crd-maximum-lowered warning: v2 spec.minMaxItems: maxItems none → 2",
			"crd-maximum-lowered warning: v2 spec.minMaxLength: maxLength none → 10",
			"crd-maximum-lowered warning: v2 spec.minMaxValue: maximum none → 3",
			"crd-maximum-lowered warning: v2 maxProperties none → 20",
			"crd-minimum-raised warning: v2 spec.minMaxItems: minItems none → 1",
			"crd-minimum-raised warning: v2 minProperties none → 1",
			`crd-required-added warning: v2 required none → "requiredAdded"`,
			`crd-scope-changed critical: scope "Cluster" → "Namespaced"`,
			"crd-stored-version-removed critical: v1 stored version defined → none",
		}},
		{"crd-complex-breaking-changes-old", "crd-complex-breaking-changes-new", []string{
			"crd-nullable-changed info: v1beta1 ",
			"crd-schema-changed warning: v1beta1 ",
			"crd-type-changed warning: v1beta1 ",
		}},
	} {
		t.Run(test.before+" to "+test.after, func(t *testing.T) {
			before := read(test.before)
			var got []string
			for _, issue := range schema.Compare(before, read(test.after), storedIn(before)) {
				got = append(got, issue.Rule.Name+" "+string(issue.Severity)+": "+issue.String())
			}
			for _, want := range test.want {
				if !slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, want) }) {
					t.Errorf("misses %q", want)
				}
			}
			if len(test.want) == 0 && len(got) > 0 || t.Failed() {
				t.Errorf("got %s", strings.Join(got, "\n"))
			}
		})
	}
}

func storedIn(definition map[string]any) []string {
	var out []string
	for _, v := range preview.List(definition, "status", "storedVersions") {
		out = append(out, v.(string))
	}
	return out
}

// definitionWith is a definition of one version, v1, with this schema of spec.
func definitionWith(t testing.TB, spec string) map[string]any {
	t.Helper()
	return parse(t, `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.example.com},
spec: {group: example.com, scope: Namespaced, names: {plural: things, kind: Thing}, versions: [{name: v1, served: true, storage: true,
schema: {openAPIV3Schema: {type: object, properties: {spec: `+spec+`}}}}]}}`)
}

func TestEachCheckFindsItsChangeAndNotTheOpposite(t *testing.T) {
	const plain = "{type: object, properties: {a: {type: string}}}"
	for _, test := range []struct{ name, before, after, there, back string }{
		{"a field goes with all below it", "{type: object, properties: {a: {type: object, properties: {b: {type: string}}}}}", "{type: object}",
			"crd-field-removed v1 spec.a: field object → none", ""},
		{"a type", plain, "{type: object, properties: {a: {type: integer}}}",
			`crd-type-changed v1 spec.a: type "string" → "integer"`, `crd-type-changed v1 spec.a: type "integer" → "string"`},
		{"a required field", plain, "{type: object, required: [a], properties: {a: {type: string}}}",
			`crd-required-added v1 spec: required none → "a"`, ""},
		{"a default that is false", "{type: object, properties: {a: {type: boolean}}}", "{type: object, properties: {a: {type: boolean, default: false}}}",
			"crd-default-changed v1 spec.a: default none → false", "crd-default-changed v1 spec.a: default false → none"},
		{"an enumeration", plain, "{type: object, properties: {a: {type: string, enum: [x, z]}}}",
			`crd-enum-narrowed v1 spec.a: enum none → "x" "z"`, ""},
		{"a higher minimum", "{type: integer, minimum: 1}", "{type: integer, minimum: 2}", "crd-minimum-raised v1 spec: minimum 1 → 2", ""},
		{"a lower maximum", "{type: string, maxLength: 10}", "{type: string, maxLength: 9}", "crd-maximum-lowered v1 spec: maxLength 10 → 9", ""},
		{"limits that no double tells apart", "{type: integer, maximum: 9007199254740993}", "{type: integer, maximum: 9007199254740992}",
			"crd-maximum-lowered v1 spec: maximum 9007199254740993 → 9007199254740992", ""},
		{"a pattern", "{type: string}", "{type: string, pattern: a}", `crd-pattern-changed v1 spec: pattern none → "a"`, `crd-pattern-changed v1 spec: pattern "a" → none`},
		{"null", "{type: string, nullable: true}", "{type: string, nullable: false}", "crd-nullable-changed v1 spec: nullable true → false", "crd-nullable-changed v1 spec: nullable false → true"},
		{"unknown fields", "{type: object, x-kubernetes-preserve-unknown-fields: true}", "{type: object}",
			"crd-schema-changed v1 spec: x-kubernetes-preserve-unknown-fields true → none", "crd-schema-changed v1 spec: x-kubernetes-preserve-unknown-fields none → true"},
		{"an item of a list, and a value of a map", "{type: object, properties: {l: {type: array, items: {type: string}}, m: {type: object, additionalProperties: {type: string}}}}",
			"{type: object, properties: {l: {type: array, items: {type: string, minLength: 1}}, m: {type: object, additionalProperties: {type: string, maxLength: 3}}}}",
			"crd-maximum-lowered v1 spec.m{*}: maxLength none → 3|crd-minimum-raised v1 spec.l[*]: minLength none → 1", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			before, after := definitionWith(t, test.before), definitionWith(t, test.after)
			if got := lines(schema.Compare(before, after, nil)); got != test.there {
				t.Errorf("got %q, want %q", got, test.there)
			}
			if got := lines(schema.Compare(after, before, nil)); got != test.back {
				t.Errorf("and back: got %q, want %q", got, test.back)
			}
		})
	}
}

func lines(issues []schema.Issue) string {
	var out []string
	for _, issue := range issues {
		out = append(out, issue.Rule.Name+" "+issue.String())
	}
	return strings.Join(out, "|")
}

func TestConversionWebhooksBridgeServedVersions(t *testing.T) {
	definition := func(conversion string) map[string]any {
		return parse(t, `{metadata: {name: a}, spec: {group: example.com, names: {kind: A}, conversion: `+conversion+`, versions: [
{name: v1, served: true, schema: {openAPIV3Schema: {type: object, properties: {b: {type: string}}}}},
{name: v1beta1, served: true, schema: {openAPIV3Schema: {type: object, properties: {a: {type: string}}}}},
{name: v1alpha1, served: false, schema: {openAPIV3Schema: {type: object, properties: {c: {type: string}}}}}]}}`)
	}
	none, webhook := definition("{strategy: None}"), definition("{strategy: Webhook, webhook: {clientConfig: {service: {name: s, namespace: app}}}}")
	empty := parse(t, "{metadata: {name: a}, spec: {versions: []}}")
	if got := lines(schema.Compare(empty, none, nil)); got != "crd-versions-differ v1beta1 to v1 a: field string → none" {
		t.Error(got)
	}
	if got := lines(schema.Compare(none, none, nil)); got != "" {
		t.Errorf("what was so before is told: %s", got)
	}
	if got := lines(schema.Compare(none, webhook, nil)); got != "crd-conversion-changed conversion None → Webhook" {
		t.Error(got)
	}
	moved := definition("{strategy: Webhook, webhook: {clientConfig: {service: {name: s, namespace: other, port: 443}}}}")
	if got := lines(schema.Compare(webhook, moved, nil)); got != `crd-conversion-changed webhook service "app/s:443" → "other/s:443"` {
		t.Error(got)
	}
}

// Without a schema, or with one that keeps every field, a version takes
// anything; with another one it does not.
func TestDefinitionsThatGetOrLoseTheirSchema(t *testing.T) {
	with := definitionWith(t, "{type: object, required: [a], properties: {a: {type: string}}}")
	without := definitionWith(t, "{type: object}")
	delete(preview.Maps(without, "spec", "versions")[0], "schema")
	keeps := definitionWith(t, "{type: object}")
	preview.Maps(keeps, "spec", "versions")[0]["schema"] = map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}
	for _, test := range []struct {
		name          string
		before, after map[string]any
		want          string
	}{
		{"none before and after", without, without, ""},
		{"a schema that is new", without, with, `crd-type-changed v1 type none → "object"`},
		{"a schema that is gone", with, without, `crd-field-removed v1 spec: field object → none|crd-type-changed v1 type "object" → none`},
		{"fields kept everywhere, then those listed", keeps, with, "crd-schema-changed v1 x-kubernetes-preserve-unknown-fields true → none"},
	} {
		if got := lines(schema.Compare(test.before, test.after, nil)); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

func TestDefinitionsOfNoSenseDoNotPanic(t *testing.T) {
	for _, text := range []string{"{}", "{spec: 5}", "{spec: {versions: [1, {name: 5}, {name: v1, served: true, schema: {openAPIV3Schema: {properties: {a: 1, b: {items: [], enum: 5, required: {}}}}}}]}}"} {
		schema.Compare(parse(t, text), parse(t, definition), []string{"v7"})
		schema.Compare(parse(t, definition), parse(t, text), []string{"v1"})
		schema.NewChecker(parse(t, definition), parse(t, text))
		schema.NewChecker(parse(t, text), parse(t, definition))
	}
	deep := map[string]any{}
	for range 200 {
		deep = map[string]any{"type": "array", "items": deep}
	}
	crd := definitionWith(t, "{type: object}")
	preview.Maps(crd, "spec", "versions")[0]["schema"] = map[string]any{"openAPIV3Schema": deep}
	if got := lines(schema.Compare(crd, crd, nil)); !strings.Contains(got, "crd-schema-unchecked") {
		t.Error(got)
	}
}
