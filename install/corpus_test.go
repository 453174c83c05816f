package install_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/format/registryv1"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
)

func (w *world) bundle(t *testing.T, dir string) planned.Content {
	t.Helper()
	f := registryv1.New()
	info, err := f.Detect(os.DirFS(dir))
	if err != nil || info == nil {
		t.Fatalf("not a bundle: %v", err)
	}
	in := format.Input{Content: os.DirFS(dir), Release: w.release, Params: format.Params{Certs: "none"}}
	out, err := f.Render(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	content, err := planned.Prepare(w.release, planned.Material{
		Info: *info, Output: out, Sources: []preview.Source{{Kind: "directory", Digest: preview.HashBytes([]byte(dir))}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestClusterRealOperatorIsUpgradedExactly takes a real bundle from one version to
// another: eight large CRDs, webhooks, roles with generated names.
func TestClusterRealOperatorIsUpgradedExactly(t *testing.T) {
	root := corpustest.Dir(t)
	w := newWorld(t, "mongodb")
	var plan *preview.Plan
	for _, version := range []string{"1.8.1", "1.10.0"} {
		plan = w.plan(t, w.bundle(t, filepath.Join(root, "bundles", "mongodb-kubernetes", version)))
		for _, o := range w.apply(t, plan).Objects {
			if o.State != record.StateReady && o.State != record.StateRemoved && o.Action != preview.ActionKeep {
				t.Errorf("%s: %s is %s: %s", version, o.ID, o.State, o.Message)
			}
		}
	}
	for i := range plan.Objects {
		o := &plan.Objects[i]
		if o.Planned == nil {
			continue
		}
		live := w.read(t, o.APIVersion, o.Kind, o.Namespace, o.Name)
		verdict, notes, err := install.Compare(w.schemas, install.WrittenObject{Sealed: o.Planned, Reviewed: o.ResultBody, Before: live, Live: live})
		if err != nil || verdict != install.Same {
			t.Errorf("%s: %s %v %v", o.ID, verdict, notes, err)
		}
	}
	again := w.plan(t, w.bundle(t, filepath.Join(root, "bundles", "mongodb-kubernetes", "1.10.0")))
	if again.Summary.Changes() {
		t.Errorf("a new preview says %+v", again.Summary)
	}
}

// TestClusterFirstInstallsOfRealBundles installs real bundles into namespaces
// that the plans make: without webhooks and policies in the cluster nothing is taken for
// what admission added, at the install and by status.
func TestClusterFirstInstallsOfRealBundles(t *testing.T) {
	root := corpustest.Dir(t)
	for n, dir := range []string{
		"grafana-operator/5.22.2", "keycloak-operator/26.7.1", "limitador-operator/0.11.0", "keda/2.17.2",
	} {
		t.Run(dir, func(t *testing.T) {
			w := newWorld(t, fmt.Sprintf("first-%d", n))
			plan := w.plan(t, w.bundle(t, filepath.Join(root, "bundles", dir)))
			receipt, err := install.Apply(t.Context(), plan, byDigest(plan), w, w.quiet(t))
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range receipt.Objects {
				if o.State == record.StateDiverged || len(o.Notes) > 0 {
					t.Errorf("%s is %s: %s %v", o.ID, o.State, o.Message, o.Notes)
				}
				if o.ID == "core/Namespace/-/"+w.release.Namespace {
					continue // no member of the inventory
				}
				if drift := w.driftOf(t, o.ID); drift.Drift != install.DriftNone {
					t.Errorf("%s: %+v", o.ID, drift)
				}
			}
		})
	}
}
