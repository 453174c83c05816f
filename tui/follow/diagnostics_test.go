package follow

import (
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

func TestInLinesTheLastEventAndTheEndOfEachLogAreShown(t *testing.T) {
	deployment := preview.Ref{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "mongodb", Name: "operator"}
	got := strings.Join(DiagnosticLines(deployment, podEvents(tuitest.NewClock().T), readPodLogs(60), time.UTC), "\n")
	want := strings.Join([]string{
		`  event  14:02:02  Failed: Failed to pull image "quay.io/mongodb/mongodb-kubernetes:1.10.0": 401 unauthorized  (3 times)  Pod mongodb/operator-5d9c-8hx2l`,
		"  log    Pod mongodb/operator-5d9c-8hx2l  container manager",
		"    I1120 14:03:55  reconciling database-55", "    I1120 14:03:56  reconciling database-56", "    I1120 14:03:57  reconciling database-57",
		"    I1120 14:03:58  reconciling database-58", "    I1120 14:03:59  reconciling database-59",
		"  log    Pod mongodb/operator-5d9c-8hx2l  container webhook  (the run that ended)",
		"    E1120 14:03:24  tls: no certificate", "    exiting",
		"  you may not get pods/log in namespace mongodb: something may be missing",
	}, "\n")
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if lines := DiagnosticLines(deployment, rollout.Diagnostics{}, rollout.Diagnostics{}, time.UTC); len(lines) > 0 {
		t.Errorf("of nothing it says %q", lines)
	}
}
