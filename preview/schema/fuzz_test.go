package schema_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/schema"
)

// seedDefinitions adds pairs of real definitions, and of some without schema or
// with schemas that take anything.
func seedDefinitions(f *testing.F) {
	f.Helper()
	texts := []string{
		definition, twoVersions, newVersion, "{}",
		"{spec: {group: example.com, names: {kind: Thing}, versions: [{name: v1, served: true, storage: true}]}}",
		"{spec: {group: example.com, names: {kind: Thing}, preserveUnknownFields: true, versions: [{name: v1, served: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}",
	}
	if files, err := filepath.Glob(filepath.Join(corpustest.Dir(f, "plain", "crd-upgrade-safety"), "*.json")); err == nil {
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			texts = append(texts, string(data))
		}
	}
	for i, text := range texts {
		f.Add([]byte(text), []byte(texts[(i+1)%len(texts)]))
	}
}

// definitionIn reads the only document; nil when that is no object.
func definitionIn(data []byte) map[string]any {
	docs, err := preview.Decode(data)
	if err != nil || len(docs) != 1 {
		return nil
	}
	body, _ := docs[0].(map[string]any)
	return body
}

func FuzzCompare(f *testing.F) {
	seedDefinitions(f)
	f.Fuzz(func(t *testing.T, older, newer []byte) {
		before, after := definitionIn(older), definitionIn(newer)
		if before == nil || after == nil {
			return
		}
		first := lines(schema.Compare(before, after, []string{"v1"}))
		if second := lines(schema.Compare(before, after, []string{"v1"})); first != second {
			t.Errorf("it says %q and then %q", first, second)
		}
		for _, issue := range schema.Compare(before, before, nil) {
			if issue.Rule.Name != rules.CRDSchemaUnchecked.Name {
				t.Errorf("a definition differs from itself: %s", issue)
			}
		}
	})
}

func FuzzNewChecker(f *testing.F) {
	seedDefinitions(f)
	f.Fuzz(func(t *testing.T, older, newer []byte) {
		before, after := definitionIn(older), definitionIn(newer)
		if before == nil || after == nil {
			return
		}
		checker := schema.NewChecker(before, after)
		if checker == nil {
			return
		}
		for _, version := range append([]string{"v1"}, checker.ReadAs...) {
			object := map[string]any{
				"apiVersion": checker.Group + "/" + version, "kind": checker.Kind, "metadata": map[string]any{"name": "a"},
				"spec": map[string]any{"size": int64(1), "a": "b", "list": []any{"x", nil}},
			}
			if _, err := checker.Check(t.Context(), object); err != nil && err.Error() == "" {
				t.Error("an error without words")
			}
		}
	})
}
