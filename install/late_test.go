package install_test

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
)

// flying is how many writes of a run are in flight at most.
const flying = 16

// TestClusterLateBatchIsTakenBackAsOne stops a run with sixteen creates in the network until
// another user has uninstalled the release. They are taken back in parallel: the one that is
// answered last holds none of the others up.
func TestClusterLateBatchIsTakenBackAsOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "late-batch")
	w.applyQuietly(t, w.plan(t, w.content(t, "1.0.0", configMap("first", "1"))))
	plan := w.plan(t, w.content(t, "2.0.0", append(numbered(60, "2"), configMap("first", "2"))...))
	var held, deleted int
	full, release, others := make(chan struct{}), make(chan struct{}), make(chan struct{})
	clock := &stopClock{}
	proxy := sandboxtest.NewProxy(t, sandboxtest.User(t, w.sandbox, w.user+"-late", "system:masters"), sandboxtest.ProxyOptions{
		Fault: func(r sandboxtest.Request) sandboxtest.Fault {
			switch {
			case !isPlanObject(r) || strings.HasSuffix(r.Path, "/first") || r.Path < "/api/v1/namespaces/late-batch/configmaps/c20":
			case r.Method == http.MethodDelete:
				if deleted++; deleted == 1 {
					return sandboxtest.Fault{Hold: others}
				}
			default:
				if held++; held == flying {
					clock.stop()
					close(full)
				}
				return sandboxtest.Fault{Hold: release}
			}
			return sandboxtest.Fault{}
		},
		Answered: func(r sandboxtest.Request, status int, _ []byte) {
			if r.Method == http.MethodDelete && isPlanObject(r) && status == http.StatusOK && deleted == flying {
				select {
				case <-others:
				default:
					close(others)
				}
			}
		},
	})
	go func() {
		<-full
		defer close(release)
		defer clock.goOn()
		opts := w.options(t)
		opts.Sink, opts.Holder, opts.Clock, opts.NoWait = nil, "other", fastClock{time.Now()}, true
		removal := w.plan(t)
		if _, err := install.Apply(t.Context(), removal, byDigest(removal), w, opts); err != nil && !strings.Contains(err.Error(), "arrived during this one") {
			t.Errorf("the uninstall ended with %v", err)
		}
	}()
	opts := w.options(t)
	opts.Holder, opts.Clock, opts.NoWait = "stopped", clock, true
	_, err := install.Apply(t.Context(), plan, byDigest(plan), connect(t, proxy.Kubeconfig), opts)
	if install.KindOf(err) != install.Failed || strings.Count(err.Error(), "was deleted again") != flying {
		t.Errorf("it ended with %d: %v", install.KindOf(err), err)
	}
	if left := w.members(t); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// TestClusterUninstallNamesWhatArrivesLate kills a run with sixteen creates in the network.
// They arrive after another user has uninstalled the release: the uninstall says so, and the
// next one removes them.
func TestClusterUninstallNamesWhatArrivesLate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "late-killed")
	w.applyQuietly(t, w.plan(t, w.content(t, "1.0.0", configMap("first", "1"))))
	plan := w.plan(t, w.content(t, "2.0.0", append(numbered(60, "2"), configMap("first", "2"))...))
	held, dead, full, release := map[string]bool{}, new(atomic.Bool), make(chan struct{}), make(chan struct{})
	arrive := sync.OnceFunc(func() { close(release) })
	proxy := sandboxtest.NewProxy(t, sandboxtest.User(t, w.sandbox, w.user+"-killed", "system:masters"), sandboxtest.ProxyOptions{
		Fault: func(r sandboxtest.Request) sandboxtest.Fault {
			switch {
			case dead.Load():
				return sandboxtest.Fault{Cut: sandboxtest.CutBefore}
			case !isPlanObject(r) || strings.HasSuffix(r.Path, "/first") || r.Path < "/api/v1/namespaces/late-killed/configmaps/c20":
				return sandboxtest.Fault{}
			}
			if held[r.Path] = true; len(held) == flying && dead.CompareAndSwap(false, true) {
				close(full)
			}
			// No write fails before all are in flight: after a failure none begins.
			return sandboxtest.Fault{Cut: sandboxtest.CutLate, Hold: release, Then: func() { <-full }}
		},
	})
	ended := make(chan struct{})
	t.Cleanup(func() {
		arrive()
		proxy.Landed()
		<-ended
	})
	killed := connect(t, proxy.Kubeconfig)
	go func() {
		defer close(ended)
		opts := w.options(t)
		opts.Sink, opts.Holder, opts.Clock, opts.NoWait = nil, "killed", fastClock{time.Now()}, true
		if _, err := install.Apply(t.Context(), plan, byDigest(plan), killed, opts); err == nil {
			t.Error("the killed run ended with exit 0")
		}
	}()
	<-full
	opts := w.options(t)
	opts.Holder, opts.Clock, opts.NoWait = "other", fastClock{time.Now()}, true
	log := opts.Sink
	opts.Sink = func(e install.Event) {
		log(e)
		if e.Type == install.EventLog && strings.Contains(e.Message, "may still arrive") {
			arrive()
		}
	}
	removal := w.plan(t)
	_, err := install.Apply(t.Context(), removal, byDigest(removal), w, opts)
	arrive()
	proxy.Landed()
	if install.KindOf(err) != install.Failed || !strings.Contains(err.Error(), "core/ConfigMap/late-killed/c20") {
		t.Errorf("the uninstall ended with %d: %v", install.KindOf(err), err)
	}
	if left, lost := w.members(t), w.orphans(t); len(left) != flying || len(lost) > 0 {
		t.Errorf("%v arrived, and no record has %v", left, lost)
	}
	w.apply(t, w.plan(t))
	if left := w.members(t); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}
