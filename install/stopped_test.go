package install_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// stopClock is the machine's clock for a process that can be stopped: its timers fire
// when it goes on, and an hour has passed then.
type stopClock struct {
	mu      sync.Mutex
	ahead   time.Duration
	stopped chan struct{} // closed when the process goes on; nil while it runs
}

func (c *stopClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *stopClock) After(d time.Duration) <-chan time.Time {
	fired := make(chan time.Time, 1)
	time.AfterFunc(d, func() {
		c.mu.Lock()
		stopped := c.stopped
		c.mu.Unlock()
		if stopped != nil {
			<-stopped
		}
		fired <- c.Now()
	})
	return fired
}

func (c *stopClock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = make(chan struct{})
}

func (c *stopClock) goOn() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += time.Hour
	close(c.stopped)
	c.stopped = nil
}

// stoppedRun is the cluster of a process that is stopped at one of its writes, and
// meanwhile another one is at work. Renewals of the lock do not count.
type stoppedRun struct {
	install.Cluster
	clock     *stopClock
	at        int
	late      bool // the request reaches the API server when the other is done
	meanwhile func()

	mu      sync.Mutex
	writes  int
	running sync.RWMutex // locked while the process is stopped: none of its requests goes on
}

func (s *stoppedRun) strike(ref preview.Ref, send func() error) error {
	going := func() error {
		s.running.RLock()
		defer s.running.RUnlock()
		return send()
	}
	if ref.Kind == "Lease" {
		return going()
	}
	s.mu.Lock()
	s.writes++
	now := s.writes == s.at
	s.mu.Unlock()
	if !now {
		return going()
	}
	nap := func() {
		s.running.Lock()
		defer s.running.Unlock()
		s.clock.stop()
		s.meanwhile()
		s.clock.goOn()
	}
	if s.late {
		nap()
		return going()
	}
	err := going()
	nap()
	return err
}

func (s *stoppedRun) Apply(ctx context.Context, item preview.DryRun) (body map[string]any, err error) {
	err = s.strike(preview.RefOf(item.Body), func() (err error) { body, err = s.Cluster.Apply(ctx, item); return err })
	return body, err
}

func (s *stoppedRun) Delete(ctx context.Context, ref preview.Ref, uid, version string, dependents preview.Propagation) (gone bool, err error) {
	err = s.strike(ref, func() error { gone, err = s.Cluster.Delete(ctx, ref, uid, version, dependents); return err })
	return gone, err
}

// held lists the objects of a namespace: each object with its uid and version.
func (w *world) held(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, kind := range []string{"ConfigMap", "Secret", "ServiceAccount"} {
		objects, err := w.List(context.WithoutCancel(t.Context()), "v1", kind, w.release.Namespace, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			out = append(out, fmt.Sprint(preview.RefOf(o).ID(), " ", preview.String(o, "metadata", "uid"), " ", preview.String(o, "metadata", "resourceVersion")))
		}
	}
	slices.Sort(out)
	return out
}

// others lists what another process does while one is stopped.
var others = []string{"the same plan", "another version", "an uninstall"}

// TestClusterStoppedPastTheLease stops a run at one of its writes for longer than its
// lock lasts, while another run finishes. The one that goes on writes nothing
// more, takes back what it created too late, and says what it is.
func TestClusterStoppedPastTheLease(t *testing.T) {
	from, to := slowtest.Runs(t, len(others))
	for run := from; run < to; run++ {
		chance := rand.New(rand.NewPCG(uint64(run), 14))
		at, late, other := 1+chance.IntN(16), chance.IntN(2) == 0, others[run%len(others)]
		t.Run(fmt.Sprintf("%d, at write %d, late %t, and %s", run, at, late, other), func(t *testing.T) {
			t.Parallel()
			stopAt(t, fmt.Sprint("stopped-", run), at, late, other)
		})
	}
}

func stopAt(t *testing.T, name string, at int, late bool, other string) {
	w := newWorld(t, name)
	w.applyQuietly(t, w.plan(t, w.content(t, "1.0.0", configMap("a", "1"))))
	manifests := []string{configMap("a", "2")}
	for i := range 7 {
		manifests = append(manifests, configMap(fmt.Sprint("c", i), "2"))
	}
	plan := w.plan(t, w.content(t, "2.0.0", manifests...))
	user := name + "-stopped"
	var left []string
	finished := false // the run was recorded as applied before it was stopped
	cluster := &stoppedRun{
		Cluster: connect(t, sandboxtest.User(t, w.sandbox, user, "system:masters")), clock: &stopClock{}, at: at, late: late,
		meanwhile: func() {
			stored, err := record.Load(t.Context(), w, w.release)
			if err != nil {
				t.Error(err)
			}
			finished = stored.Digest == plan.Digest && stored.State == record.Applied
			next := plan
			switch other {
			case "another version":
				next = w.plan(t, w.content(t, "3.0.0", configMap("a", "3"), configMap("c0", "3"), configMap("d", "3")))
			case "an uninstall":
				next = w.plan(t)
			}
			if next == plan && finished {
				left = w.held(t)
				return
			}
			opts := w.options(t)
			opts.Sink, opts.Holder, opts.Clock, opts.NoWait = nil, "other", fastClock{time.Now()}, true
			if _, err := install.Apply(t.Context(), next, byDigest(next), w, opts); err != nil {
				t.Errorf("the other run ended with %v", err)
			}
			left = w.held(t)
		},
	}
	opts := w.options(t)
	opts.Holder, opts.Clock, opts.NoWait = "stopped", cluster.clock, true
	_, err := install.Apply(t.Context(), plan, byDigest(plan), cluster, opts)
	if left == nil {
		if err != nil {
			t.Errorf("it ended before write %d: %v", at, err)
		}
		return
	}
	if now := w.held(t); !slices.Equal(now, left) && !finished {
		t.Errorf("the other run left\n%s\nnow there is\n%s", strings.Join(left, "\n"), strings.Join(now, "\n"))
	}
	if lease := w.read(t, "coordination.k8s.io/v1", "Lease", w.release.Namespace, preview.RecordName(w.release.Name)); lease != nil {
		t.Errorf("a lease is left: %v", lease["spec"])
	}
	wrote := slices.ContainsFunc(sandboxtest.Mutations(t, w.sandbox, user), func(e sandbox.AuditEvent) bool {
		return !strings.HasPrefix(e.ObjectRef.Name, "kubectl-operator.")
	})
	kind := install.KindOf(err)
	switch {
	case err == nil && !finished:
		t.Error("it ended with exit 0 although another run had taken its lock")
	case err != nil && wrote && kind != install.Interrupted && kind != install.Failed, err != nil && !wrote && kind != install.NotStarted:
		t.Errorf("it ended with %d, and that it wrote is %t: %v", kind, wrote, err)
	case other != "the same plan" && kind == install.Interrupted:
		t.Errorf("it ended as if it could be resumed: %v", err)
	}
	t.Logf("ended with %v", err)
}
