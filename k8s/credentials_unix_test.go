//go:build unix

package k8s_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// A credential plugin that hangs is named while the user waits, and is not waited for
// longer than for an API server. It waits for a pipe here, until the test ends.
func TestACredentialPluginThatHangsIsNamed(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	held, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = held.Close() })
	kubeconfig := filepath.Join(dir, "kubeconfig")
	text := "{apiVersion: v1, kind: Config, current-context: c, contexts: [{name: c, context: {cluster: c, user: u}}], clusters: [{name: c, cluster: {server: 'https://127.0.0.1:1'}}], " +
		"users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: cat, args: ['" + pipe + "'], interactiveMode: Never}}}]}"
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	said := make(chan string, 1)
	_, err = k8s.Connect(t.Context(), k8s.Options{
		Kubeconfig: kubeconfig, RequestTimeout: 200 * time.Millisecond, AnswerPatience: time.Millisecond, Waiting: func(line string) { said <- line },
	})
	if preview.ReasonOf(err) != preview.ReasonUnavailable || !strings.Contains(err.Error(), "the program cat, which the kubeconfig runs to get credentials, has not ended within 200ms") {
		t.Errorf("error %v", err)
	}
	if line := <-said; !strings.Contains(line, "does cat wait, which the kubeconfig runs") {
		t.Errorf("said %q", line)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := k8s.Connect(ctx, k8s.Options{Kubeconfig: kubeconfig}); err == nil || !strings.Contains(err.Error(), context.Canceled.Error()) {
		t.Errorf("stopped by the user: %v", err)
	}
}
