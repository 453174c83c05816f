package engine_test

import (
	"crypto/rand"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
)

// stepByStep is a cluster that is only read when the engine asks, for it hides the methods
// of ahead.Preparer.
type stepByStep struct{ engine.Cluster }

// A plan whose reads are made ahead has the digest of one that reads step by step.
func TestClusterAPlanReadAheadIsTheSame(t *testing.T) {
	box := sandboxtest.Start(t)
	release := preview.Release{Name: "ahead", Namespace: "ahead-" + strings.ToLower(rand.Text())}
	one, two := applicationsOf(t, release, 2, "one"), applicationsOf(t, release, 3, "two")
	for _, mode := range []preview.ReadMode{preview.ReadDryRun, preview.ReadGet} {
		client, err := k8s.Connect(t.Context(), k8s.Options{Kubeconfig: box.Kubeconfig(), ReadOnly: mode})
		if err != nil {
			t.Fatal(err)
		}
		digest := func(content planned.Content, cluster engine.Cluster) string {
			t.Helper()
			plan, err := engine.Build(t.Context(), []planned.Content{content}, cluster, engine.Options{
				Release: release, Schemas: k8s.NewSchemas(), Apply: preview.DefaultOptions(), ReadMode: mode,
				Request: preview.Request{Action: preview.RequestInstall},
			})
			if err != nil {
				t.Fatal(err)
			}
			return plan.Digest
		}
		same := func(state string, content planned.Content) {
			t.Helper()
			if ahead, steps := digest(content, client), digest(content, stepByStep{client}); ahead != steps {
				t.Errorf("mode %s, %s: %s ahead, %s step by step", mode, state, ahead, steps)
			}
		}
		if mode == preview.ReadDryRun {
			same("nothing is there", one)
			storeApplications(t, box, one)
		}
		same("two of three applications are there", two)
	}
}
