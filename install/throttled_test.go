package install_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
)

// TestClusterOverloadedServerHasCarriedNothingOut answers a write with 429 more often
// than a write without an answer is tried, and for ever.
func TestClusterOverloadedServerHasCarriedNothingOut(t *testing.T) {
	for name, times := range map[string]int{"for a while": 12, "for-ever": 1 << 30} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "busy-"+strings.ReplaceAll(name, " ", "-"))
			plan := w.plan(t, w.content(t, "1.0.0", configMap("a", "1"), configMap("b", "1")))
			hits := 0
			proxy := sandboxtest.NewProxy(t, sandboxtest.User(t, w.sandbox, w.user, "system:masters"), sandboxtest.ProxyOptions{
				Fault: func(r sandboxtest.Request) sandboxtest.Fault {
					if !r.Persists() || !strings.HasSuffix(r.Path, "/configmaps/b") || hits >= times {
						return sandboxtest.Fault{}
					}
					hits++
					return sandboxtest.Fault{Status: 429, RetryAfter: 1}
				},
			})
			opts := w.options(t)
			opts.NoWait, opts.Clock = true, fastClock{time.Now()}
			receipt, err := install.Apply(t.Context(), plan, byDigest(plan), connect(t, proxy.Kubeconfig), opts)
			if hits <= times && times == 12 {
				if err != nil {
					t.Errorf("after %d answers it ended with %v", hits, err)
				}
				return
			}
			var e *install.Error
			if !errors.As(err, &e) || e.Kind != install.Interrupted || strings.Contains(err.Error(), "unknown") || !strings.Contains(err.Error(), "carried nothing out") {
				t.Errorf("it ended with %v", err)
			}
			for _, o := range receipt.Objects {
				if strings.HasSuffix(o.ID, "/b") && o.State != record.StatePending {
					t.Errorf("%s is %s", o.ID, o.State)
				}
			}
		})
	}
}
