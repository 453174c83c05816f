package install_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

// TestClusterDefinitionsGoWhileTheirOperatorRuns: the lost objects are counted and
// sealed, the operator outlives its operands, and an interrupted removal goes on.
func TestClusterDefinitionsGoWhileTheirOperatorRuns(t *testing.T) {
	w := newWorld(t, "include-crds")
	ns := w.release.Namespace
	webhook := strings.ReplaceAll(`---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: NS}
webhooks: []
`, "NS", ns)
	opts := w.options(t)
	opts.NoWait = true
	first := w.plan(t, w.content(t, "1.0.0", w.here(operated), webhook))
	if _, err := install.Apply(t.Context(), first, byDigest(first), w, opts); err != nil {
		t.Fatal(err)
	}
	thing := func(name, more string) {
		t.Helper()
		text := w.here(`{apiVersion: $NS.example.com/v1, kind: Thing, metadata: {name: ` + name + `, namespace: $NS` + more + `}}`)
		if _, err := connect(t, w.sandbox.Kubeconfig()).Apply(t.Context(), preview.DryRun{Body: body(t, text)}); err != nil {
			t.Fatal(err)
		}
	}
	thing("held", ", finalizers: [example.com/hold]")
	include := func(o *engine.Options) { o.Request.Action, o.Apply.IncludeCRDs = preview.RequestUninstall, true }
	removal := w.planWith(t, include)
	crd := w.here("apiextensions.k8s.io/CustomResourceDefinition/-/things.$NS.example.com")
	at := slices.IndexFunc(removal.Findings, func(f preview.Finding) bool { return f.Rule == "crd-deleted" && f.Object == crd })
	if at < 0 || removal.Findings[at].Severity != preview.Critical || !strings.Contains(removal.Findings[at].Title, "2 Thing objects") {
		t.Fatalf("the findings are %+v, want a critical one that counts 2 Things", removal.Findings)
	}

	thing("one-more", "")
	before := len(w.writes(t))
	if _, err := install.Apply(t.Context(), removal, byDigest(removal), w, w.options(t)); install.KindOf(err) != install.Refused {
		t.Errorf("with one more object than reviewed: %v, want a refusal", err)
	}
	if after := w.writes(t); len(after) != before {
		t.Errorf("it wrote %v", after[before:])
	}

	removal = w.planWith(t, include)
	opts = w.options(t)
	opts.StageTimeout = 3 * time.Second
	_, err := install.Apply(t.Context(), removal, byDigest(removal), w, opts)
	if install.KindOf(err) != install.Interrupted || !strings.Contains(err.Error(), "Thing/"+ns+"/held waits for finalizers example.com/hold") {
		t.Fatalf("held back: %v, want an interruption that names the object and its finalizer", err)
	}
	if w.read(t, "apps/v1", "Deployment", ns, "operator") == nil {
		t.Error("the operator went before its operands")
	}
	if w.read(t, "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "", ns) != nil {
		t.Error("what can block others outlived the definitions")
	}

	w.edit(t, "patch", w.here("things.$NS.example.com"), "held", "-n", ns, "--type=json", `-p=[{"op":"remove","path":"/metadata/finalizers"}]`)
	receipt, err := install.Apply(t.Context(), removal, byDigest(removal), w, w.options(t))
	if err != nil || receipt.State != string(record.Uninstalled) {
		t.Fatalf("resumed: %v, %+v", err, receipt)
	}
	if w.read(t, "apps/v1", "Deployment", ns, "operator") != nil {
		t.Error("the operator is still there")
	}
	record, err := record.Load(t.Context(), w, w.release)
	if err != nil || len(record.Inventory) != 0 {
		t.Errorf("the inventory is %v, %v, want nothing", record.Inventory, err)
	}
}

// TestClusterLastCustomResourceOfADefinitionIsNamed makes a custom resource when the deletion
// of its CRD is on the way. Nothing keeps it from going along, and the receipt names it.
func TestClusterLastCustomResourceOfADefinitionIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "last-operand")
	w.applyQuietly(t, w.plan(t, w.content(t, "1.0.0", w.here(strings.Split(operated, "---")[0]))))
	removal := w.planWith(t, func(o *engine.Options) { o.Request.Action, o.Apply.IncludeCRDs = preview.RequestUninstall, true })
	other := connect(t, w.sandbox.Kubeconfig())
	thing := body(t, w.here(`{apiVersion: $NS.example.com/v1, kind: Thing, metadata: {name: last, namespace: $NS}}`))
	receipt, err := w.through(t, removal, func(r sandboxtest.Request) sandboxtest.Fault {
		if r.Method == http.MethodDelete && strings.HasSuffix(r.Path, "/customresourcedefinitions/things.last-operand.example.com") {
			if _, err := other.Apply(t.Context(), preview.DryRun{Body: thing}); err != nil {
				t.Error(err)
			}
		}
		return sandboxtest.Fault{}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range receipt.Objects {
		if o.ID == "apiextensions.k8s.io/CustomResourceDefinition/-/things.last-operand.example.com" &&
			!slices.Equal(o.Notes, []string{"created after the last count, and deleted with it: last-operand.example.com/Thing/last-operand/last"}) {
			t.Errorf("the receipt says %q of %s", o.Notes, o.ID)
		}
	}
}
