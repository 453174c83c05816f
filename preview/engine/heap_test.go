package engine_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
)

// application are the objects of one workload, as packages have them.
const application = `
apiVersion: v1
kind: ConfigMap
metadata: {name: a%[1]d, namespace: n}
data: {config.yaml: "level: info\nport: 8080\naddress: a%[1]d.n.svc\nretries: 3\ntimeout: 30s\n"}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a%[1]d, namespace: n, labels: {app: a%[1]d}}
spec:
  selector: {matchLabels: {app: a%[1]d}}
  template:
    metadata: {labels: {app: a%[1]d}}
    spec:
      serviceAccountName: a%[1]d
      containers:
      - name: c
        image: example.com/a:1
        args: [--config=/etc/a/config.yaml]
        env: [{name: A, value: b}, {name: C, valueFrom: {configMapKeyRef: {name: a%[1]d, key: config.yaml}}}]
        resources: {requests: {cpu: 10m, memory: 64Mi}, limits: {memory: 128Mi}}
        securityContext: {runAsNonRoot: true, allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
---
{apiVersion: v1, kind: Service, metadata: {name: a%[1]d, namespace: n}, spec: {selector: {app: a%[1]d}, ports: [{port: 80, targetPort: 8080}]}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: a%[1]d, namespace: n}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: a%[1]d, namespace: n}, rules: [{apiGroups: [""], resources: [configmaps, secrets], verbs: [get, list, watch]}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: a%[1]d, namespace: n}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: a%[1]d}
subjects: [{kind: ServiceAccount, name: a%[1]d, namespace: n}]`

// stopTheWorld lets nothing run during a collection: allocations while it marks count as
// in use, and grow when the collector gets less processor time.
const stopTheWorld = "gcstoptheworld=1"

// The live heap while a plan is made is at most two and a half times the size of its
// objects, at any size.
func TestSlowHeapIsThatOfTheObjects(t *testing.T) {
	slowtest.Skip(t, "collects garbage all the time")
	if !strings.Contains(os.Getenv("GODEBUG"), stopTheWorld) {
		stopped := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		stopped.Env = append(os.Environ(), "GODEBUG="+stopTheWorld)
		output, err := stopped.CombinedOutput()
		t.Logf("%s", output)
		if err != nil {
			t.Error(err)
		}
		return
	}
	release, schemas := preview.Release{Name: "r", Namespace: "n"}, k8s.NewSchemas()
	planOfMany(t, schemas, application, 1)() // what is made once
	// Of six objects each; the fixed cost of a plan counts little at these sizes.
	sizes := []int{400, 1600}
	if slowtest.Soak() {
		sizes = append(sizes, 3333) // 20,000 objects, the most that one package may have
	}
	for _, n := range sizes {
		var text strings.Builder
		for i := range n {
			text.WriteString("\n---\n" + fmt.Sprintf(application, i))
		}
		rendered := material(t, text.String())
		before := heap()
		content, err := planned.Prepare(release, rendered)
		if err != nil {
			t.Fatal(err)
		}
		objects := heap() - before
		var plan *preview.Plan
		peak := peakHeap(func() {
			plan, err = engine.Build(t.Context(), []planned.Content{content}, nil, engine.Options{Release: release, Schemas: schemas})
		}) - before
		if err != nil {
			t.Fatal(err)
		}
		ratio := float64(peak) / float64(objects)
		t.Logf("%d objects: %d KB, at most %d KB while they are planned: %.2f times", len(content.Objects), objects>>10, peak>>10, ratio)
		if ratio > 2.5 {
			t.Errorf("%d objects of %d KB take %d KB while they are planned", len(content.Objects), objects>>10, peak>>10)
		}
		runtime.KeepAlive(plan)
		runtime.KeepAlive(rendered)
	}
}

// inUse returns the bytes that the last collection left in use.
func inUse() int64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// peakHeap returns the most bytes that a collection left in use while f ran. Garbage is
// collected whenever the heap has grown by a twentieth.
func peakHeap(f func()) int64 {
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	var peak atomic.Int64
	var running atomic.Bool
	running.Store(true)
	var next func()
	next = func() { // is called after each collection
		if now := inUse(); now > peak.Load() {
			peak.Store(now)
		}
		if running.Load() {
			runtime.AddCleanup(new([16]byte), func(struct{}) { next() }, struct{}{})
		}
	}
	next()
	f()
	running.Store(false)
	return max(peak.Load(), heap())
}
