package registryv1

import (
	"testing"
	"testing/fstest"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

// FuzzBundle holds that no annotations, manifest, properties or configuration
// make Detect or Render panic, that what renders has a canonical form, and
// that Detect and Render see the same CSV.
func FuzzBundle(f *testing.F) {
	withHooks := baseCSV + "  webhookdefinitions:\n  - " + hook + "\n"
	config := "deploymentConfig: {env: [{name: A}], affinity: {podAffinity: {}}, annotations: {a: b}}"
	f.Add(baseAnnotations, baseCSV, "", "")
	f.Add(baseAnnotations, withHooks+"---"+baseCRD, "properties: [{type: a, value: b}]", config)
	f.Add("annotations:\n  a: &x [b]\n  c: *x", "kind: List\napiVersion: v1\nitems: []", "properties: {}", "watchNamespace: a")
	f.Add("", `{"kind": "ClusterServiceVersion", "apiVersion": "v1", "metadata": null, "spec": []}`, "[", "[]")
	f.Fuzz(func(t *testing.T, annotations, csv, properties, values string) {
		content := fstest.MapFS{
			annotationsFile:      {Data: []byte(annotations)},
			propertiesFile:       {Data: []byte(properties)},
			"manifests/crd.yaml": {Data: []byte(baseCRD)},
			"manifests/csv.yaml": {Data: []byte(csv)},
		}
		info, detectErr := New().Detect(content)
		in := format.Input{Content: content, Release: preview.Release{Name: "demo", Namespace: "demo-system"}}
		if docs, err := preview.Decode([]byte(values)); err == nil && len(docs) == 1 {
			in.Params.Values, _ = docs[0].(map[string]any)
		}
		out, err := New().Render(t.Context(), in)
		if err != nil {
			return
		}
		if detectErr != nil {
			t.Fatalf("rendered what Detect refuses: %v", detectErr)
		}
		if info == nil && len(out.Objects) == 0 {
			return
		}
		for _, o := range out.Objects {
			if _, err := preview.Canonical(o.Body); err != nil {
				t.Fatal(err)
			}
		}
	})
}
