package install_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

func includeNamespaces(o *engine.Options) {
	o.Request.Action, o.Apply.IncludeNamespaces = preview.RequestUninstall, true
}

// keeping returns options that keep the receipt while the record is deleted.
func (w *world) keeping(t *testing.T, kept *[]*record.Receipt) install.Options {
	opts := w.options(t)
	opts.Keep = func(r *record.Receipt) error {
		*kept = append(*kept, r)
		return nil
	}
	return opts
}

// TestClusterNamespaceGoesLastAndWithItsReceiptKept: an obstacle to one deletion stops
// the run before the namespace, with the record; and the record is gone only after the
// receipt was handed over.
func TestClusterNamespaceGoesLastAndWithItsReceiptKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "own-namespace")
	ns := w.release.Namespace
	w.apply(t, w.plan(t, w.content(t, "1.0.0", configMap("settings", "one"))))
	w.apply(t, w.plan(t, w.content(t, "1.1.0", configMap("settings", "two")))) // who made it is remembered
	w.edit(t, "create", "configmap", "mine", "-n", ns)
	w.edit(t, "create", "deployment", "theirs", "-n", ns, "--image=registry.example.com/theirs")
	until(t, "the Deployment has a ReplicaSet", func() bool {
		found, err := w.List(t.Context(), "apps/v1", "ReplicaSet", ns, "app=theirs")
		return err == nil && len(found) == 1
	})

	removal := w.planWith(t, includeNamespaces)
	at := slices.IndexFunc(removal.Findings, func(f preview.Finding) bool { return f.Rule == rules.NamespaceDeleted.Name })
	if at < 0 || removal.Findings[at].Severity != preview.Critical || !strings.HasSuffix(removal.Findings[at].Title, "and with it 1 ConfigMap, 1 Deployment of others") {
		t.Fatalf("the findings are %+v, want a critical one that counts what others have there", removal.Findings)
	}
	if last := removal.Stages[len(removal.Stages)-1]; last.ID != preview.StagePruneNamespaces || len(last.Objects) != 1 {
		t.Errorf("the last stage is %+v, want the Namespace alone", last)
	}
	if _, err := install.Apply(t.Context(), removal, byDigest(removal), w, w.options(t)); install.KindOf(err) != install.NotStarted || err == nil {
		t.Errorf("without a place for the receipt: %v, want an error before the first write", err)
	}

	w.edit(t, "patch", "configmap", "settings", "-n", ns, "--type=merge", `-p={"metadata":{"finalizers":["example.com/hold"]}}`)
	removal = w.planWith(t, includeNamespaces)
	var kept []*record.Receipt
	opts := w.keeping(t, &kept)
	opts.StageTimeout = 2_000_000_000
	if _, err := install.Apply(t.Context(), removal, byDigest(removal), w, opts); install.KindOf(err) != install.Interrupted || len(kept) > 0 {
		t.Fatalf("held up: %v, and %d receipts were kept; want an interruption before the Namespace", err, len(kept))
	}
	if live := w.read(t, "v1", "Namespace", "", ns); preview.String(live, "metadata", "deletionTimestamp") != "" {
		t.Error("the Namespace went before what is in it")
	}

	w.edit(t, "patch", "configmap", "settings", "-n", ns, "--type=merge", `-p={"metadata":{"finalizers":null}}`)
	w.edit(t, "create", "configmap", "late", "-n", ns)
	if _, err := install.Apply(t.Context(), removal, byDigest(removal), w, w.keeping(t, &kept)); install.KindOf(err) != install.Failed && install.KindOf(err) != install.Refused ||
		!strings.Contains(err.Error(), "core/ConfigMap/"+ns+"/late") {
		t.Errorf("with one more object than reviewed: %v, want its name", err)
	}
	w.edit(t, "delete", "configmap", "late", "-n", ns)

	receipt, err := install.Apply(t.Context(), removal, byDigest(removal), w, w.keeping(t, &kept))
	if err != nil || receipt.State != string(record.Uninstalled) {
		t.Fatalf("resumed: %v, %+v", err, receipt)
	}
	if len(kept) == 0 || kept[0].Digest != removal.Digest || kept[0].State != string(record.Applying) {
		t.Errorf("kept before the last deletion: %+v", kept)
	}
	if live := w.read(t, "v1", "Namespace", "", ns); live != nil {
		t.Error("the Namespace is still there")
	}
	done, err := install.FinishRemoval(t.Context(), kept[0], w, w.options(t))
	if err != nil || done == nil || done.State != string(record.Uninstalled) || len(done.Stages) != 2 || done.Stages[1].Status != record.StageSucceeded {
		t.Errorf("finished from the kept receipt: %v, %+v", err, done)
	}
}

// TestClusterNamespaceWithoutTheMarkStays: the record alone is not enough.
func TestClusterNamespaceWithoutTheMarkStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "unmarked-namespace")
	ns := w.release.Namespace
	w.apply(t, w.plan(t, w.content(t, "1.0.0", configMap("settings", "one"))))
	w.edit(t, "annotate", "namespace", ns, preview.AnnotationMadeBy+"-")
	removal := w.planWith(t, includeNamespaces)
	if o := removal.Object("core/Namespace/-/" + ns); o != nil {
		t.Errorf("the plan has the Namespace as %s", o.Action)
	}
	at := slices.IndexFunc(removal.Findings, func(f preview.Finding) bool { return f.Rule == rules.NamespaceKept.Name })
	if at < 0 || !strings.Contains(removal.Findings[at].Evidence, "carries no mark of this release") || !strings.HasSuffix(removal.Findings[at].Why, "kubectl delete namespace "+ns) {
		t.Errorf("no finding says why it stays, and how to delete it: %+v", removal.Findings)
	}
}

// TestClusterNamespaceThatTheReleaseDidNotMakeStays: one of the same name that another
// user made again is another one.
func TestClusterNamespaceThatTheReleaseDidNotMakeStays(t *testing.T) {
	w := newWorld(t, "not-own-namespace")
	ns := w.release.Namespace
	w.edit(t, "create", "namespace", ns)
	w.apply(t, w.plan(t, w.content(t, "1.0.0", configMap("settings", "one"))))
	removal := w.planWith(t, includeNamespaces)
	if o := removal.Object("core/Namespace/-/" + ns); o != nil {
		t.Errorf("the plan has the Namespace as %s", o.Action)
	}
	if !slices.ContainsFunc(removal.Findings, func(f preview.Finding) bool { return f.Rule == rules.NamespaceKept.Name }) {
		t.Errorf("no finding says that it stays: %+v", removal.Findings)
	}
	w.apply(t, removal)
	if live := w.read(t, "v1", "Namespace", "", ns); live == nil || preview.String(live, "metadata", "deletionTimestamp") != "" {
		t.Error("the Namespace went")
	}
}
