package k8s_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// memory is a [k8s.Cache] of one process.
type memory struct{ sync.Map }

func (m *memory) Load(name string) ([]byte, bool) {
	data, ok := m.Map.Load(name)
	if !ok {
		return nil, false
	}
	return data.([]byte), true
}

func (m *memory) Keep(name string, data []byte) { m.Store(name, data) }

// answers counts the answers with documents that may be kept, by their status.
type answers struct {
	mu sync.Mutex
	by map[int]int
}

func (a *answers) add(r sandboxtest.Request, status int, _ []byte) {
	if r.Path == "/api" || r.Path == "/apis" || strings.HasPrefix(r.Path, "/openapi/v3/") {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.by[status]++
	}
}

// take returns the counts and begins anew.
func (a *answers) take() map[int]int {
	a.mu.Lock()
	defer a.mu.Unlock()
	by := a.by
	a.by = map[int]int{}
	return by
}

// definition is a CRD whose schema has some integers as fields.
func definition(group string, fields ...string) string {
	properties := ""
	for _, field := range fields {
		properties += ", " + field + ": {type: integer}"
	}
	return fmt.Sprintf(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.%[1]s}, spec: {group: %[1]s, scope: Namespaced,
		names: {kind: Thing, plural: things}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {a: {type: integer}%[2]s}}}}]}}`, group, properties)
}

// TestClusterKeptDocumentsAreNeverStale reads discovery and schemas with a cache:
// unchanged documents are not sent again, and changed ones are as new as without the
// cache.
func TestClusterKeptDocumentsAreNeverStale(t *testing.T) {
	t.Parallel()
	c, group := admin(t), unique("kept")+".example.com"
	seen := answers{by: map[int]int{}}
	proxy := sandboxtest.NewProxy(t, sandboxtest.Start(t).Kubeconfig(), sandboxtest.ProxyOptions{HTTP2: true, Answered: seen.add})
	var cache memory
	kept := func() *k8s.Client { // as in another run of the program
		client, err := k8s.Connect(t.Context(), k8s.Options{Kubeconfig: proxy.Kubeconfig, Cache: &cache})
		if err != nil {
			t.Fatal(err)
		}
		return client
	}
	serves := func(client *k8s.Client) bool {
		served, err := client.APIVersions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(strings.Join(served, " "), group+"/v1/Thing")
	}
	// merges reports whether the schema of the kind has a field.
	merges := func(client *k8s.Client, field string) bool {
		body := parse(t, fmt.Sprintf("{apiVersion: %s/v1, kind: Thing, metadata: {name: a, namespace: default}, %s: 1}", group, field))
		result := client.Merge(t.Context(), parse(t, fmt.Sprintf("{apiVersion: %s/v1, kind: Thing, metadata: {name: a, namespace: default}}", group)), preview.DryRun{Body: body})
		return result.Err == nil
	}
	// The API server publishes kinds and schemas some time after their definition.
	published := func(seen func(*k8s.Client) bool) {
		for t.Context().Err() == nil {
			if seen(connect(t, sandboxtest.Start(t).Kubeconfig())) {
				return
			}
		}
	}
	if serves(kept()) {
		t.Fatal("the kind is served before its definition exists")
	}
	create(t, c, definition(group))
	published(serves)
	if !serves(kept()) {
		t.Error("a new kind is not seen")
	}
	published(func(client *k8s.Client) bool { return merges(client, "a") })
	if !merges(kept(), "a") || merges(kept(), "b") {
		t.Error("the schema is another one with the cache")
	}
	if _, err := update(t, c, preview.DryRun{Body: parse(t, definition(group, "b"))}); err != nil {
		t.Fatal(err)
	}
	published(func(client *k8s.Client) bool { return merges(client, "b") })
	if !merges(kept(), "b") {
		t.Error("a new field of the schema is not seen")
	}
	seen.take()
	if !merges(kept(), "b") {
		t.Error("the field is no longer seen")
	}
	if by := seen.take(); by[http.StatusNotModified] != 1 || by[http.StatusOK] != 0 {
		t.Errorf("a schema that has not changed is answered with %v", by)
	}
	for seen.take()[http.StatusNotModified] < 2 && t.Context().Err() == nil { // other tests make kinds meanwhile
		if !serves(kept()) {
			t.Error("the kind is no longer seen")
		}
	}
}
