package cli_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
)

// TestASignalEndsPlanning signals a process that computes and contacts nothing:
// the hashes of a thousand Secrets take it a minute and more.
func TestASignalEndsPlanning(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			cmd, rendering, out := slowPreview(t)
			rendering()
			if err := cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			signalled := time.Now()
			code := ended(t, cmd)
			t.Logf("it ended after %v", time.Since(signalled))
			if said := out.String(); code != 2 || !strings.Contains(said, "cancelled; nothing was applied") {
				t.Errorf("exit %d\n%s", code, said)
			}
		})
	}
}

// slowPreview starts a preview that takes longer than any test waits. rendering
// returns once it renders.
func slowPreview(t *testing.T) (cmd *exec.Cmd, rendering func(), out *bytes.Buffer) {
	t.Helper()
	dir := t.TempDir()
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "---\napiVersion: v1\nkind: Secret\nmetadata: {name: a%[1]d}\nstringData: {password: b%[1]d}\n", i)
	}
	log := filepath.Join(dir, "log")
	content := filepath.Join(dir, "content")
	for _, err := range []error{
		os.Mkdir(content, 0o700), os.WriteFile(filepath.Join(content, "a.yaml"), []byte(text.String()), 0o600), syscall.Mkfifo(log, 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd, out = exec.Command("kubectl-operator", "preview", content, "r", "-n", "n", "--offline", "--log-file", log), &bytes.Buffer{}
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CACHE_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, func() {
		t.Helper()
		lines, err := os.Open(log) // once the program does
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = lines.Close() })
		for scanner := bufio.NewScanner(lines); scanner.Scan(); {
			if strings.Contains(scanner.Text(), "rendering") {
				return
			}
		}
		t.Fatal("it ended without rendering")
	}, out
}

// ended waits for a process that is to end soon, and returns its exit code.
func ended(t *testing.T, cmd *exec.Cmd) int {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = cmd.Wait()
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Error("it goes on for 20 s after the signal")
		_ = cmd.Process.Kill()
		<-done
	}
	return cmd.ProcessState.ExitCode()
}

// TestSignalsWhilePlanning: a user who asks again and again is told the same.
func TestSignalsWhilePlanning(t *testing.T) {
	t.Parallel()
	cmd, rendering, out := slowPreview(t)
	rendering()
	gone := make(chan struct{})
	signalUntil(cmd, gone)
	code := ended(t, cmd)
	close(gone)
	if said := out.String(); code != 2 || !strings.Contains(said, "cancelled") || !strings.Contains(said, "nothing was applied") {
		t.Errorf("exit %d\n%s", code, said)
	}
}

// TestClusterSecondSignalEndsAtOnce holds the answer to a write back: the first signal
// waits for it, the second does not.
func TestClusterSecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	box := sandboxtest.Start(t)
	v := newVictim(t, box, k8s.NewSchemas(), "twice")
	v.review()
	gone, reached := make(chan struct{}), make(chan struct{}, 100)
	proxy := sandboxtest.NewProxy(t, v.kubeconfig(), sandboxtest.ProxyOptions{Fault: func(r sandboxtest.Request) sandboxtest.Fault {
		if strings.Contains(r.Path, "/serviceaccounts/") && r.Persists() {
			reached <- struct{}{}
			<-gone // no answer while it runs
		}
		return sandboxtest.Fault{}
	}})
	cmd := v.program(proxy.Kubeconfig, v.byDigest()...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-reached
	signalUntil(cmd, gone)
	code := ended(t, cmd)
	close(gone)
	if said := out.String(); code != 4 || !strings.Contains(said, "what was written stays") {
		t.Errorf("exit %d, want 4\n%s", code, said)
	}
	if code, said := v.run(v.program(v.kubeconfig(), v.byDigest()...)); code != 0 {
		t.Errorf("the same command again: exit %d\n%s", code, said)
	}
	for _, finding := range v.findings {
		t.Error(finding)
	}
}

// signalUntil sends signals, as an impatient user does, until the process is gone.
func signalUntil(cmd *exec.Cmd, gone <-chan struct{}) {
	go func() {
		for tick := time.NewTicker(100 * time.Millisecond); ; {
			if cmd.Process.Signal(syscall.SIGTERM) != nil {
				tick.Stop()
				return
			}
			select {
			case <-gone:
				tick.Stop()
				return
			case <-tick.C:
			}
		}
	}()
}
