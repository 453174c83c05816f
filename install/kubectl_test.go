package install_test

import (
	"os/exec"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
)

// runKubectl changes the cluster as another client does.
func runKubectl(t *testing.T, kubeconfig string, args ...string) {
	t.Helper()
	cmd := exec.Command(sandboxtest.Kubectl(t), append([]string{"--kubeconfig", kubeconfig}, args...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("kubectl %v: %v\n%s", args, err, out)
	}
}
