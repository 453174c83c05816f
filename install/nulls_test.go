package install_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

const nullsDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: rels.nulls.example.com}
spec:
  group: nulls.example.com
  names: {kind: Rel, plural: rels}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              values: {type: object, x-kubernetes-preserve-unknown-fields: true}
              maybe: {type: string, nullable: true, default: "on"}
              list: {type: array, items: {type: object, properties: {a: {type: string}}}}
              texts: {type: object, additionalProperties: {type: string}}
              orNull: {type: object, additionalProperties: {type: string, nullable: true}}
              size: {type: integer, default: 3}
`

// TestClusterNullsAreWhatTheServerTakesThemFor: a package's object with nulls is stored as
// the API server stores it where it is created as it stands, and as the review predicts it.
func TestClusterNullsAreWhatTheServerTakesThemFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "nulls")
	raw := sandboxtest.NewRawClient(t, w.sandbox.Kubeconfig())
	w.applyQuietly(t, w.plan(t, w.content(t, "1.0.0", nullsDefinition)))
	manifests := []string{
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: one, annotations: {a: null}, labels: {l: null}}, data: {empty: null, some: x}}`,
		`{apiVersion: v1, kind: Secret, metadata: {name: one}, data: {gone: null}, stringData: {empty: null, some: x}}`,
		`{apiVersion: v1, kind: Service, metadata: {name: one}, spec: {type: null, selector: {app: null}, ports: [{port: 80, protocol: null}]}}`,
		`{apiVersion: nulls.example.com/v1, kind: Rel, metadata: {name: one},
  spec: {values: {a: null, b: {c: null}}, maybe: null, size: null, list: [{a: null}], texts: {t: null}, orNull: {t: null}}}`,
	}
	plan := w.plan(t, w.content(t, "2.0.0", append([]string{nullsDefinition}, manifests...)...))
	w.applyQuietly(t, plan)
	for _, text := range manifests {
		asItIs := body(t, strings.Replace(text, "name: one", "name: other", 1))
		ref := preview.RefOf(asItIs)
		plural, err := w.Plural(t.Context(), ref.APIVersion, ref.Kind)
		if err != nil {
			t.Fatal(err)
		}
		root := "/api/"
		if ref.Group() != "" {
			root = "/apis/"
		}
		status, stored, err := raw.Do(t.Context(), http.MethodPost, root+ref.APIVersion+"/namespaces/"+w.release.Namespace+"/"+plural, "", asItIs)
		if err != nil || status != http.StatusCreated {
			t.Fatalf("%s: %d, %v, %v", ref.Kind, status, stored, err)
		}
		ours := w.read(t, ref.APIVersion, ref.Kind, w.release.Namespace, "one")
		ref.Namespace, ref.Name = w.release.Namespace, "one"
		o := plan.Object(ref.ID())
		if o.ResultBody == nil {
			t.Fatalf("%s: no result was predicted", ref.Kind)
		}
		for _, field := range []string{"data", "spec"} {
			of := func(body map[string]any) string { // numbers are of several types
				m := preview.CloneBody(preview.Map(body, field))
				for _, chosen := range []string{"clusterIP", "clusterIPs"} { // by the server, each time anew
					delete(m, chosen)
				}
				return fmt.Sprint(m)
			}
			if of(ours) != of(stored) {
				t.Errorf("%s: the apply leaves %s %v, and creating it as it is %v", ref.Kind, field, of(ours), of(stored))
			}
			if of(ours) != of(o.ResultBody) {
				t.Errorf("%s: the review predicts %s %v, and it is %v", ref.Kind, field, of(o.ResultBody), of(ours))
			}
		}
	}
	if live := w.read(t, "v1", "ConfigMap", w.release.Namespace, "one"); preview.Value(live, "data", "empty") != "" || preview.Value(live, "metadata", "annotations", "a") != "" {
		t.Errorf("a null in a map of texts is %v", live)
	}
}
