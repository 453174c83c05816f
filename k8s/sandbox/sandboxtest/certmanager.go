package sandboxtest

import (
	"context"
	"sync"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/certmanager"
)

// CertManager installs cert-manager's CRDs and runs a small issuer until the test ends.
// The CRDs stay: tests that need a cluster without them take another.
func CertManager(t testing.TB, sb *sandbox.Sandbox) {
	t.Helper()
	if err := certmanager.Install(t.Context(), sb.Kubeconfig()); err != nil {
		t.Fatal(err)
	}
	issue(t, sb)
}

// ServiceCA is [CertManager] for the API of OpenShift's service-ca.
func ServiceCA(t testing.TB, sb *sandbox.Sandbox) {
	t.Helper()
	if err := certmanager.InstallServiceCA(t.Context(), sb.Kubeconfig()); err != nil {
		t.Fatal(err)
	}
	issue(t, sb)
}

// issue runs the issuer until the test ends.
func issue(t testing.TB, sb *sandbox.Sandbox) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := certmanager.Run(ctx, sb.Kubeconfig()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		stop()
		running.Wait()
	})
}
