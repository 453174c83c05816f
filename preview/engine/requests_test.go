package engine_test

import (
	"crypto/rand"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/flight"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
	"github.com/kubectl-operator/kubectl-operator/preview/reads"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// The requests of a preview are those that the API needs for it, and a few more, as many
// for 500 objects as for 50.
func TestClusterAPreviewTakesFewRequests(t *testing.T) {
	box := sandboxtest.Start(t)
	extra := map[preview.ReadMode]int{}
	for _, applications := range []int{8, 83} {
		release := preview.Release{Name: "requests", Namespace: "requests-" + strings.ToLower(rand.Text())}
		installed := applicationsOf(t, release, applications, "one")
		storeApplications(t, box, installed)
		updated := applicationsOf(t, release, applications, "two")
		for _, mode := range []preview.ReadMode{preview.ReadDryRun, preview.ReadGet} {
			t.Run(fmt.Sprintf("%d objects in mode %s", len(updated.Objects), mode), func(t *testing.T) {
				var seen requestCount
				proxy := sandboxtest.NewProxy(t, box.Kubeconfig(), sandboxtest.ProxyOptions{HTTP2: true, Answered: seen.add})
				client, err := k8s.Connect(t.Context(), k8s.Options{Kubeconfig: proxy.Kubeconfig, ReadOnly: mode})
				if err != nil {
					t.Fatal(err)
				}
				plan, err := engine.Build(t.Context(), []planned.Content{updated}, client, engine.Options{
					Release: release, Schemas: k8s.NewSchemas(), Apply: preview.DefaultOptions(), ReadMode: mode,
					Request: preview.Request{Action: preview.RequestInstall},
				})
				if err != nil {
					t.Fatal(err)
				}
				if n := preview.Summarize(plan.Objects).Update; n != len(updated.Objects) {
					t.Fatalf("%d of %d objects are updated", n, len(updated.Objects))
				}
				limit := reads.Limit{
					Mode: mode, Objects: len(updated.Objects), Versions: 3, Collections: 6, Namespaces: 1, PodNamespaces: 1,
					RBAC: true, InFlight: flight.Most,
				}
				// Build does not read the record of the release: its caller does.
				all, least := seen.all()+1, limit.Requests()
				t.Logf("%d requests, at least %d by the API:\n%s", all, least, seen.text())
				if all < least || all > least+reads.Extra {
					t.Errorf("%d requests; the API needs %d, this program at most %d more:\n%s", all, least, reads.Extra, seen.text())
				}
				if before, known := extra[mode]; known && before != all-least {
					t.Errorf("%d requests beyond the least, %d for fewer objects:\n%s", all-least, before, seen.text())
				}
				extra[mode] = all - least
			})
		}
	}
}

// requestCount counts the requests of a client by method and resource: each read and dry
// run once, however often a busy server makes the client repeat it, and each list once:
// how many pages it has depends on what other tests left.
type requestCount struct {
	mu      sync.Mutex
	by      map[string]int
	seen    map[string]bool
	changed map[string]bool // paths of objects that changed between read and dry run
}

func (c *requestCount) add(r sandboxtest.Request, status int, _ []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by, c.seen, c.changed = map[string]int{}, map[string]bool{}, map[string]bool{}
	}
	key := r.Method + " " + r.Path + "?" + r.Query.Encode()
	again := c.seen[key] && r.Method != http.MethodPost || r.Method == http.MethodGet && c.changed[r.Path]
	c.seen[key] = true
	if status == http.StatusConflict {
		c.changed[r.Path] = true
	}
	if again || r.Query.Has("continue") || status == http.StatusTooManyRequests || status >= http.StatusInternalServerError {
		return
	}
	path := r.Path
	if r.Query.Has("dryRun") {
		path = "dry run of one of " + path[strings.Index(path, "namespaces/")+len("namespaces/"):strings.LastIndex(path, "/")]
	}
	c.by[r.Method+" "+path]++
}

func (c *requestCount) all() (n int) {
	for _, times := range c.by {
		n += times
	}
	return n
}

func (c *requestCount) text() string {
	var out strings.Builder
	for _, key := range slices.Sorted(maps.Keys(c.by)) {
		fmt.Fprintf(&out, "%6d %s\n", c.by[key], key)
	}
	return out.String()
}

// applicationsOf is a release of n [application], of six objects each, whose version is
// a label of each object. Their workloads are suspended, so that nothing writes to them.
func applicationsOf(t testing.TB, release preview.Release, n int, version string) planned.Content {
	t.Helper()
	var text strings.Builder
	for i := range n {
		text.WriteString("\n---\n" + strings.ReplaceAll(fmt.Sprintf(application, i), "namespace: n", "namespace: "+release.Namespace))
	}
	rendered := material(t, text.String())
	for _, o := range rendered.Output.Objects {
		meta := preview.Map(o.Body, "metadata")
		labels, _ := meta["labels"].(map[string]any)
		if labels == nil {
			labels = map[string]any{}
			meta["labels"] = labels
		}
		labels["version"] = version
		if o.Body["kind"] == "Deployment" { // whose status would change meanwhile
			template := preview.Map(o.Body, "spec", "template")
			preview.Map(template, "spec")["restartPolicy"] = "Never"
			o.Body["apiVersion"], o.Body["kind"] = "batch/v1", "CronJob"
			o.Body["spec"] = map[string]any{
				"schedule": "0 0 * * *", "suspend": true,
				"jobTemplate": map[string]any{"spec": map[string]any{"template": template}},
			}
		}
	}
	content, err := planned.Prepare(release, rendered)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// storeApplications applies the objects of a release in any order, and its namespace before them.
func storeApplications(t testing.TB, box *sandbox.Sandbox, content planned.Content) {
	t.Helper()
	client, err := k8s.Connect(t.Context(), k8s.Options{Kubeconfig: box.Kubeconfig()})
	if err != nil {
		t.Fatal(err)
	}
	namespace := map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": content.Objects[0].Namespace}}
	if _, err := client.Apply(t.Context(), preview.DryRun{Body: namespace}); err != nil {
		t.Fatal(err)
	}
	group, ctx := tasks.WithContext(t.Context())
	group.SetLimit(16)
	for i := range content.Objects {
		group.Go(func() error {
			_, err := client.Apply(ctx, preview.DryRun{Body: content.Objects[i].Planned})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkUpdated plans the update of every object of a release, nearby and far away, in
// both modes, as kubectl diff compares them in the same run: how many times as long it
// takes, and what the distance costs at least by [reads.Limit]. At 20,000 objects, with
// KUBECTL_OPERATOR_SOAK_RUNS=1 only, kubectl would take a quarter of an hour, and is left out.
func BenchmarkUpdated(b *testing.B) {
	box := sandboxtest.Start(b)
	sizes := []int{83, 833}
	if slowtest.Soak() {
		sizes = append(sizes, 3333)
	}
	for _, applications := range sizes {
		b.Run(strconv.Itoa(6*applications), func(b *testing.B) { benchmarkUpdate(b, box, applications) })
	}
}

func benchmarkUpdate(b *testing.B, box *sandbox.Sandbox, applications int) {
	release := preview.Release{Name: "updated", Namespace: "updated-" + strings.ToLower(rand.Text())}
	storeApplications(b, box, applicationsOf(b, release, applications, "one"))
	updated := applicationsOf(b, release, applications, "two")
	kubectl := 0.0
	if applications < 3333 {
		const differences = 1 // the code that kubectl exits with
		kubectl = sandboxtest.TimeKubectl(b, box.Kubeconfig(), preview.PlannedBodies(updated.Objects), differences, "diff")
	}
	for _, mode := range []preview.ReadMode{preview.ReadDryRun, preview.ReadGet} {
		near := 0.0
		for _, distance := range []time.Duration{0, 30 * time.Millisecond} {
			b.Run(fmt.Sprintf("%s/%s-away", mode, distance), func(b *testing.B) {
				kubeconfig := farAway(b, box.Kubeconfig(), distance)
				b.ReportAllocs()
				for b.Loop() {
					planUpdate(b, kubeconfig, release, updated, mode)
				}
				each := b.Elapsed().Seconds() / float64(b.N)
				if kubectl > 0 {
					b.ReportMetric(kubectl*1000, "ms-kubectl-diff")
					b.ReportMetric(each/kubectl, "times-kubectl-diff")
				}
				if distance == 0 {
					near = each
					return
				}
				limit := reads.Limit{Mode: mode, Objects: len(updated.Objects), InFlight: flight.Most}
				b.ReportMetric((each-near)*1000, "ms-longer-than-near")
				b.ReportMetric(limit.Longer(distance).Seconds()*1000, "ms-longer-at-least")
			})
		}
	}
}

func planUpdate(b *testing.B, kubeconfig string, release preview.Release, updated planned.Content, mode preview.ReadMode) {
	b.Helper()
	client, err := k8s.Connect(b.Context(), k8s.Options{Kubeconfig: kubeconfig, ReadOnly: mode})
	if err != nil {
		b.Fatal(err)
	}
	_, err = engine.Build(b.Context(), []planned.Content{updated}, client, engine.Options{
		Release: release, Schemas: k8s.NewSchemas(), Apply: preview.DefaultOptions(), ReadMode: mode,
		Request: preview.Request{Action: preview.RequestInstall},
	})
	if err != nil {
		b.Fatal(err)
	}
}
