package install_test

import (
	"context"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// leaseKeeper is a process that is killed before it gives its lock back.
type leaseKeeper struct{ install.Cluster }

func (k leaseKeeper) Delete(ctx context.Context, ref preview.Ref, uid, version string, dependents preview.Propagation) (bool, error) {
	if ref.Kind == "Lease" {
		return false, &preview.Refusal{Reason: preview.ReasonForbidden, Message: "killed"}
	}
	return k.Cluster.Delete(ctx, ref, uid, version, dependents)
}

// TestClusterLockOfAKilledUninstallIsTidied: there is no plan of what is uninstalled.
func TestClusterLockOfAKilledUninstallIsTidied(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "tidied-uninstall")
	w.applyQuietly(t, w.plan(t, w.content(t, "1.0.0", configMap("a", "1"))))
	removal := w.plan(t)
	if _, err := install.Apply(t.Context(), removal, byDigest(removal), leaseKeeper{w.Client}, w.options(t)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []bool{true, false} {
		lease := w.read(t, "coordination.k8s.io/v1", "Lease", w.release.Namespace, preview.RecordName(w.release.Name))
		if left := lease != nil; left != want {
			t.Fatalf("that the lease is left is %t, want %t", left, want)
		}
		install.DropLease(t.Context(), w, w.release)
	}
}

// TestClusterLockOfAKilledRunIsTidied: a run that was killed after its last word has
// left its Lease, and the same command again has nothing to do but to delete it.
func TestClusterLockOfAKilledRunIsTidied(t *testing.T) {
	for name, test := range map[string]struct {
		again bool // by a plan that changes nothing, and not by the spent one
		other bool // another run holds the lock by now
	}{"the same plan": {}, "nothing to change": {again: true}, "another run is at work": {other: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "tidied-"+strings.ReplaceAll(name, " ", "-"))
			plan := w.plan(t, w.content(t, "1.0.0", configMap("a", "1")))
			opts := w.options(t)
			opts.NoWait = true
			if _, err := install.Apply(t.Context(), plan, byDigest(plan), leaseKeeper{w.Client}, opts); err != nil {
				t.Fatal(err)
			}
			lease := func() map[string]any {
				return w.read(t, "coordination.k8s.io/v1", "Lease", w.release.Namespace, preview.RecordName(w.release.Name))
			}
			if lease() == nil {
				t.Fatal("there is no lease to tidy")
			}
			if test.other {
				w.edit(t, "patch", "lease", preview.RecordName(w.release.Name), "-n", w.release.Namespace, "--type=merge", `-p={"spec":{"holderIdentity":"another"}}`)
			}
			if test.again {
				plan = w.plan(t, w.content(t, "1.0.0", configMap("a", "1")))
			}
			_, err := install.Apply(t.Context(), plan, byDigest(plan), w, opts)
			if kind := install.KindOf(err); err == nil != test.again || err != nil && kind != install.Refused {
				t.Errorf("it ended with %v", err)
			}
			if left := lease() != nil; left != test.other {
				t.Errorf("that the lease is left is %t, want %t", left, test.other)
			}
		})
	}
}
