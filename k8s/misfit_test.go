package k8s

import (
	"errors"
	"strings"
	"testing"
)

// A kind of an API version that no schema has is named, and not the type that was looked for.
func TestAKindThatNoKubernetesServesIsNamed(t *testing.T) {
	body := map[string]any{"apiVersion": "apiextensions.k8s.io/v1beta1", "kind": "CustomResourceDefinition"}
	err := errors.New("schema error: no type found matching: io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1beta1.CustomResourceDefinition")
	const want = "no Kubernetes of today serves CustomResourceDefinition of apiextensions.k8s.io/v1beta1"
	if got := misfitText(body, err); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The merge library walks maps, so it names several errors in another order each time.
func TestSeveralErrorsOfAnObjectHaveOneOrder(t *testing.T) {
	body := map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "d"},
		"spec": map[string]any{"wrong": 1, "worse": 2, "worst": 3, "paused": "no",
			"template": map[string]any{"spec": map[string]any{"containers": []any{
				map[string]any{"name": "c", "command": []any{map[string]any{}, 1}, "env": []any{map[string]any{"name": "A"}, map[string]any{"name": "A"}}},
				map[string]any{"name": "d", "ports": []any{map[string]any{"port": 1, "containerPort": "x"}}},
			}}}},
	}
	want := "not appliable: " + strings.Join([]string{
		`.spec.paused must be true or false, and is the string "no"`,
		`.spec.template.spec.containers[name="c"].command[0] must be a string, and is a map`,
		`.spec.template.spec.containers[name="c"].command[1] must be a string, and is the number 1`,
		`.spec.template.spec.containers[name="c"].env: duplicate entries for key [name="A"]`,
		`.spec.template.spec.containers[name="d"].ports[containerPort="x",protocol="TCP"].containerPort must be a number, and is the string "x"`,
		`.spec.template.spec.containers[name="d"].ports[containerPort="x",protocol="TCP"].port: field not declared in schema`,
		`.spec.worse: field not declared in schema`,
		`.spec.worst: field not declared in schema`,
		`.spec.wrong: field not declared in schema`,
	}, "; ")
	schemas := NewSchemas()
	for range 50 {
		if err := schemas.Check(body); err == nil || err.Error() != want {
			t.Fatalf("%v\nwant %s", err, want)
		}
	}
	for message, want := range map[string]string{
		"failed to create typed patch object (d/d; apps/v1, Kind=Deployment): errors:\n  .spec.b: no\n  .spec.a: no\n": "failed to create typed patch object (d/d; apps/v1, Kind=Deployment): .spec.a: no; .spec.b: no",
		"failed to create typed patch object (d/d; apps/v1, Kind=Deployment): .spec.b: no":                             "failed to create typed patch object (d/d; apps/v1, Kind=Deployment): .spec.b: no",
	} {
		if got := orderedErrors(message); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
