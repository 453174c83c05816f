package engine_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
	"github.com/kubectl-operator/kubectl-operator/preview/schema"
)

// widgets is a definition with this schema of spec.
func widgets(spec string) string {
	return `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.com},
spec: {group: example.com, scope: Namespaced, names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}, versions: [{name: v1, served: true, storage: true,
schema: {openAPIV3Schema: {type: object, properties: {spec: ` + spec + `}}}}]}}`
}

const (
	// storedWidgets is more than is checked of one definition.
	storedWidgets = schema.MaxChecked + 30

	looseWidgets = "{type: object, properties: {size: {type: integer, format: int64}, pool: {type: string}, note: {type: string}}}"
	// strictWidgets refuses sizes of 0, a fourth of them, and by a rule small
	// ones of the pool "big", a twelfth; the note of every tenth is dropped.
	strictWidgets = `{type: object, properties: {size: {type: integer, format: int64, minimum: 1}, pool: {type: string}},
x-kubernetes-validations: [{rule: "!has(self.pool) || self.pool != 'big' || self.size != 1", message: big pools need more than one}]}`
)

// widget is the i-th of the stored ones.
func widget(i int) string {
	spec := fmt.Sprintf(`"size":%d`, i%4)
	if i%3 == 0 {
		spec += `,"pool":"big"`
	}
	if i%10 == 0 {
		spec += `,"note":"` + strings.Repeat("x", 200) + `"`
	}
	return fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w-%05d","namespace":"default","uid":"%08d-0000-4000-8000-000000000000","generation":1},"spec":{%s}}`, i, i, spec)
}

// More objects than one plan looks at, in a real cluster: the review says of
// how many it knows what, and needs the memory of a page.
func TestClusterTwentyThousandStoredObjectsAreHeldToTheNewSchema(t *testing.T) {
	box := sandboxtest.New(t)
	before := plainContent(t, widgets(looseWidgets))
	applyDefinitions(t, box, before)
	start := time.Now()
	storeWidgets(t, box, storedWidgets)
	t.Logf("stored %d objects in %v", storedWidgets, time.Since(start).Round(time.Millisecond))

	cluster := &weighed{Client: connected(t, box)}
	start = time.Now()
	p, err := engine.Build(t.Context(), []planned.Content{plainContent(t, widgets(strictWidgets))}, cluster, engine.Options{
		Tool: "test", Release: plainRelease, Request: preview.Request{Action: preview.RequestInstall}, Apply: preview.DefaultOptions(), Schemas: k8s.NewSchemas(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("planned in %v, %d pages, the heap grew by %d KiB at the most", time.Since(start).Round(time.Millisecond), cluster.pages, cluster.grown>>10)
	for rule, want := range map[string]string{
		"crd-stored-objects-break":       fmt.Sprintf("%d of %d objects checked, of %d in all: default/w-00000 (spec.size: should be greater than or equal to 1); default/w-00004", refusedOf(schema.MaxChecked), schema.MaxChecked, storedWidgets),
		"crd-stored-objects-lose-fields": fmt.Sprintf("%d of %d objects checked, of %d in all: default/w-00000 (spec.note)", schema.MaxChecked/10, schema.MaxChecked, storedWidgets),
		"crd-stored-objects-unchecked":   fmt.Sprintf("checked %d of %d", schema.MaxChecked, storedWidgets),
	} {
		f := findingOf(p, rule+"/apiextensions.k8s.io/CustomResourceDefinition/-/widgets.example.com")
		if f == nil || !strings.Contains(f.Evidence, want) {
			t.Errorf("%s: want %q, got %+v", rule, want, f)
		}
	}
	if f := findingOf(p, "crd-stored-objects-break/apiextensions.k8s.io/CustomResourceDefinition/-/widgets.example.com"); f != nil && !strings.Contains(f.Evidence, "default/w-00009 (spec: big pools need more than one)") {
		t.Errorf("the rule is not evaluated: %s", f.Evidence)
	}
	if cluster.grown > 48<<20 {
		t.Errorf("the heap grew by %d MiB", cluster.grown>>20)
	}
	if _, _, err := engine.Verify(p, k8s.NewSchemas()); err != nil {
		t.Error(err)
	}
}

// refusedOf counts what the new schema refuses of the first n.
func refusedOf(n int) (count int) {
	for i := range n {
		if i%4 == 0 || i%4 == 1 && i%3 == 0 {
			count++
		}
	}
	return count
}

// weighed is a cluster that weighs the heap after every page.
type weighed struct {
	*k8s.Client
	pages int
	grown int64 // bytes, at the most
}

func (w *weighed) Pages(ctx context.Context, apiVersion, kind string, each func([]map[string]any, int) bool) error {
	first := heap()
	return w.Client.Pages(ctx, apiVersion, kind, func(objects []map[string]any, remaining int) bool {
		more := each(objects, remaining)
		w.pages++
		w.grown = max(w.grown, heap()-first)
		return more
	})
}

// heap returns the bytes in use after a collection.
func heap() int64 {
	runtime.GC()
	runtime.GC() // what pools hold outlives one
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

var plainRelease = preview.Release{Name: "widgets", Namespace: "default"}

// plainContent seals objects as a package of manifests.
func plainContent(t testing.TB, text string) planned.Content {
	t.Helper()
	var objects []format.RenderedObject
	for _, body := range parseAll(t, text) {
		objects = append(objects, format.RenderedObject{Body: body})
	}
	content, err := planned.Prepare(plainRelease, planned.Material{
		Info: format.Info{Package: "widgets"}, Output: &format.Output{Objects: objects},
		Sources: []preview.Source{{Kind: "directory", Digest: preview.HashBytes([]byte(text))}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// storeWidgets stores n widgets as the API server would, in etcd: to create them
// one by one takes a minute.
func storeWidgets(t *testing.T, box *sandbox.Sandbox, n int) {
	t.Helper()
	encode := base64.StdEncoding.EncodeToString
	for first := 0; first < n; first += maxTransaction {
		var puts []string
		for i := first; i < min(first+maxTransaction, n); i++ {
			key := fmt.Sprintf("/registry/example.com/widgets/default/w-%05d", i)
			puts = append(puts, fmt.Sprintf(`{"requestPut": {"key": %q, "value": %q}}`, encode([]byte(key)), encode([]byte(widget(i)))))
		}
		sandboxtest.Etcd(t, box, "/v3/kv/txn", `{"success": [`+strings.Join(puts, ",")+`]}`)
	}
}

// maxTransaction is how many keys etcd takes at once.
const maxTransaction = 128
