package k8s_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// While a plan is made, a right that the user lacks is asked for once, and again for the
// next plan: it may have been given meanwhile.
func TestClusterRightsAreAskedForOnceWhileAPlanIsMade(t *testing.T) {
	var asked atomic.Int64
	proxy := sandboxtest.NewProxy(t, sandboxtest.User(t, sandboxtest.Start(t), "may-nothing"), sandboxtest.ProxyOptions{HTTP2: true, Answered: func(r sandboxtest.Request, _ int, _ []byte) {
		if strings.HasSuffix(r.Path, "/selfsubjectaccessreviews") {
			asked.Add(1)
		}
	}})
	client := connect(t, proxy.Kubeconfig)
	rights := []preview.Right{{Verb: "create", Resource: "pods", Namespace: "a"}, {Verb: "create", Resource: "pods", Namespace: "b"}, {Verb: "create", Resource: "pods", Namespace: "a"}}
	ask := func() {
		t.Helper()
		for i, answer := range client.May(t.Context(), rights) {
			if answer.Err != nil || answer.Allowed {
				t.Errorf("%v: %+v", rights[i], answer)
			}
		}
	}
	for plan := range int64(2) {
		stop := client.PreparePlan(t.Context(), preview.ReadGet)
		ask()
		ask()
		stop()
		if got, want := asked.Load(), 2*(plan+1); got != want {
			t.Errorf("%d reviews after %d plans, want %d", got, plan+1, want)
		}
	}
	if ask(); asked.Load() != 6 {
		t.Errorf("%d reviews, want 6: without a plan nothing is kept", asked.Load())
	}
}
