package k8s_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// store creates n objects of a kind, called x-0000 and so on.
func store(t testing.TB, c *k8s.Client, apiVersion, namespace string, n int) {
	t.Helper()
	work := make(chan int, n)
	for i := range n {
		work <- i
	}
	close(work)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for i := range work {
				text := fmt.Sprintf("{apiVersion: %s, kind: Thing, metadata: {name: x-%04d, namespace: %s}}", apiVersion, i, namespace)
				if _, err := c.Apply(t.Context(), preview.DryRun{Body: parse(t, text)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}

// A list that takes long outlives the state it began with: etcd drops old states every
// few minutes. An object stored all the while comes once.
func TestClusterObjectsThatChangeAndExpireWhileTheyAreListedComeOnce(t *testing.T) {
	c := admin(t)
	apiVersion, namespace := newKind(t, c), newNamespace(t, c)
	const n = 120 // several pages; the first is smaller
	store(t, c, apiVersion, namespace, n)
	seen, pages := map[string]int{}, 0
	err := c.Pages(t.Context(), apiVersion, "Thing", func(objects []map[string]any, remaining int) bool {
		for _, body := range objects {
			if ref := preview.RefOf(body); ref.APIVersion != apiVersion || ref.Kind != "Thing" {
				t.Errorf("an object came without its type: %v", ref)
			}
			seen[preview.String(body, "metadata", "name")]++
		}
		if pages++; pages == 1 {
			if remaining != n-len(objects) {
				t.Errorf("%d objects, and %d remain", len(objects), remaining)
			}
			last := preview.RefOf(objects[len(objects)-1])
			uid, version := pin(objects[len(objects)-1])
			if _, err := c.Delete(t.Context(), last, uid, version, preview.Background); err != nil { // where the list stands
				t.Error(err)
			}
			create(t, c, fmt.Sprintf("{apiVersion: %s, kind: Thing, metadata: {name: a-new-one, namespace: %s}}", apiVersion, namespace))
			forget(t, c, apiVersion)
		}
		return true
	})
	if err != nil || pages < 2 {
		t.Fatalf("%d pages, %v", pages, err)
	}
	for i := range n {
		if name := fmt.Sprintf("x-%04d", i); seen[name] != 1 {
			t.Errorf("%s came %d times", name, seen[name])
		}
	}
	if all, err := c.List(t.Context(), apiVersion, "Thing", namespace, ""); err != nil || len(all) != n {
		t.Errorf("%d objects, %v", len(all), err)
	}
}

// forget makes the API server forget every state of a kind's objects but the
// present one: etcd drops the old ones, and the definition changes, so that the
// server's cache begins anew.
func forget(t testing.TB, c *k8s.Client, apiVersion string) {
	t.Helper()
	group, _, _ := strings.Cut(apiVersion, "/")
	ref := preview.Ref{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: "things." + group}
	token := continueToken(t, apiVersion)
	live, err := c.Get(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	body := parse(t, fmt.Sprintf("{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: %s}}", ref.Name))
	body["spec"] = preview.Clone(live["spec"])
	preview.Maps(preview.Map(body, "spec"), "versions")[0]["deprecated"] = true
	changed, err := update(t, c, preview.DryRun{Body: body})
	if err != nil {
		t.Fatal(err)
	}
	_, version := pin(changed)
	sandboxtest.Etcd(t, sandboxtest.Start(t), "/v3/kv/compaction", `{"revision": "`+version+`", "physical": true}`)
	deadline := time.Now().Add(2 * time.Minute) // the server looks for compactions every 15 s
	for status(t, apiVersion, token) != http.StatusGone {
		if time.Now().After(deadline) {
			t.Fatal("the API server still has the old state")
		}
		create(t, c, configMap("default", unique("tick"), "{}"))
	}
}

// continueToken begins a list and returns how it goes on.
func continueToken(t testing.TB, apiVersion string) string {
	t.Helper()
	data, code := raw(t, "/apis/"+apiVersion+"/things?limit=1")
	body, err := preview.DecodeJSON(data)
	if err != nil || code != http.StatusOK {
		t.Fatalf("%d, %v", code, err)
	}
	return preview.String(body.(map[string]any), "metadata", "continue")
}

func status(t testing.TB, apiVersion, token string) int {
	t.Helper()
	_, code := raw(t, "/apis/"+apiVersion+"/things?limit=1&continue="+token)
	return code
}

// raw asks the API server, without our client in between.
func raw(t testing.TB, path string) ([]byte, int) {
	t.Helper()
	box := sandboxtest.Start(t)
	return sandboxtest.RoundTrip(t, box, http.MethodGet, box.State().Server+path, "")
}
