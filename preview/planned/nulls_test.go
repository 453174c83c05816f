package planned

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// Nulls of a custom resource stay where the CRD of the plan allows them, and where no CRD
// says what they mean; those that are dropped are notes.
func TestNullsOfCustomResourcesFollowTheirDefinition(t *testing.T) {
	decoded, err := preview.Decode([]byte(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: rels.demo.example.com}
spec:
  group: demo.example.com
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
              size: {type: integer, default: 3}
---
{apiVersion: demo.example.com/v1, kind: Rel, metadata: {name: r}, spec: {values: {a: null, b: {c: null}}, maybe: null, size: null, list: [{a: null}], texts: {t: null}}}
---
{apiVersion: other.example.com/v1, kind: Rel, metadata: {name: r, labels: {l: null}}, spec: {values: {a: null}, size: null}}
`))
	if err != nil {
		t.Fatal(err)
	}
	m := Material{Output: &format.Output{}, Sources: []preview.Source{{Kind: "directory", Digest: "sha256:" + strings.Repeat("0", 64)}}}
	m.Info.Package = "demo"
	for _, doc := range decoded {
		m.Output.Objects = append(m.Output.Objects, format.RenderedObject{Body: doc.(map[string]any)})
	}
	c, err := Prepare(preview.Release{Name: "demo", Namespace: "app"}, m)
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{
		"demo.example.com/Rel/app/r":  `{"list":[{}],"maybe":null,"texts":{},"values":{"a":null,"b":{"c":null}}}`,
		"other.example.com/Rel/app/r": `{"size":null,"values":{"a":null}}`,
	} {
		i := slices.IndexFunc(c.Objects, func(o preview.Object) bool { return o.ID == id })
		if i < 0 {
			t.Fatalf("no object %s", id)
		}
		if got, _ := json.Marshal(c.Objects[i].Planned["spec"]); string(got) != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
	var dropped []string
	for _, n := range c.Package.Notes {
		if n.Rule == rules.NullNotSent.Name {
			dropped = append(dropped, n.Object+" "+strings.Fields(n.Text)[0])
		}
	}
	slices.Sort(dropped)
	if want := []string{"demo.example.com/Rel/app/r .spec.list[0].a", "demo.example.com/Rel/app/r .spec.size", "demo.example.com/Rel/app/r .spec.texts.t"}; !slices.Equal(dropped, want) {
		t.Errorf("dropped %q, want %q", dropped, want)
	}
}

func TestANameThatYAMLReadsAsABooleanIsSaidToBeOne(t *testing.T) {
	decoded, err := preview.Decode([]byte("apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	err = CheckIdentity(decoded[0].(map[string]any))
	if want := "HorizontalPodAutoscaler: its metadata.name is the boolean false, as YAML 1.1 reads words such as y, n, yes, no, on and off; quote it"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
