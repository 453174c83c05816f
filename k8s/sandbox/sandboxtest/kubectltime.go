package sandboxtest

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"testing"
	"time"
)

// TimeKubectl runs kubectl with objects on its standard input, and returns how many
// seconds it took. It fails the test if kubectl exits with another code than exit.
func TimeKubectl(t testing.TB, kubeconfig string, objects []map[string]any, exit int, args ...string) float64 {
	t.Helper()
	var manifests bytes.Buffer
	for _, body := range objects {
		data, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		manifests.Write(append(data, "\n---\n"...))
	}
	kubectl := exec.CommandContext(t.Context(), Kubectl(t), append([]string{"--kubeconfig", kubeconfig}, append(args, "-f", "-")...)...)
	kubectl.Stdin = &manifests
	start := time.Now()
	out, err := kubectl.CombinedOutput()
	took := time.Since(start)
	if kubectl.ProcessState == nil || kubectl.ProcessState.ExitCode() != exit {
		t.Fatalf("kubectl %v: %v: %.500s", args, err, out)
	}
	return took.Seconds()
}
