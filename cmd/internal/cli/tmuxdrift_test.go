package cli_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
)

// kubectl is another user at work in the cluster of a pane.
func (p *pane) kubectl(args ...string) {
	p.t.Helper()
	out, err := exec.Command(sandboxtest.Kubectl(p.t), append([]string{"--kubeconfig", p.box.Kubeconfig()}, args...)...).CombinedOutput()
	if err != nil {
		p.t.Fatalf("kubectl %v: %v\n%s", args, err, out)
	}
}

// A change in the cluster during the review is on the screen at once: the plan is stale,
// it is made again before anybody is asked, and the marks whose evidence is the same
// stay.
func TestTerminalClusterMovesDuringTheReview(t *testing.T) {
	t.Parallel()
	p := installer(t, 120, 36)
	p.run(installCandidate)
	p.wait("CRITICAL")
	p.keys("a")
	p.wait("rbac-secrets-read")
	p.keys("Space")
	p.wait("1 of 1 seen")

	p.kubectl("create", "namespace", "mongodb")
	screen := p.wait("STALE")
	if !strings.Contains(screen, "stale (R): Namespace mongodb exists now") {
		t.Errorf("the header does not say what moved:\n%s", screen)
	}
	p.keys("4")
	p.until("the mark of what moved", func(s string) bool {
		for _, line := range strings.Split(s, "\n") {
			if strings.Contains(line, "mongodb") && strings.Contains(line, "moved") {
				return true
			}
		}
		return false
	})
	p.fits(120, 36)

	p.keys("a")
	screen = p.wait("planned again:")
	if strings.Contains(screen, "You are about to change") || strings.Contains(screen, "STALE") {
		t.Errorf("a stale plan was asked about:\n%s", screen)
	}
	p.keys("a")
	p.wait("You are about to change")
	p.wait("Type mongodb")
	p.kubectl("label", "namespace", "mongodb", "pod-security.kubernetes.io/warn=baseline")
	p.wait("the question was closed")
	p.keys("R")
	p.wait("planned again:")
	p.keys("a")
	p.wait("You are about to change")
	p.typeName("mongodb")
	p.keys("Enter")
	p.wait("DONE")
	p.keys("q")
	p.wait("exit=0")
	p.sane()
}
