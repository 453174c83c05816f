package install_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// TestClusterSomebodyIsFasterThanTheSecondLook loses the answer of a write that was
// carried out, and lets another user change its object before the run has read what
// became of it. The exit code never denies the write.
func TestClusterSomebodyIsFasterThanTheSecondLook(t *testing.T) {
	object := part{kind: "ConfigMap", name: "p", value: "old"}
	role := part{kind: "Role", name: "p", value: "old"}
	for i, test := range []struct {
		name      string
		part      part
		installed bool   // the plan updates it, or deletes it
		to        string // the value the plan gives it; empty deletes it
		edit      string
		kind      install.Kind
		state     record.ObjectState
		writes    int
	}{
		{"created, then changed: it is ours and not as reviewed", object, false, "old", "change", 0, record.StateDiverged, 1},
		{"a role created, then changed: nothing is built on it", role, false, "old", "change", install.Failed, record.StateDiverged, 1},
		{"created, then deleted: it is created again", object, false, "old", "delete", 0, record.StateApplied, 2},
		{"created, then made by somebody else: nobody can tell", object, false, "old", "recreate", install.Failed, record.StateSent, 1},
		{"updated, then changed: nobody can tell", object, true, "new", "change", install.Failed, record.StateSent, 1},
		{"updated, then changed elsewhere: it holds what the review did not show", object, true, "new", "aside", 0, record.StateDiverged, 1},
		{"updated, then deleted: nobody can tell", object, true, "new", "delete", install.Failed, record.StateSent, 1},
		{"deleted, then made by somebody else: the reviewed is gone", object, true, "", "create", 0, record.StateRemoved, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, fmt.Sprint("lost-", i))
			keep := part{kind: "ServiceAccount", name: "keep", value: "v"}
			if test.installed {
				w.applyQuietly(t, w.plan(t, w.content(t, "1.0.0", test.part.manifest(w.release.Namespace), keep.manifest(w.release.Namespace))))
			} else {
				w.applyQuietly(t, w.plan(t, w.content(t, "1.0.0", keep.manifest(w.release.Namespace))))
			}
			target := []string{keep.manifest(w.release.Namespace)}
			if changed := test.part; test.to != "" {
				changed.value = test.to
				target = append(target, changed.manifest(w.release.Namespace))
			}
			plan := w.plan(t, w.content(t, "2.0.0", target...))

			raw := sandboxtest.NewRawClient(t, w.sandbox.Kubeconfig())
			at, writes := test.part.path(w.release.Namespace), 0
			proxy := sandboxtest.NewProxy(t, sandboxtest.User(t, w.sandbox, w.user, "system:masters"), sandboxtest.ProxyOptions{
				Fault: func(r sandboxtest.Request) sandboxtest.Fault {
					if r.Path != at || !r.Persists() {
						return sandboxtest.Fault{}
					}
					if writes++; writes > 1 {
						return sandboxtest.Fault{}
					}
					return sandboxtest.Fault{Cut: sandboxtest.CutAnswer, Then: func() {
						if did, err := edit(t.Context(), raw, test.edit, test.part, w.release.Namespace); err != nil || !did {
							t.Errorf("the other client: %t, %v", did, err)
						}
					}}
				},
			})
			opts := w.options(t)
			opts.NoWait = true
			receipt, err := install.Apply(t.Context(), plan, byDigest(plan), connect(t, proxy.Kubeconfig), opts)
			if kind := install.KindOf(err); err == nil && test.kind != 0 || err != nil && kind != test.kind {
				t.Errorf("ended with %d, want %d: %v", kind, test.kind, err)
			}
			if receipt == nil {
				t.Fatal("no receipt")
			}
			for _, o := range receipt.Objects {
				if _, kind, _, name, _ := preview.ParseID(o.ID); kind == test.part.kind && name == "p" && o.State != test.state {
					t.Errorf("the receipt tells that %s is %s (%s), want %s", o.ID, o.State, o.Message, test.state)
				}
			}
			if writes != test.writes {
				t.Errorf("%d writes were sent, want %d", writes, test.writes)
			}
			if test.edit == "create" {
				if status, _, err := raw.Do(t.Context(), http.MethodGet, at, "", nil); err != nil || status != http.StatusOK {
					t.Errorf("what somebody else made reads %d, %v", status, err)
				}
			}
		})
	}
}
