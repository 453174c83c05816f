package sandbox_test

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
)

func TestClusterUpDetachedStaysUntilDown(t *testing.T) {
	opts := sandbox.UpOptions{Binary: sandboxtest.Binary(t), Dir: filepath.Join(t.TempDir(), "state"), Detach: true}
	t.Cleanup(func() { _, _ = sandbox.Down(context.Background(), opts.Dir) })
	requireStatus(t, opts.Dir, sandbox.StatusReport{})

	first := up(t, opts)
	status, err := sandbox.Status(opts.Dir)
	if err != nil || !status.Ready || status.State.Kubeconfig != first {
		t.Fatalf("Status = %+v, %v; want ready with kubeconfig %s", status, err, first)
	}
	newClient(t, first)
	if again := up(t, opts); again != first {
		t.Errorf("a second up printed %s, want %s", again, first)
	}
	t.Run("up in the foreground refuses to share it", func(t *testing.T) {
		foreground := opts
		foreground.Detach, foreground.Out = false, io.Discard
		if err := sandbox.Up(t.Context(), foreground); err == nil || !strings.Contains(err.Error(), "running already") {
			t.Errorf("Up: %v, want an error that it is running", err)
		}
	})

	stopped, err := sandbox.Down(t.Context(), opts.Dir)
	if err != nil || !stopped {
		t.Errorf("Down = %v, %v; want true", stopped, err)
	}
	// The server lets go of its lock, which Down waits for, as the last thing
	// before it ends.
	requireNoneWithin(t, opts.Dir, 2*time.Second)
	requireStatus(t, opts.Dir, sandbox.StatusReport{})
	requireRemoved(t, first)
	stopped, err = sandbox.Down(t.Context(), opts.Dir)
	if err != nil || stopped {
		t.Errorf("a second Down = %v, %v; want false", stopped, err)
	}
}

func TestClusterUpInTheForegroundStopsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	opts := sandbox.UpOptions{Binary: sandboxtest.Binary(t), Dir: filepath.Join(t.TempDir(), "state"), Out: writer}
	ended := make(chan error, 1)
	go func() {
		err := sandbox.Up(ctx, opts)
		writer.CloseWithError(io.ErrClosedPipe)
		ended <- err
	}()
	line := make([]byte, 4096)
	n, err := reader.Read(line)
	if err != nil {
		t.Fatalf("Up ended before it was ready: %v", <-ended)
	}
	if got, want := string(line[:n]), filepath.Join(opts.Dir, "kubeconfig")+"\n"; got != want {
		t.Errorf("Up printed %q, want %q", got, want)
	}
	requireAll(t, opts.Dir)
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Up: %v", err)
	}
	requireNoneWithin(t, opts.Dir, 0)
}

func up(t *testing.T, opts sandbox.UpOptions) (kubeconfig string) {
	t.Helper()
	var out bytes.Buffer
	opts.Out = &out
	if err := sandbox.Up(t.Context(), opts); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	return lines[len(lines)-1]
}

func requireStatus(t *testing.T, dir string, want sandbox.StatusReport) {
	t.Helper()
	got, err := sandbox.Status(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}
