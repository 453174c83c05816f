package install_test

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
)

// TestClusterExceededQuotaIsNoMissingRight: the answer to both is 403. Each object
// alone fits, so the dry runs pass; then the second write does not.
func TestClusterExceededQuotaIsNoMissingRight(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "quota")
	makeNamespace(t, sandboxtest.NewRawClient(t, w.sandbox.Kubeconfig()), "quota")
	w.makes(t, "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: few, namespace: quota}\nspec: {hard: {services: 1}}\n")
	w.edit(t, "wait", "resourcequota/few", "-n", "quota", "--for=jsonpath={.status.used.services}=0")
	says := func(err error, kind install.Kind) {
		t.Helper()
		if err == nil || install.KindOf(err) != kind || strings.Contains(err.Error(), "permission") || strings.Contains(err.Error(), "may not") {
			t.Fatalf("it ended with %v, want %d", err, kind)
		}
		for _, want := range []string{"exceeded quota: few, requested: services=1, used: services=1, limited: services=1", "kubectl edit resourcequota few -n quota"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("it does not say %q: %v", want, err)
			}
		}
	}
	plan := w.plan(t, w.content(t, "1.0.0", service("a"), service("b")))
	opts := w.options(t)
	opts.NoWait = true
	_, err := install.Apply(t.Context(), plan, byDigest(plan), w, opts)
	says(err, install.Failed)

	plan = w.plan(t, w.content(t, "2.0.0", service("a"), service("c")))
	says(install.DeniedError(plan), install.NotStarted)
	_, err = install.Apply(t.Context(), plan, byDigest(plan), w, opts)
	says(err, install.NotStarted)
}

func service(name string) string {
	return "apiVersion: v1\nkind: Service\nmetadata: {name: " + name + "}\nspec: {ports: [{port: 80}]}\n"
}
