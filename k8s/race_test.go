package k8s_test

import (
	"fmt"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// TestClusterRightsInManyNamespaces asks for rights in many namespaces at once. The
// race detector sees whether the answers are written where namespaces are
// still iterated over: Go ends a process for that, in the midst of an apply.
func TestClusterRightsInManyNamespaces(t *testing.T) {
	t.Parallel()
	user := connect(t, sandboxtest.User(t, sandboxtest.Start(t), unique("user")))
	var rights []preview.Right
	for i := range 60 {
		rights = append(rights, preview.Right{Verb: "get", Resource: "configmaps", Namespace: fmt.Sprintf("many-%d", i)})
	}
	rights = append(rights, preview.Right{Verb: "create", Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews"})
	answers := user.May(t.Context(), rights)
	for i, answer := range answers {
		if want := i == len(rights)-1; answer.Allowed != want || answer.Err != nil {
			t.Errorf("%+v: allowed %t, %v; want %t", rights[i], answer.Allowed, answer.Err, want)
		}
	}
}

// TestClusterReadingWhereListsAreRefused reads many objects, some of them by lists that
// are refused: each is read on its own then, and none is taken for absent.
func TestClusterReadingWhereListsAreRefused(t *testing.T) {
	t.Parallel()
	user := connect(t, sandboxtest.User(t, sandboxtest.Start(t), unique("user")))
	var refs []preview.Ref
	for namespace := range 80 {
		for object := range 1 + 7*(namespace%2) { // one is read by a get, eight by a list
			refs = append(refs, preview.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: fmt.Sprintf("many-%d", namespace), Name: fmt.Sprint("c", object)})
		}
	}
	for _, result := range user.Read(t.Context(), refs) {
		if preview.ReasonOf(result.Err) != preview.ReasonForbidden {
			t.Errorf("%s: %v, %v; want forbidden", result.Ref.ID(), result.Body, result.Err)
		}
	}
}
