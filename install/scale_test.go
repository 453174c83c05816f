package install_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
)

// mixtureOf has one object of each kind of a large package; $I makes the names its own, and
// $V is the value that an upgrade changes.
const mixtureOf = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: account-$I}
---
apiVersion: v1
kind: Secret
metadata: {name: secret-$I}
data: {key: $B}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: role-$I}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: other-$I}
rules: [{apiGroups: [""], resources: [services], verbs: [list]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: binding-$I}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: role-$I}
subjects: [{kind: ServiceAccount, name: account-$I}]
`

const mixtureDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.GROUP}
spec:
  group: GROUP
  names: {kind: Thing, plural: things, singular: thing, listKind: ThingList}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

const mixtureDeployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web-$I}
spec:
  replicas: 0
  selector: {matchLabels: {app: web-$I}}
  template:
    metadata: {labels: {app: web-$I}}
    spec:
      serviceAccountName: default
      containers:
      - name: web
        image: registry.example.com/web@sha256:0000000000000000000000000000000000000000000000000000000000000000
        args: ["--version=$V"]
        resources: {limits: {cpu: 100m, memory: 64Mi}}
`

const mixtureThing = `
apiVersion: GROUP/v1
kind: Thing
metadata: {name: thing-$I}
spec: {version: "$V"}
`

// mixture seals n objects and a CRD. Of twenty, eight are ConfigMaps and eight custom resources.
// changed says which twenties have the version's value; the others have "1".
func (w *world) mixture(t testing.TB, n int, version string, changed func(i int) bool) planned.Content {
	t.Helper()
	group := w.release.Name + ".example.com"
	var all strings.Builder
	all.WriteString(strings.ReplaceAll(mixtureDefinition, "GROUP", group))
	for i := range n / 20 {
		value := "1"
		if changed(i) {
			value = version
		}
		add := func(text string, times int) {
			for k := range times {
				all.WriteString("\n---\n")
				all.WriteString(strings.NewReplacer("$I", fmt.Sprintf("%d-%d", i, k), "$V", value, "$B", "dmFsdWU=", "GROUP", group).Replace(text))
			}
		}
		add(mixtureOf, 1)
		add(mixtureDeployment, 1)
		add(mixtureThing, 6)
		add("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: map-$I}\ndata: {key: \"$V\"}\n", 8)
	}
	return w.content(t, version, all.String())
}

// costs is what a step of a release took, per verb: dry runs, and requests for records and
// locks, are counted apart.
type costs struct {
	objects  int
	used     time.Duration // of the processor
	requests map[string]int
}

// all counts the requests, but for those that follow from how long a step takes: renewals of
// the lock, and lists that say why an object is not ready.
func (c costs) all() int {
	n := 0
	for verb, times := range c.requests {
		if verb != "list" && !strings.HasSuffix(verb, " lease") {
			n += times
		}
	}
	return n
}

func (c costs) String() string {
	var text []string
	for _, verb := range slices.Sorted(maps.Keys(c.requests)) {
		text = append(text, fmt.Sprintf("%s %d", verb, c.requests[verb]))
	}
	return fmt.Sprintf("%d µs of the processor and %.2f requests an object: %s",
		c.used.Microseconds()/int64(c.objects), float64(c.all())/float64(c.objects), strings.Join(text, ", "))
}

// verbOf returns what a request is counted as.
func verbOf(e sandbox.AuditEvent) string {
	switch {
	case strings.Contains(e.RequestURI, "dryRun=All"):
		return "dry-run"
	case e.ObjectRef.Resource == "secrets" && strings.HasPrefix(e.ObjectRef.Name, preview.RecordName("")):
		return e.Verb + " record"
	case e.ObjectRef.Resource == "leases":
		return e.Verb + " lease"
	}
	return e.Verb
}

func processorTime(t testing.TB) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// measure does a step, and returns what it took.
func (w *world) measure(t *testing.T, objects int, step func()) costs {
	t.Helper()
	if err := w.sandbox.Forget(); err != nil {
		t.Fatal(err)
	}
	before := processorTime(t)
	step()
	c := costs{objects: objects, used: processorTime(t) - before, requests: map[string]int{}}
	events, err := w.sandbox.Requests()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if e.User.Username == w.user {
			c.requests[verbOf(e)]++
		}
	}
	return c
}

// killedRun is the cluster of a process that is killed at one of its writes: nothing that
// it sends after that reaches the cluster.
type killedRun struct {
	install.Cluster
	at   int64
	n    atomic.Int64
	kill context.CancelFunc
}

var errKilled = errors.New("killed")

func (c *killedRun) Apply(ctx context.Context, item preview.DryRun) (map[string]any, error) {
	if c.n.Load() >= c.at {
		return nil, errKilled
	}
	if c.n.Add(1) == c.at {
		defer c.kill()
	}
	return c.Cluster.Apply(ctx, item)
}

func (c *killedRun) Delete(ctx context.Context, ref preview.Ref, uid, resourceVersion string, dependents preview.Propagation) (bool, error) {
	if c.n.Load() >= c.at {
		return false, errKilled
	}
	return c.Cluster.Delete(ctx, ref, uid, resourceVersion, dependents)
}

// live takes a package of n objects through install, kill and resume, an upgrade of a
// tenth and one of all, rollback and uninstall, and returns what each step took.
func (w *world) live(t *testing.T, n int) map[string]costs {
	t.Helper()
	took := map[string]costs{}
	opts := w.options(t)
	opts.Sink, opts.RolloutTimeout, opts.Clock = nil, 10*time.Hour, fastClock{time.Now()}
	step := func(name string, plan *preview.Plan) {
		t.Helper()
		took[name] = w.measure(t, n, func() {
			receipt, err := install.Apply(t.Context(), plan, byDigest(plan), w, opts)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, o := range receipt.Objects {
				if o.State != record.StateReady && o.State != record.StateRemoved {
					t.Errorf("%s: %s is %s: %s", name, o.ID, o.State, o.Message)
				}
			}
		})
		t.Logf("%d objects, %s: %s", n, name, took[name])
		w.checkRecords(t)
	}
	first := w.plan(t, w.mixture(t, n, "1", func(int) bool { return false }))
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	if _, err := install.Apply(ctx, first, byDigest(first), &killedRun{Cluster: w.Client, at: int64(n / 2), kill: kill}, opts); install.KindOf(err) != install.Interrupted {
		t.Fatalf("killed at write %d, it ended with %v", n/2, err)
	}
	step("resume", first)
	step("upgrade of a tenth", w.plan(t, w.mixture(t, n, "2", func(i int) bool { return i%10 == 0 })))
	step("upgrade of all", w.plan(t, w.mixture(t, n, "3", func(int) bool { return true })))
	back := w.rollback(t, 2)
	step("rollback", back)
	step("uninstall", w.planWith(t, func(o *engine.Options) { o.Request.Action, o.Apply.IncludeCRDs = preview.RequestUninstall, true }))
	return took
}

// checkRecords checks that each Secret of the release's records is below what the API server
// takes, and that what they hold can be read again.
func (w *world) checkRecords(t *testing.T) {
	t.Helper()
	secrets, err := w.List(t.Context(), "v1", "Secret", w.release.Namespace, preview.LabelRelease+"="+w.release.Name)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, secret := range secrets {
		if preview.String(secret, "type") != preview.TypeRecord {
			continue
		}
		seen++
		size := 0
		for _, value := range preview.Map(secret, "data") {
			size += len(value.(string)) / 4 * 3
		}
		if size > 1<<20 {
			t.Errorf("Secret %s has %d bytes, more than the API server takes", preview.RefOf(secret).Name, size)
		}
	}
	stored, err := record.Load(t.Context(), w, w.release)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := record.LoadArchivedPlan(t.Context(), w, stored); err != nil {
		t.Error(err)
	}
	if seen < 2 {
		t.Errorf("%d Secrets hold the records: they are not found", seen)
	}
}

// TestClusterManyObjects takes packages of many objects through all steps of their lives.
// Nothing is left of them, and the requests grow with the objects and no faster.
func TestClusterManyObjects(t *testing.T) {
	t.Parallel()
	sb := sandboxtest.New(t)
	small := map[string]costs{}
	sizes := []int{40, 120, 5000, 20000}
	for i, n := range sizes {
		if i > 1 && !slowtest.InSample(i, len(sizes)) {
			continue
		}
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			w := newWorldIn(t, sb, fmt.Sprint("many-", n))
			took := w.live(t, n)
			for name, c := range took {
				// A kind each: the release's namespace, ConfigMaps, Deployments, Roles,
				// RoleBindings, ServiceAccounts, the CRD and its objects. Each may be opened again
				// where a wait is long.
				if n < 1000 && c.requests["watch"] > 12 {
					t.Errorf("%s: %d watches, want one for each kind", name, c.requests["watch"])
				}
				// One before each stage and wait, one at the end; the plan and the revision before.
				if writes := c.requests["patch record"]; n < 1000 && writes > 14 {
					t.Errorf("%s: %d writes of records", name, writes)
				}
				before, known := small[name]
				if !known {
					small[name] = c
					continue
				}
				if each := float64(c.all()-before.all()) / float64(c.objects-before.objects); each > 4 {
					t.Errorf("%s: each further object takes %.2f requests", name, each)
				}
			}
			left := w.leftOver(t)
			if len(left) > 0 {
				t.Errorf("%d objects are left: %v", len(left), left[:min(5, len(left))])
			}
		})
	}
}

// leftOver lists the release's objects that an uninstall left.
func (w *world) leftOver(t *testing.T) []string {
	t.Helper()
	var left []string
	for _, kind := range []struct{ apiVersion, kind string }{
		{"v1", "ConfigMap"}, {"v1", "Secret"}, {"v1", "ServiceAccount"}, {"apps/v1", "Deployment"},
		{"rbac.authorization.k8s.io/v1", "Role"}, {"rbac.authorization.k8s.io/v1", "RoleBinding"},
		{"apiextensions.k8s.io/v1", "CustomResourceDefinition"},
	} {
		objects, err := w.List(t.Context(), kind.apiVersion, kind.kind, "", preview.LabelPartOf+"="+preview.SetID(w.release))
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			left = append(left, preview.RefOf(o).ID())
		}
	}
	return left
}
