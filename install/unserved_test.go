package install_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// beforeDelete is a cluster where another user does something right before a Thing is
// deleted.
type beforeDelete struct {
	install.Cluster
	do   func()
	once sync.Once
}

func (b *beforeDelete) Delete(ctx context.Context, ref preview.Ref, uid, version string, dependents preview.Propagation) (bool, error) {
	if ref.Kind == "Thing" {
		b.once.Do(b.do)
	}
	return b.Cluster.Delete(ctx, ref, uid, version, dependents)
}

// moving makes the kind Thing of a group, with versions v1 and v1beta1.
func (w *world) moving(t *testing.T, group string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "crd.yaml")
	const version = "{name: %s, served: true, storage: %t, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}"
	text := fmt.Sprintf(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.%s}, spec: {group: %s,
  names: {kind: Thing, plural: things}, scope: Namespaced, versions: [`+version+", "+version+"]}}", group, group, "v1", true, "v1beta1", false)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	w.edit(t, "apply", "-f", file)
	w.edit(t, "wait", "--for=condition=Established", "crd/things."+group)
}

// stopServing ends version v1beta1 of the kind.
func (w *world) stopServing(t *testing.T, thing preview.Ref) {
	t.Helper()
	w.edit(t, "patch", "crd", "things."+thing.Group(), "--type=json", `-p=[{"op":"replace","path":"/spec/versions/1/served","value":false}]`)
	for until := time.Now().Add(time.Minute); ; {
		_, err := w.Get(t.Context(), thing)
		if preview.ReasonOf(err) == preview.ReasonNotServed {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("%s is still served: %v", thing.APIVersion, err)
		}
	}
}

// TestClusterAVersionThatGoesWhileItsObjectIsDeleted: the API server answers the deletion
// as if there were no such object. It is there, in another version: nothing of the run, of
// its resume and of what it left says that it is gone, and a new plan deletes it.
func TestClusterAVersionThatGoesWhileItsObjectIsDeleted(t *testing.T) {
	w := newWorld(t, "moving")
	group := w.release.Name + ".example.com"
	w.moving(t, group)
	thing := preview.Ref{APIVersion: group + "/v1beta1", Kind: "Thing", Namespace: w.release.Namespace, Name: "a"}
	first := w.plan(t, w.content(t, "1.0.0", fmt.Sprintf("apiVersion: %s\nkind: Thing\nmetadata: {name: a}\n", thing.APIVersion), configMap("b", "1")))
	approval := byDigest(first)
	for _, f := range first.Findings { // its kind is in no table
		approval.Accepted = append(approval.Accepted, record.Acceptance{ID: f.ID, Fingerprint: f.Fingerprint})
	}
	if _, err := install.Apply(t.Context(), first, approval, w, w.options(t)); err != nil {
		t.Fatal(err)
	}
	removal := w.plan(t)
	cluster := &beforeDelete{Cluster: w.Client, do: func() { w.stopServing(t, thing) }}
	_, err := install.Apply(t.Context(), removal, byDigest(removal), cluster, w.options(t))
	if err == nil || !strings.Contains(err.Error(), "the cluster serves it as "+group+"/v1 now, and not as "+thing.APIVersion) {
		t.Errorf("the run ends with %v", err)
	}
	has := func(when string) *record.Record {
		t.Helper()
		if w.read(t, group+"/v1", "Thing", thing.Namespace, thing.Name) == nil {
			t.Fatalf("%s the object is gone", when)
		}
		stored, err := record.Load(t.Context(), w, w.release)
		if err != nil || stored == nil || !stored.Installed() {
			t.Fatalf("%s: %+v, %v", when, stored, err)
		}
		for _, item := range stored.Items() {
			if item.Ref().ID() == thing.ID() {
				return stored
			}
		}
		t.Fatalf("%s the record has only %v", when, stored.Items())
		return nil
	}
	stored := has("after the run")
	left, err := install.Reconcile(t.Context(), w, w.schemas, stored)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range left {
		if o.ID == thing.ID() && (o.State == record.StateRemoved || o.State == record.StateRemoving) {
			t.Errorf("what the run left counts as %s", o.State)
		}
	}
	if _, err := install.Apply(t.Context(), removal, byDigest(removal), w, w.options(t)); err == nil {
		t.Error("the resumed run ends without an error")
	}
	has("after the resumed run")
	if receipt := w.apply(t, w.plan(t)); receipt.State != string(record.Uninstalled) {
		t.Errorf("the new removal is %s", receipt.State)
	}
	if w.read(t, group+"/v1", "Thing", thing.Namespace, thing.Name) != nil {
		t.Error("the new removal leaves the object")
	}
}
