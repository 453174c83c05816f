package install_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Faults at the n-th write of a run, records and lease included.
const (
	killed      = "the process is killed after the write"
	answerLost  = "the answer is lost"
	requestLost = "the request is lost"
)

// faulty is a cluster whose connection fails at one write. It counts on a real
// one: nothing is pretended but the network.
type faulty struct {
	install.Cluster
	mode string
	at   int
	only func(preview.Ref) bool // the writes that count, when not nil

	mu     sync.Mutex
	writes int
	died   time.Time // zero while it lives
}

var errNetwork = &preview.Refusal{Reason: preview.ReasonUnavailable, Message: "connection reset by peer"}

func (f *faulty) strike(ref preview.Ref, send func() error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.died.IsZero() {
		return errNetwork
	}
	if f.only != nil && !f.only(ref) {
		return send()
	}
	f.writes++
	if f.writes != f.at {
		return send()
	}
	switch f.mode {
	case killed:
		f.died = time.Now()
		_ = send()
	case answerLost:
		_ = send()
	}
	return errNetwork
}

func (f *faulty) alive() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.died.IsZero() {
		return errNetwork
	}
	return nil
}

func (f *faulty) Apply(ctx context.Context, item preview.DryRun) (body map[string]any, err error) {
	err = f.strike(preview.RefOf(item.Body), func() (err error) { body, err = f.Cluster.Apply(ctx, item); return err })
	if err != nil {
		return nil, err
	}
	return body, nil
}

func (f *faulty) Patch(ctx context.Context, ref preview.Ref, ops []preview.PatchOp) (body map[string]any, err error) {
	err = f.strike(ref, func() (err error) { body, err = f.Cluster.Patch(ctx, ref, ops); return err })
	if err != nil {
		return nil, err
	}
	return body, nil
}

func (f *faulty) Delete(ctx context.Context, ref preview.Ref, uid, version string, dependents preview.Propagation) (gone bool, err error) {
	err = f.strike(ref, func() error { gone, err = f.Cluster.Delete(ctx, ref, uid, version, dependents); return err })
	return gone, err
}

func (f *faulty) Get(ctx context.Context, ref preview.Ref) (map[string]any, error) {
	if err := f.alive(); err != nil {
		return nil, err
	}
	return f.Cluster.Get(ctx, ref)
}

func (f *faulty) Observe(ctx context.Context, refs []preview.Ref, each func(preview.Ref, map[string]any, error)) error {
	if err := f.alive(); err != nil {
		return err
	}
	return f.Cluster.Observe(ctx, refs, each)
}

// deadClock is the machine's until the process is dead. The rest of it in the test goes
// on to ask a network that is gone; a hundred times as fast, it is done with that soon.
type deadClock struct{ of *faulty }

func (c deadClock) Now() time.Time {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if c.of.died.IsZero() {
		return time.Now()
	}
	return c.of.died.Add(100 * time.Since(c.of.died))
}

func (c deadClock) After(d time.Duration) <-chan time.Time {
	if c.of.alive() != nil {
		d /= 100
	}
	return time.After(d)
}

// fastClock runs twenty times as fast as the machine's, so that watching a
// lease for its 15 s takes less than one.
type fastClock struct{ start time.Time }

func (c fastClock) Now() time.Time                         { return c.start.Add(20 * time.Since(c.start)) }
func (c fastClock) After(d time.Duration) <-chan time.Time { return time.After(d / 20) }

// scenario is a plan to break: an install into a new namespace, or an upgrade.
type scenario struct {
	name string
	plan func(t *testing.T, w *world) *preview.Plan
	want map[string]string // ConfigMap → value, empty for absent
	once []string          // writes that must be persisted exactly once; twice when named twice
}

var scenarios = []scenario{
	{
		name: "install",
		plan: func(t *testing.T, w *world) *preview.Plan {
			return w.plan(t, w.content(t, "1.0.0", configMap("a", "1"), configMap("b", "1"), secret))
		},
		want: map[string]string{"a": "1", "b": "1"},
		once: []string{"patch core/namespaces NS/NS", "patch core/configmaps NS/a", "patch core/configmaps NS/b", "patch core/secrets NS/s"},
	},
	{
		name: "upgrade",
		plan: func(t *testing.T, w *world) *preview.Plan {
			w.apply(t, w.plan(t, w.content(t, "1.0.0", configMap("a", "1"), configMap("b", "1"))))
			return w.plan(t, w.content(t, "2.0.0", configMap("a", "2"), configMap("c", "2")))
		},
		want: map[string]string{"a": "2", "b": "", "c": "2"},
		once: []string{"patch core/configmaps NS/a", "patch core/configmaps NS/c", "delete core/configmaps NS/b"},
	},
	{
		name: "replace",
		plan: func(t *testing.T, w *world) *preview.Plan {
			w.apply(t, w.plan(t, w.content(t, "1.0.0", frozen("1"), configMap("b", "1"))))
			return w.plan(t, w.content(t, "2.0.0", frozen("2"), configMap("b", "2")))
		},
		want: map[string]string{"a": "2", "b": "2"},
		once: []string{"delete core/configmaps NS/a", "patch core/configmaps NS/a", "patch core/configmaps NS/b"},
	},
	{
		name: "adopt",
		plan: func(t *testing.T, w *world) *preview.Plan {
			w.edit(t, "create", "namespace", w.release.Namespace)
			w.makes(t, strings.Replace(configMap("a", "1"), "{name: a}", "{name: a, namespace: "+w.release.Namespace+", annotations: {meta.helm.sh/release-name: web}}", 1))
			return w.planWith(t, adopting, w.content(t, "1.0.0", configMap("a", "2"), configMap("b", "2")))
		},
		want: map[string]string{"a": "2", "b": "2"},
		once: []string{"patch core/configmaps NS/a", "patch core/configmaps NS/a", "patch core/configmaps NS/b"},
	},
}

// frozen is a ConfigMap whose data cannot change.
func frozen(value string) string { return configMap("a", value) + "immutable: true\n" }

const secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {password: aHVudGVyMg==}\n"

// TestClusterEveryWriteMayFail breaks the connection at every second write of a run, in
// one of three ways, which come in turn; a soak at every single one, and in each way. Each
// turn of "make test" has every scenario, in one of the ways. The
// release ends as reviewed, at once or when the same digest resumes it, and every object
// was written exactly once.
func TestClusterEveryWriteMayFail(t *testing.T) {
	t.Parallel()
	for nth, s := range scenarios {
		for i, mode := range []string{killed, answerLost, requestLost} {
			if !slowtest.Turn(t, nth+i) {
				continue
			}
			t.Run(s.name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				for at := 1; ; at++ {
					if at > 60 {
						t.Fatal("the run does not end")
					}
					if !slowtest.InSample(at+5-2*i, 6) {
						continue
					}
					if !breakAt(t, s, mode, at, fmt.Sprintf("fault-%s-%d-%d", s.name, i, at)) {
						break
					}
				}
			})
		}
	}
}

// breakAt runs a scenario with one fault, and reports whether the run came as
// far as the fault.
func breakAt(t *testing.T, s scenario, mode string, at int, name string) bool {
	t.Helper()
	w := newWorld(t, name)
	plan := s.plan(t, w)
	before := len(w.writes(t))
	cluster := &faulty{Cluster: w.Client, mode: mode, at: at}
	opts := w.options(t)
	opts.Sink, opts.Holder, opts.Clock = nil, "first", deadClock{cluster}
	_, err := install.Apply(t.Context(), plan, byDigest(plan), cluster, opts)
	if cluster.writes < at {
		if err != nil {
			t.Errorf("without a fault: %v", err)
		}
		return false
	}
	wrote := slices.ContainsFunc(w.writes(t)[before:], func(e string) bool { return isOnce(s, w, e) })
	if mode == killed && err != nil {
		if kind := install.KindOf(err); (kind == install.Failed || kind == install.Interrupted) != wrote {
			t.Errorf("write %d: exit %d although a plan object was written: %t\n%v", at, kind, wrote, err)
		}
		checkReconciled(t, w, plan, at, w.writes(t)[before:])
		err = resume(t, w, plan, at)
	}
	if err != nil {
		t.Fatalf("write %d: %v", at, err)
	}
	checkEnd(t, w, s, at, w.writes(t)[before:])
	return true
}

// resume goes on with the digest of an interrupted run: with the plan file, or
// with the plan as recorded.
func resume(t *testing.T, w *world, plan *preview.Plan, at int) error {
	t.Helper()
	stored, err := record.Load(t.Context(), w, w.release)
	if err != nil {
		t.Fatal(err)
	}
	approval := byDigest(plan)
	if at%2 == 1 && stored != nil && stored.Digest == plan.Digest {
		sealed := map[string]map[string]any{}
		for i := range plan.Objects {
			sealed[plan.Objects[i].ID] = plan.Objects[i].Planned
		}
		if plan, err = record.LoadPlan(t.Context(), w, stored, sealed); err != nil {
			t.Fatal(err)
		}
	}
	if stored != nil && stored.Digest == plan.Digest && !stored.State.Unfinished() {
		return nil // it was killed after its last word
	}
	opts := w.options(t)
	opts.Sink, opts.Holder, opts.Clock = nil, "second", fastClock{time.Now()}
	_, err = install.Apply(t.Context(), plan, approval, w, opts)
	return err
}

// checkReconciled holds what a killed run left on record, once the cluster is
// asked, against the audit log.
func checkReconciled(t *testing.T, w *world, plan *preview.Plan, at int, writes []string) {
	t.Helper()
	stored, err := record.Load(t.Context(), w, w.release)
	if err != nil {
		t.Fatal(err)
	}
	if stored == nil || stored.Digest != plan.Digest {
		return
	}
	objects, err := install.Reconcile(t.Context(), w, w.schemas, stored)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		_, kind, _, name, err := preview.ParseID(o.ID)
		if err != nil {
			t.Fatal(err)
		}
		verb := "patch"
		switch {
		case o.Action == preview.ActionDelete,
			o.Action == preview.ActionReplace && (o.State == record.StateRemoving || o.State == record.StateRemoved):
			verb = "delete"
		}
		event := verb + " core/" + strings.ToLower(kind) + "s " + w.release.Namespace + "/" + name
		happened := slices.Contains(writes, event)
		if recorded := o.State != record.StatePending; recorded != happened || o.State == record.StateSent {
			t.Errorf("write %d: %s is recorded as %s; written: %t", at, o.ID, o.State, happened)
		}
	}
}

func isOnce(s scenario, w *world, event string) bool {
	return slices.ContainsFunc(s.once, func(want string) bool {
		return event == strings.ReplaceAll(want, "NS", w.release.Namespace)
	})
}

func checkEnd(t *testing.T, w *world, s scenario, at int, writes []string) {
	t.Helper()
	for name, want := range s.want {
		live := w.read(t, "v1", "ConfigMap", w.release.Namespace, name)
		if got := preview.String(live, "data", "key"); got != want || live != nil && want == "" {
			t.Errorf("write %d: %s is %q, want %q", at, name, got, want)
		}
	}
	for _, named := range s.once {
		want, times := strings.ReplaceAll(named, "NS", w.release.Namespace), count(s.once, named)
		if n := count(writes, want); n != times {
			t.Errorf("write %d: %q was persisted %d times, want %d\n%s", at, want, n, times, strings.Join(writes, "\n"))
		}
	}
	stored, err := record.Load(t.Context(), w, w.release)
	if err != nil || stored == nil || stored.State != record.Applied {
		t.Errorf("write %d: the record is %+v, %v, want applied", at, stored, err)
	}
}
