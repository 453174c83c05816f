package install_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
)

// TestClusterUndoThatAnOutageStopsIsFinishedByTheSameCommand takes the cluster, or the
// login, away once the undo begins. A missing right is another matter.
func TestClusterUndoThatAnOutageStopsIsFinishedByTheSameCommand(t *testing.T) {
	for name, test := range map[string]struct {
		fault sandboxtest.Fault
		kind  install.Kind
	}{
		"down":         {sandboxtest.Fault{Cut: sandboxtest.CutBefore}, install.Interrupted},
		"storm":        {sandboxtest.Fault{Status: 503}, install.Interrupted},
		"unauthorized": {sandboxtest.Fault{Status: 401}, install.Interrupted},
		"forbidden":    {sandboxtest.Fault{Status: 403}, install.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := refusing(t, "outage-"+name)
			w.applyQuietly(t, w.plan(t, w.content(t, "1.0.0", configMap("a", "1"))))
			want := w.state(t)
			plan := w.undoable(t, w.content(t, "2.0.0", configMap("a", "2"), configMap("refused", "2")))
			var away atomic.Bool
			proxy := sandboxtest.NewProxy(t, sandboxtest.User(t, w.sandbox, w.user, "system:masters"), sandboxtest.ProxyOptions{
				Fault: func(r sandboxtest.Request) sandboxtest.Fault {
					if away.Load() && !strings.Contains(r.Path, "/leases/") {
						return test.fault
					}
					return sandboxtest.Fault{}
				},
			})
			opts := w.options(t)
			opts.NoWait = true
			log := opts.Sink
			opts.Sink = func(e install.Event) {
				log(e)
				if e.Type == install.EventStage && e.Stage == install.StageUndo {
					away.Store(true)
				}
			}
			_, err := install.Apply(t.Context(), plan, byDigest(plan), connect(t, proxy.Kubeconfig), opts)
			resumable := err != nil && strings.Contains(err.Error(), "--approve "+plan.Digest)
			if kind := install.KindOf(err); kind != test.kind || resumable != (kind == install.Interrupted) {
				t.Fatalf("it ended with %d: %v", kind, err)
			}
			if test.kind == install.Failed {
				return
			}
			away.Store(false)
			_, err = install.Apply(t.Context(), plan, byDigest(plan), w, w.options(t))
			if install.KindOf(err) != install.Failed || !strings.Contains(err.Error(), "it was rolled back") {
				t.Errorf("the same command again ended with %v", err)
			}
			if now := w.state(t); fmt.Sprint(now) != fmt.Sprint(want) {
				t.Errorf("there is %v, want %v", now, want)
			}
		})
	}
}
