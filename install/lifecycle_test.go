package install_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install/history"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

// everything lists all objects of all kinds that can be listed, by id. Objects about the
// control plane's own work are left out: events, and the heartbeats of nodes and of its
// components.
func (w *world) everything(t *testing.T) map[string]bool {
	t.Helper()
	w.Refresh()
	served, err := w.APIVersions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	kinds := map[string]bool{}
	for _, entry := range served {
		at := strings.LastIndex(entry, "/")
		if at < 0 || !startsUpper(entry[at+1:]) {
			continue // a version alone
		}
		ref := preview.Ref{APIVersion: entry[:at], Kind: entry[at+1:]}
		if ref.Kind == "Event" || kinds[ref.ID()] {
			continue
		}
		kinds[ref.ID()] = true
		objects, err := w.List(t.Context(), ref.APIVersion, ref.Kind, "", "")
		switch reason := preview.ReasonOf(err); {
		case reason == preview.ReasonNotServed, reason == preview.ReasonNotFound, reason == preview.ReasonOther:
			continue // reviews and the like, which hold nothing
		case err != nil:
			t.Fatalf("listing %s: %v", entry, err)
		}
		for _, o := range objects {
			id := preview.RefOf(o).ID()
			if !strings.HasPrefix(id, "coordination.k8s.io/Lease/kube-") {
				out[id] = true
			}
		}
	}
	return out
}

func startsUpper(s string) bool { return s != "" && s[0] >= 'A' && s[0] <= 'Z' }

// rollback plans to go back to a revision.
func (w *world) rollback(t *testing.T, to int) *preview.Plan {
	t.Helper()
	record, err := history.Load(t.Context(), w, w.release)
	if err != nil {
		t.Fatal(err)
	}
	contents, target, err := history.Rollback(t.Context(), w, record, to)
	if err != nil {
		t.Fatal(err)
	}
	return w.planWith(t, func(o *engine.Options) {
		o.Request = preview.Request{Action: preview.RequestRollback, Revision: target.Revision}
	}, contents...)
}

// TestClusterLifeLeavesNothingBehind takes real bundles through install, upgrade,
// rollback and uninstall, and lists the cluster before and after: nothing is
// left but what the last plan says it keeps, and the record.
func TestClusterLifeLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	sb := sandboxtest.New(t) // other tests have some of these bundles installed
	for _, life := range []struct{ bundle, from, to string }{
		{"mongodb-kubernetes", "1.8.1", "1.10.0"},
		{"ack-s3-controller", "1.9.0", "1.10.0"},
	} {
		t.Run(life.bundle, func(t *testing.T) {
			root := corpustest.Dir(t, "bundles", life.bundle)
			w := newWorldIn(t, sb, "life-"+life.bundle)
			before := w.everything(t)

			w.apply(t, w.plan(t, w.bundle(t, filepath.Join(root, life.from))))
			installed := w.everything(t)
			w.apply(t, w.plan(t, w.bundle(t, filepath.Join(root, life.to))))
			w.apply(t, w.rollback(t, 1))
			back := w.plan(t, w.bundle(t, filepath.Join(root, life.from)))
			for i := range back.Objects {
				if o := &back.Objects[i]; o.Action != preview.ActionUnchanged && o.Action != preview.ActionKeep && o.Kind != "CustomResourceDefinition" {
					t.Errorf("after the rollback %s is planned as %s: %v", o.ID, o.Action, o.Changes)
				}
			}
			removal := w.plan(t)
			if receipt := w.apply(t, removal); receipt.Revision != 4 || receipt.State != string(record.Uninstalled) {
				t.Errorf("the removal is revision %d, %s", receipt.Revision, receipt.State)
			}

			named := w.named(removal)
			if made := len(installed) - len(before); made < 10 {
				t.Errorf("the listing shows %d objects of the install: it does not see them", made)
			}
			w.eventuallyOnly(t, func(id string) bool { return before[id] || named(id) })
			after := w.everything(t)
			for i := range removal.Objects {
				if o := &removal.Objects[i]; (o.Action == preview.ActionKeep) != after[o.ID] {
					t.Errorf("%s was planned as %s; that it is there is %t", o.ID, o.Action, after[o.ID])
				}
			}
		})
	}
}

// named tells what the plan of a removal leaves: the objects it keeps, the namespace it
// read, with what every namespace holds, what the API server makes of a kept definition,
// and the record.
func (w *world) named(removal *preview.Plan) func(id string) bool {
	ns := w.release.Namespace
	left := map[string]bool{"core/ConfigMap/" + ns + "/kube-root-ca.crt": true, "core/ServiceAccount/" + ns + "/default": true}
	for _, read := range removal.Reads {
		left[read.ID] = true
	}
	for i := range removal.Objects {
		o := &removal.Objects[i]
		if o.Action != preview.ActionKeep {
			continue
		}
		left[o.ID] = true
		for _, v := range preview.Maps(preview.Map(o.LiveBody, "spec"), "versions") {
			left["apiregistration.k8s.io/APIService/-/"+preview.String(v, "name")+"."+preview.String(o.LiveBody, "spec", "group")] = true
		}
	}
	record := "core/Secret/" + ns + "/kubectl-operator." + w.release.Name
	return func(id string) bool { return left[id] || id == record || strings.HasPrefix(id, record+".v") }
}

// eventuallyOnly waits until garbage collection has left nothing but what is
// allowed to stay.
func (w *world) eventuallyOnly(t *testing.T, stays func(id string) bool) {
	t.Helper()
	var extra []string
	defer func() {
		if len(extra) > 0 {
			t.Logf("left behind, and not named by the plan:\n%s", strings.Join(extra, "\n"))
		}
	}()
	until(t, "nothing is left but what the plan named", func() bool {
		extra = nil
		for _, id := range slices.Sorted(maps.Keys(w.everything(t))) {
			if !stays(id) {
				extra = append(extra, id)
			}
		}
		return len(extra) == 0
	})
}
