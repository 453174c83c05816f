package k8s

import (
	"errors"
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
