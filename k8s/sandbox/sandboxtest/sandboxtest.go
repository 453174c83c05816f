// Package sandboxtest gives tests a control plane. Only tests import it.
package sandboxtest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
)

// startTimeout is the time limit of a start, far above the usual three seconds,
// because CI machines are shared.
const startTimeout = 3 * time.Minute

// shared is the control plane of this test binary. It is a variable of the
// package, because only tests link the package. Nothing stops the control
// plane: it ends with the process, and removes its directory.
var shared = sync.OnceValues(func() (*sandbox.Sandbox, error) {
	return start(context.Background())
})

// Start returns the control plane that all tests of one package share; the first call
// starts it. Each test uses its own namespaces and names. It skips the test with -short,
// and when the control plane is not built; with CI set the latter fails.
func Start(t testing.TB) *sandbox.Sandbox {
	t.Helper()
	require(t)
	sb, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return sb
}

// New starts a control plane for one test, which is stopped at the test's end.
func New(t testing.TB) *sandbox.Sandbox {
	t.Helper()
	require(t)
	sb, err := start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sb.Stop)
	return sb
}

// Record is [New] for a test that records the control plane's answers and is
// otherwise fast: -short does not skip it.
func Record(t testing.TB) *sandbox.Sandbox {
	t.Helper()
	box, err := start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(box.Stop)
	return box
}

// User returns the kubeconfig of a user with this name and these groups, who
// may do only what RBAC grants.
func User(t testing.TB, sb *sandbox.Sandbox, name string, groups ...string) string {
	t.Helper()
	kubeconfig, err := sb.User(name, groups...)
	if err != nil {
		t.Fatal(err)
	}
	return kubeconfig
}

// Mutations returns a user's requests that changed the cluster so far, see
// [sandbox.Sandbox.Mutations]. The user of sb.Kubeconfig is Admin.
func Mutations(t testing.TB, sb *sandbox.Sandbox, user string) []sandbox.AuditEvent {
	t.Helper()
	events, err := sb.Mutations(user)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

// Admin is the name of the user in a sandbox's own kubeconfig.
const Admin = "kubernetes-admin"

// Binary returns the path of the control plane's program, or skips the test as
// Start does.
func Binary(t testing.TB) string {
	t.Helper()
	require(t)
	path, err := find()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Kubectl returns the path of the kubectl that is built together with the
// control plane.
func Kubectl(t testing.TB) string {
	t.Helper()
	path := filepath.Join(filepath.Dir(Binary(t)), "kubectl")
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("kubectl is not built; run \"make sandbox kubectl\": %v", err)
	}
	return path
}

func start(ctx context.Context) (*sandbox.Sandbox, error) {
	binary, err := find()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	return sandbox.Start(ctx, sandbox.Options{Binary: binary})
}

func require(t testing.TB) {
	t.Helper()
	slowtest.Skip(t, "tests against the embedded control plane")
	if _, err := find(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skipf("skipped: %v", err)
	}
}

// find is sandbox.Find for tests, whose executable is in a temporary directory:
// after the environment variable it looks into bin/ at the root of the repository.
func find() (string, error) {
	path, err := sandbox.Find()
	if err == nil || !errors.Is(err, sandbox.ErrNotBuilt) {
		return path, err
	}
	dir, wdErr := os.Getwd()
	if wdErr != nil {
		return "", wdErr
	}
	for {
		if _, statErr := os.Stat(filepath.Join(dir, "go.mod")); statErr == nil {
			break
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", err
		}
		dir = parent
	}
	candidate := filepath.Join(dir, "bin", sandbox.BinaryName)
	if _, statErr := os.Stat(candidate); statErr != nil {
		return "", err
	}
	return candidate, nil
}
