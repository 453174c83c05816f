package install_test

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// noted is a check that holds once another user has annotated an object.
type noted struct{ name string }

func (c noted) Selects(body map[string]any) bool { return preview.RefOf(body).Name == c.name }
func (c noted) String() string                   { return c.name + " is noted" }
func (c noted) Holds(body map[string]any) (bool, string) {
	return preview.String(body, "metadata", "annotations", "example.com/noted") == "yes", "not noted"
}

// patientClock jumps, and keeps what takes longer than a jump.
type patientClock struct{ *jumpClock }

func (c patientClock) After(d time.Duration) <-chan time.Time {
	if d > time.Hour {
		return time.After(d)
	}
	return c.jumpClock.After(d)
}

// TestClusterWaitOutlivesTheConnection takes the cluster away from a run that waits, for
// much longer than the lock on the release lasts. It goes on when the cluster is back,
// unless another user took the lock meanwhile.
func TestClusterWaitOutlivesTheConnection(t *testing.T) {
	for name, stolen := range map[string]bool{"and goes on": false, "but not the loss of its lock": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, map[bool]string{false: "blind", true: "blind-robbed"}[stolen])
			plan := w.plan(t, w.content(t, "1.0.0", configMap("a", "1")))
			var away atomic.Bool
			renewals := make(chan struct{}, 1000)
			proxy := sandboxtest.NewProxy(t, sandboxtest.User(t, w.sandbox, w.user, "system:masters"), sandboxtest.ProxyOptions{
				Fault: func(r sandboxtest.Request) sandboxtest.Fault {
					if !away.Load() {
						return sandboxtest.Fault{}
					}
					if strings.Contains(r.Path, "/leases/") && r.Persists() {
						renewals <- struct{}{}
					}
					return sandboxtest.Fault{Cut: sandboxtest.CutBefore}
				},
			})
			waits := make(chan install.WaitState, 1000)
			clock := patientClock{newJumpClock()}
			opts := w.options(t)
			opts.Clock, opts.RolloutTimeout, opts.Checks = clock, 24*time.Hour, []rollout.Check{noted{"a"}}
			opts.Waiting = func(w install.WaitState) { waits <- w }
			ended := make(chan error, 1)
			go func() {
				_, err := install.Apply(t.Context(), plan, byDigest(plan), connect(t, proxy.Kubeconfig), opts)
				ended <- err
			}()
			until := func(what string, ok func(install.WaitState) bool) {
				t.Helper()
				for limit := time.After(2 * time.Minute); ; {
					select {
					case got := <-waits:
						if ok(got) {
							return
						}
					case err := <-ended:
						t.Fatalf("before %s it ended with %v", what, err)
					case <-limit:
						t.Fatalf("never: %s", what)
					}
				}
			}
			until("it waits for the end", func(w install.WaitState) bool { return w.Stage == "rollout" && !w.Deadline.IsZero() })
			away.Store(true)
			proxy.Break()
			until("it says that the cluster is away", func(w install.WaitState) bool { return !w.LostSince.IsZero() && w.Tries > 1 })
			clock.jump()
			for range 2 { // the first was judged when the second comes
				select {
				case <-renewals:
				case err := <-ended:
					t.Fatalf("without the cluster it ended with %v", err)
				case <-time.After(2 * time.Minute):
					t.Fatal("it does not try to keep its lock")
				}
			}
			w.edit(t, "annotate", "configmap", "a", "-n", w.release.Namespace, "example.com/noted=yes")
			if stolen {
				w.edit(t, "patch", "lease", "kubectl-operator."+w.release.Name, "-n", w.release.Namespace, "--type=merge", `-p={"spec":{"holderIdentity":"thief"}}`)
			}
			away.Store(false)
			var err error
			select {
			case err = <-ended:
			case <-time.After(2 * time.Minute):
				t.Fatal("it does not end")
			}
			switch {
			case !stolen && err != nil:
				t.Errorf("it ended with %v", err)
			case stolen && (install.KindOf(err) != install.Interrupted || !strings.Contains(err.Error(), "lost to another writer")):
				t.Errorf("robbed, it ended with %v", err)
			}
		})
	}
}

// A renewal whose answer never came leaves another version of the lease than
// the run knows.
func TestClusterLockIsGivenBackInWhateverVersionItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "given-back")
	opts := w.options(t)
	log, renewed := opts.Sink, false
	opts.Sink = func(e install.Event) {
		log(e)
		if e.Type == install.EventObject && e.State == record.StateApplied && !renewed {
			renewed = true
			w.edit(t, "patch", "lease", "kubectl-operator."+w.release.Name, "-n", w.release.Namespace, "--type=merge", `-p={"spec":{"renewTime":"2030-01-01T00:00:00.000000Z"}}`)
		}
	}
	plan := w.plan(t, w.content(t, "1.0.0", configMap("a", "1")))
	if _, err := install.Apply(t.Context(), plan, byDigest(plan), w, opts); err != nil || !renewed {
		t.Fatalf("%v; renewed: %t", err, renewed)
	}
	if lease := w.read(t, "coordination.k8s.io/v1", "Lease", w.release.Namespace, "kubectl-operator."+w.release.Name); lease != nil {
		t.Errorf("the lease is still there: %v", lease)
	}
}
