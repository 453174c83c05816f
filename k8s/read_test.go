package k8s_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// requests returns what a user asked of one namespace, as VERB RESOURCE/NAME.
func requests(t testing.TB, namespace string) []string {
	t.Helper()
	events, err := sandbox.ReadAudit(sandboxtest.Start(t).AuditLog())
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range events {
		if e.ObjectRef.Namespace == namespace {
			list = append(list, strings.TrimSuffix(e.Verb+" "+e.ObjectRef.Resource+"/"+e.ObjectRef.Name, "/"))
		}
	}
	return list
}

// many creates objects of one kind called x-0, x-1 and so on, and returns refs
// to them and to one more that does not exist.
func many(t testing.TB, read func(text string), kind, namespace string, n int) []preview.Ref {
	t.Helper()
	var refs []preview.Ref
	for i := range n {
		name := fmt.Sprintf("x-%d", i)
		read(fmt.Sprintf("{apiVersion: v1, kind: %s, metadata: {name: %s, namespace: %s, labels: {test: many}}}", kind, name, namespace))
		refs = append(refs, preview.Ref{APIVersion: "v1", Kind: kind, Namespace: namespace, Name: name})
	}
	return append(refs, preview.Ref{APIVersion: "v1", Kind: kind, Namespace: namespace, Name: "missing"})
}

// requireRead holds that all but the last ref were found, and that one not.
func requireRead(t testing.TB, refs []preview.Ref, results []preview.ReadResult) {
	t.Helper()
	if len(results) != len(refs) {
		t.Fatalf("%d results for %d refs", len(results), len(refs))
	}
	for i, result := range results {
		found := preview.Ref{}
		if result.Body != nil {
			found = preview.RefOf(result.Body)
		}
		want := refs[i]
		if i == len(refs)-1 {
			want = preview.Ref{}
		}
		if result.Err != nil || result.Ref != refs[i] || found != want {
			t.Errorf("%s: found %v, %v", refs[i].ID(), found, result.Err)
		}
	}
}

func TestClusterReadAnswersInOrder(t *testing.T) {
	c := admin(t)
	namespace := newNamespace(t, c)
	create(t, c, configMap(namespace, "a", "{}"))
	results := c.Read(t.Context(), []preview.Ref{
		{APIVersion: "v1", Kind: "ConfigMap", Namespace: "does-not-exist", Name: "a"},
		{APIVersion: "v1", Kind: "ConfigMap", Namespace: namespace, Name: "a"},
		{APIVersion: "gone.example/v1", Kind: "Thing", Namespace: namespace, Name: "a"},
		{APIVersion: "v1", Kind: "Namespace", Name: namespace},
		{APIVersion: "v1", Kind: "ConfigMap", Namespace: namespace, Name: "b"},
	})
	for i, want := range []struct {
		found  bool
		reason preview.Reason
	}{{}, {found: true}, {reason: preview.ReasonNotServed}, {found: true}, {}} {
		if (results[i].Body != nil) != want.found || preview.ReasonOf(results[i].Err) != want.reason {
			t.Errorf("%s: body %v, error %v", results[i].Ref.ID(), results[i].Body != nil, results[i].Err)
		}
	}
}

func TestClusterReadListsWhereManyObjectsShareAKindAndNamespace(t *testing.T) {
	c := admin(t)
	for _, test := range []struct {
		kind        string
		n           int
		list, get   string
		wantL, want int
	}{
		{kind: "ConfigMap", n: 8, list: "list configmaps", get: "get configmaps/x-0", wantL: 1},
		{kind: "ConfigMap", n: 3, list: "list configmaps", get: "get configmaps/x-0", want: 1},
		{kind: "Secret", n: 8, list: "list secrets", get: "get secrets/x-0", want: 1},
	} {
		t.Run(fmt.Sprintf("%d refs of kind %s", test.n, test.kind), func(t *testing.T) {
			namespace := newNamespace(t, c)
			refs := many(t, func(text string) { create(t, c, text) }, test.kind, namespace, test.n)
			requireRead(t, refs, c.Read(t.Context(), refs))
			eventually(t, "the audit log has the reads", func() bool {
				return count(requests(t, namespace), test.list) == test.wantL && count(requests(t, namespace), test.get) == test.want
			})
		})
	}
}

func count(list []string, item string) int {
	n := 0
	for _, s := range list {
		if s == item {
			n++
		}
	}
	return n
}

func TestClusterReadGetsWhereAListIsForbiddenOrTooLarge(t *testing.T) {
	c := admin(t)
	namespace := newNamespace(t, c)
	var group sync.WaitGroup
	for i := range 80 {
		group.Go(func() {
			if _, err := c.Apply(t.Context(), preview.DryRun{Body: parse(t, configMap(namespace, fmt.Sprintf("other-%d", i), "{}"))}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	refs := many(t, func(text string) { create(t, c, text) }, "ConfigMap", namespace, 7)
	user := restricted(t, c, namespace, "[{apiGroups: [''], resources: [configmaps], verbs: [get]}]")
	requireRead(t, refs, user.Read(t.Context(), refs))
	requireRead(t, refs, c.Read(t.Context(), refs))

	nobody := connect(t, sandboxtest.User(t, sandboxtest.Start(t), unique("user")))
	for _, result := range nobody.Read(t.Context(), refs) {
		_ = requireReason(t, result.Err, preview.ReasonForbidden)
	}
}

func TestClusterListReadsEveryPageAndSelects(t *testing.T) {
	c := admin(t)
	namespace := newNamespace(t, c)
	const n = 260 // more than a page
	work := make(chan int, n)
	for i := range n {
		work <- i
	}
	close(work)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for i := range work {
				text := fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: n-%d, namespace: %s, labels: {half: '%d'}}}", i, namespace, i%2)
				if _, err := c.Apply(t.Context(), preview.DryRun{Body: parse(t, text)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	half, err := c.List(t.Context(), "v1", "ConfigMap", namespace, "half=1")
	if err != nil || len(half) != n/2 {
		t.Errorf("selected %d objects, %v", len(half), err)
	}
	all, err := c.List(t.Context(), "v1", "ConfigMap", namespace, "half")
	if err != nil || len(all) != n {
		t.Fatalf("listed %d objects, %v", len(all), err)
	}
	for _, body := range all {
		if ref := preview.RefOf(body); ref.APIVersion != "v1" || ref.Kind != "ConfigMap" {
			t.Fatalf("an item came without its type: %v", ref)
		}
	}
	_, err = c.List(t.Context(), "gone.example/v1", "Thing", "", "")
	_ = requireReason(t, err, preview.ReasonNotServed)
}

func TestClusterCountIsOfAllNamespaces(t *testing.T) {
	c := admin(t)
	apiVersion := newKind(t, c)
	for range 3 {
		create(t, c, fmt.Sprintf("{apiVersion: %s, kind: Thing, metadata: {name: a, namespace: %s}}", apiVersion, newNamespace(t, c)))
	}
	if n, err := c.Count(t.Context(), apiVersion, "Thing"); n != 3 || err != nil {
		t.Errorf("counted %d, %v", n, err)
	}
	if n, err := c.Count(t.Context(), "gone.example/v1", "Thing"); n != 0 || err != nil {
		t.Errorf("counted %d of a kind that is not served, %v", n, err)
	}
	if n, err := c.Count(t.Context(), newKind(t, c), "Thing"); n != 0 || err != nil {
		t.Errorf("counted %d of none, %v", n, err)
	}
}

func TestClusterKindAppearsWithItsDefinitionAndGoesWithRefresh(t *testing.T) {
	c := admin(t)
	apiVersion := newKind(t, c)
	group, _, _ := strings.Cut(apiVersion, "/")
	if namespaced, err := c.Kind(t.Context(), apiVersion, "Thing"); !namespaced || err != nil {
		t.Errorf("namespaced %t, %v", namespaced, err)
	}
	if namespaced, err := c.Kind(t.Context(), "v1", "Namespace"); namespaced || err != nil {
		t.Errorf("a Namespace is namespaced: %t, %v", namespaced, err)
	}
	ref := preview.Ref{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: "things." + group}
	// Its status moves by itself, so the pin may be a moment too old.
	eventually(t, "the definition is deleted", func() bool {
		crd, err := c.Get(t.Context(), ref)
		if err != nil || crd == nil {
			return err == nil
		}
		uid, version := pin(crd)
		_, _ = c.Delete(t.Context(), ref, uid, version, preview.Background)
		return false
	})
	eventually(t, "the kind is gone", func() bool {
		c.Refresh()
		_, err := c.Kind(t.Context(), apiVersion, "Thing")
		return preview.ReasonOf(err) == preview.ReasonNotServed
	})
}
