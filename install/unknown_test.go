package install_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// numbered returns n ConfigMaps c00, c01 and so on.
func numbered(n int, value string) []string {
	var out []string
	for i := range n {
		out = append(out, configMap(fmt.Sprintf("c%02d", i), value))
	}
	return out
}

// members returns the ConfigMaps that have the marks of the world's release, by id.
func (w *world) members(t *testing.T) []string {
	t.Helper()
	objects, err := w.List(t.Context(), "v1", "ConfigMap", w.release.Namespace, preview.LabelPartOf+"="+preview.SetID(w.release))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, o := range objects {
		out = append(out, preview.RefOf(o).ID())
	}
	return out
}

// orphans returns the members that no inventory of the release has.
func (w *world) orphans(t *testing.T) []string {
	t.Helper()
	stored, err := record.Load(t.Context(), w, w.release)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(w.members(t), func(id string) bool {
		return slices.ContainsFunc(stored.Inventory, func(i record.Item) bool { return i.Ref().ID() == id })
	})
}

// lateBatch is a proxy for a batch: it cuts one create, which arrives when the test says
// so, and refuses another.
type lateBatch struct {
	proxy    *sandboxtest.Proxy
	arrive   func() // the create that was cut goes on to the API server
	refusing atomic.Bool
	reading  atomic.Bool // the one that was cut can be read
}

func newLateBatch(t *testing.T, w *world, late, refused string) *lateBatch {
	t.Helper()
	b := &lateBatch{}
	b.refusing.Store(true)
	onItsWay, cut, hold := make(chan struct{}), false, make(chan struct{})
	b.arrive = sync.OnceFunc(func() { close(hold) })
	b.proxy = sandboxtest.NewProxy(t, sandboxtest.User(t, w.sandbox, w.user, "system:masters"), sandboxtest.ProxyOptions{
		Fault: func(r sandboxtest.Request) sandboxtest.Fault {
			switch {
			case strings.HasSuffix(r.Path, "/configmaps/"+late) && r.Persists() && !cut:
				cut = true
				close(onItsWay)
				return sandboxtest.Fault{Cut: sandboxtest.CutLate, Hold: hold}
			case strings.HasSuffix(r.Path, "/configmaps/"+late) && r.Method == http.MethodGet && cut && !b.reading.Load():
				return sandboxtest.Fault{Cut: sandboxtest.CutBefore}
			case strings.HasSuffix(r.Path, "/configmaps/"+refused) && r.Persists() && b.refusing.Load():
				return sandboxtest.Fault{Hold: onItsWay, Status: http.StatusForbidden}
			}
			return sandboxtest.Fault{}
		},
	})
	t.Cleanup(func() {
		b.arrive()
		b.proxy.Landed()
	})
	return b
}

// TestClusterRunWithAWriteOnItsWayIsInterrupted: of a batch one create is refused, and of
// another nothing is known. The refusal does not decide: nothing is undone while a create
// may still arrive, and the same command goes on.
func TestClusterRunWithAWriteOnItsWayIsInterrupted(t *testing.T) {
	start := func(t *testing.T, name string) (*world, *preview.Plan, *lateBatch) {
		t.Parallel()
		w := newWorld(t, name)
		makeNamespace(t, sandboxtest.NewRawClient(t, w.sandbox.Kubeconfig()), name)
		plan := w.undoable(t, w.content(t, "1.0.0", numbered(40, "1")...))
		b := newLateBatch(t, w, "c18", "c15")
		opts := w.options(t)
		opts.NoWait = true
		receipt, err := install.Apply(t.Context(), plan, byDigest(plan), connect(t, b.proxy.Kubeconfig), opts)
		if install.KindOf(err) != install.Interrupted || receipt.Undo != nil || !strings.Contains(err.Error(), "--approve "+plan.Digest) ||
			!strings.Contains(err.Error(), "c18") || !strings.Contains(err.Error(), "c15") {
			t.Errorf("it ended with %d, the undo %v: %v", install.KindOf(err), receipt.Undo, err)
		}
		return w, plan, b
	}
	t.Run("and the same command goes on", func(t *testing.T) {
		w, plan, b := start(t, "unknown-goes-on")
		b.arrive()
		b.proxy.Landed()
		w.apply(t, plan)
		w.sameAsReviewed(t, plan)
		if left := w.orphans(t); len(left) > 0 {
			t.Errorf("no record has %v", left)
		}
	})
	t.Run("and is undone by the same command once nothing is on its way", func(t *testing.T) {
		w, plan, b := start(t, "unknown-undone")
		b.reading.Store(true)
		opts := w.options(t)
		log := opts.Sink
		opts.Clock, opts.NoWait = fastClock{time.Now()}, true
		opts.Sink = func(e install.Event) {
			log(e)
			if e.Type == install.EventLog && strings.Contains(e.Message, "may still arrive") {
				b.arrive()
			}
		}
		_, err := install.Apply(t.Context(), plan, byDigest(plan), connect(t, b.proxy.Kubeconfig), opts)
		if install.KindOf(err) != install.Failed || !strings.Contains(err.Error(), "what the plan created is removed") {
			t.Errorf("it ended with %d: %v", install.KindOf(err), err)
		}
		b.arrive()
		b.proxy.Landed()
		if left := w.members(t); len(left) > 0 {
			t.Errorf("%v is left", left)
		}
	})
}

// TestClusterFreezeIsNoEditByOthers: from one write on, admission refuses every create and
// update. Objects written before are known as such: they are taken back, or the run goes
// on with them, and no other client is blamed.
func TestClusterFreezeIsNoEditByOthers(t *testing.T) {
	const freeze = "the change freeze has begun"
	start := func(t *testing.T, name string) (w *world, frozen *atomic.Bool) {
		t.Parallel()
		w = newWorld(t, name)
		raw := sandboxtest.NewRawClient(t, w.sandbox.Kubeconfig())
		makeNamespace(t, raw, name)
		webhook := intercept(t, raw, name, "secrets", "services", "serviceaccounts", "apps/deployments", "rbac.authorization.k8s.io/roles", "rbac.authorization.k8s.io/rolebindings")
		frozen = new(atomic.Bool)
		var begins sync.Once
		webhook.Answer(func(a sandboxtest.Admission) sandboxtest.Verdict {
			if strings.HasPrefix(a.Name, "kubectl-operator.") || a.User.Username != w.user {
				return sandboxtest.Verdict{}
			}
			if a.Name == "c07" && !a.DryRun {
				begins.Do(func() { frozen.Store(true) })
			}
			if frozen.Load() {
				return sandboxtest.Verdict{Deny: freeze}
			}
			return sandboxtest.Verdict{}
		})
		return w, frozen
	}
	content := func(w *world, value string) []string { return append(numbered(20, value), w.operator("one")) }
	t.Run("an install is rolled back", func(t *testing.T) {
		w, _ := start(t, "freeze-undo")
		_, err := w.failing(t, w.undoable(t, w.content(t, "1.0.0", content(w, "1")...)), w.options(t))
		if !strings.Contains(err.Error(), freeze) || !strings.Contains(err.Error(), "what the plan created is removed") {
			t.Errorf("it ended with %v", err)
		}
		if left := w.members(t); len(left) > 0 {
			t.Errorf("%v is left", left)
		}
	})
	t.Run("an edit by others still stops the rollback", func(t *testing.T) {
		w, _ := start(t, "freeze-edited")
		opts := w.options(t)
		log := opts.Sink
		opts.Sink = func(e install.Event) {
			log(e)
			if e.Stage == install.StageUndo {
				w.edit(t, "patch", "configmap", "c03", "--type=merge", `-p={"data":{"key":"mine"}}`, "-n", w.release.Namespace)
			}
		}
		_, err := w.failing(t, w.undoable(t, w.content(t, "1.0.0", content(w, "1")...)), opts)
		const want = "it was not rolled back: core/ConfigMap/freeze-edited/c03 was changed by another client since the plan wrote it;"
		if !strings.Contains(err.Error(), want) {
			t.Errorf("it ended with %v", err)
		}
	})
	t.Run("the same command goes on after it", func(t *testing.T) {
		w, frozen := start(t, "freeze-resumed")
		plan := w.plan(t, w.content(t, "1.0.0", content(w, "1")...))
		for _, kind := range []install.Kind{install.Failed, install.NotStarted} { // the second one writes nothing
			_, err := install.Apply(t.Context(), plan, byDigest(plan), w, w.options(t))
			if install.KindOf(err) != kind || !strings.Contains(err.Error(), freeze) || strings.Contains(err.Error(), "is not what this plan creates") {
				t.Errorf("during the freeze it ended with %d: %v", install.KindOf(err), err)
			}
		}
		frozen.Store(false)
		w.apply(t, plan)
		w.sameAsReviewed(t, plan)
	})
}
