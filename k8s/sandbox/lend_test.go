package sandbox_test

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
)

// lendFor gives a test a control plane, and takes it back when the test calls the
// function that is returned.
func lendFor(t *testing.T) (*sandbox.Sandbox, *sandboxtest.RawClient, func()) {
	t.Helper()
	sandboxtest.Binary(t)
	var back func()
	box, err := sandboxtest.Lend(context.Background(), func(f func()) { back = f })
	if err != nil {
		t.Fatal(err)
	}
	return box, sandboxtest.NewRawClient(t, box.Kubeconfig()), back
}

func create(t *testing.T, client *sandboxtest.RawClient, path string, body map[string]any) {
	t.Helper()
	if status, answer, err := client.Do(t.Context(), http.MethodPost, path, "", body); err != nil || status != http.StatusCreated {
		t.Fatalf("POST %s: %d %v %v", path, status, answer["message"], err)
	}
}

// A control plane that was given back is as a new one, whatever a test left in it; one
// with an edit to its initial objects is not lent again.
func TestClusterLentControlPlaneIsAsNew(t *testing.T) {
	box, client, back := lendFor(t)
	named := func(name string, more ...string) map[string]any {
		meta := map[string]any{"name": name}
		if len(more) > 0 {
			meta["finalizers"] = more
		}
		return map[string]any{"metadata": meta}
	}
	definition := named("things.lent.example.com")
	definition["spec"] = map[string]any{
		"group": "lent.example.com", "scope": "Namespaced",
		"names":    map[string]any{"kind": "Thing", "plural": "things"},
		"versions": []map[string]any{{"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}}}},
	}
	role := named("lent")
	role["metadata"].(map[string]any)["labels"] = map[string]any{"rbac.authorization.k8s.io/aggregate-to-view": "true"}
	role["rules"] = []map[string]any{{"apiGroups": []string{"lent.example.com"}, "resources": []string{"things"}, "verbs": []string{"get"}}}
	hook := named("lent")
	hook["webhooks"] = []map[string]any{{
		"name": "lent.example.com", "clientConfig": map[string]any{"url": "https://127.0.0.1:1/"}, "sideEffects": "None", "admissionReviewVersions": []string{"v1"},
		"rules": []map[string]any{{"apiGroups": []string{""}, "apiVersions": []string{"v1"}, "resources": []string{"configmaps"}, "operations": []string{"DELETE"}}},
	}}
	create(t, client, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
	create(t, client, "/apis/rbac.authorization.k8s.io/v1/clusterroles", role)
	create(t, client, "/api/v1/namespaces", named("lent"))
	create(t, client, "/api/v1/namespaces/lent/configmaps", named("held", "example.com/held"))
	create(t, client, "/api/v1/namespaces/default/configmaps", named("lent"))
	create(t, client, "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", hook)
	back()

	again, client, back := lendFor(t)
	if again != box {
		t.Fatal("it was not lent again: what was made could not be deleted")
	}
	for _, path := range []string{
		"/apis/lent.example.com/v1", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.lent.example.com",
		"/apis/rbac.authorization.k8s.io/v1/clusterroles/lent", "/api/v1/namespaces/lent", "/api/v1/namespaces/default/configmaps/lent",
		"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/lent",
	} {
		if status, _, err := client.Do(t.Context(), http.MethodGet, path, "", nil); status != http.StatusNotFound {
			t.Errorf("GET %s: %d %v", path, status, err)
		}
	}
	if made := sandboxtest.Mutations(t, again, sandboxtest.Admin); len(made) > 0 {
		t.Errorf("the audit log begins with %v", made)
	}
	requests, err := again.Requests()
	if err != nil || slices.ContainsFunc(requests, sandbox.AuditEvent.Persisted) {
		t.Errorf("the audit log begins with %v, %v", requests, err)
	}
	edit := map[string]any{"metadata": map[string]any{"labels": map[string]any{"lent": "true"}}}
	if status, _, err := client.Do(t.Context(), http.MethodPatch, "/api/v1/namespaces/default", sandboxtest.MergePatch, edit); status != http.StatusOK {
		t.Fatalf("PATCH: %d %v", status, err)
	}
	back()
	if third, _, back := lendFor(t); third == box {
		t.Error("one whose own namespace was edited was lent again")
	} else {
		back()
	}
}
