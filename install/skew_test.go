package install_test

import (
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
)

// wrongClock is a machine's clock that is ahead, or behind.
type wrongClock struct{ by time.Duration }

func (c wrongClock) Now() time.Time                         { return time.Now().Add(c.by) }
func (c wrongClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// TestClusterTwoMachinesWhoseClocksDiffer holds one installer in mid-apply. Another,
// whose clock says that the lock expired long ago, or is of the future, leaves
// it alone as long as it is renewed.
func TestClusterTwoMachinesWhoseClocksDiffer(t *testing.T) {
	for name, by := range map[string]time.Duration{"ahead": time.Hour, "behind": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "clock-"+name)
			raw := sandboxtest.NewRawClient(t, w.sandbox.Kubeconfig())
			makeNamespace(t, raw, w.release.Namespace)
			plan := w.plan(t, w.content(t, "1.0.0", configMap("a", "1")))
			reached, release := make(chan struct{}), make(chan struct{})
			ended := make(chan error, 1)
			held := false
			go func() {
				_, err := w.through(t, plan, func(r sandboxtest.Request) sandboxtest.Fault {
					if held || !isPlanObject(r) {
						return sandboxtest.Fault{}
					}
					held = true
					close(reached)
					return sandboxtest.Fault{Hold: release}
				})
				ended <- err
			}()
			<-reached
			rival := connect(t, sandboxtest.User(t, w.sandbox, w.user+"-rival", "system:masters"))
			opts := w.options(t)
			opts.Holder, opts.Clock, opts.NoWait = "rival", wrongClock{by}, true
			_, err := install.Apply(t.Context(), plan, byDigest(plan), rival, opts)
			if kind := install.KindOf(err); kind != install.NotStarted {
				t.Errorf("the rival ended with %v", err)
			}
			if made := sandboxtest.Mutations(t, w.sandbox, w.user+"-rival"); len(made) > 0 {
				t.Errorf("the rival wrote %v", made)
			}
			close(release)
			if err := <-ended; err != nil {
				t.Errorf("who held the lock ended with %v", err)
			}
			w.sameAsReviewed(t, plan)
		})
	}
}
