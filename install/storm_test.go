package install_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// through applies a plan over a fault proxy, as its own user.
func (w *world) through(t *testing.T, plan *preview.Plan, fault func(sandboxtest.Request) sandboxtest.Fault) (*record.Receipt, error) {
	t.Helper()
	proxy := sandboxtest.NewProxy(t, sandboxtest.User(t, w.sandbox, w.user, "system:masters"), sandboxtest.ProxyOptions{Fault: fault})
	opts := w.options(t)
	opts.NoWait, opts.Holder = true, "through-the-proxy"
	return install.Apply(t.Context(), plan, byDigest(plan), connect(t, proxy.Kubeconfig), opts)
}

// sameAsReviewed holds every object of a plan against the review.
func (w *world) sameAsReviewed(t *testing.T, plan *preview.Plan) {
	t.Helper()
	for i := range plan.Objects {
		o := &plan.Objects[i]
		if o.Planned == nil {
			continue
		}
		live := w.read(t, o.APIVersion, o.Kind, o.Namespace, o.Name)
		verdict, notes, err := install.Compare(w.schemas, install.WrittenObject{Sealed: o.Planned, Reviewed: o.ResultBody, Before: live, Live: live})
		if err != nil || verdict != install.Same {
			t.Errorf("%s is %s: %v %v", o.ID, verdict, notes, err)
		}
	}
}

// goOn applies a plan again until it is applied: the lock of the run before may
// have to expire.
func (w *world) goOn(t *testing.T, plan *preview.Plan) {
	t.Helper()
	opts := w.options(t)
	opts.NoWait, opts.Holder, opts.Clock = true, "second", fastClock{time.Now()}
	if _, err := install.Apply(t.Context(), plan, byDigest(plan), w, opts); err != nil {
		t.Errorf("going on: %v", err)
	}
	w.sameAsReviewed(t, plan)
}

// isPlanObject tells writes of a plan from writes of records and locks.
func isPlanObject(r sandboxtest.Request) bool {
	return r.Persists() && !strings.Contains(r.Path, "/kubectl-operator.")
}

// TestClusterStorms has the API server answer 429 and 500, and the network cut, again
// and again. A run that a storm stops goes on when the storm is over.
func TestClusterStorms(t *testing.T) {
	for name, faults := range map[string][]sandboxtest.Fault{
		"429":              {{Status: 429}},
		"500":              {{Status: 500}},
		"503":              {{Status: 503}},
		"cut connections":  {{Cut: sandboxtest.CutBefore}, {Cut: sandboxtest.CutAnswer}, {Cut: sandboxtest.CutBody}},
		"all of them":      {{Status: 429}, {Status: 500}, {Cut: sandboxtest.CutAnswer}, {Delay: 20 * time.Millisecond}},
		"every second one": {{Status: 429}, {Cut: sandboxtest.CutAnswer}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "storm-"+strings.ReplaceAll(name, " ", "-"))
			plan := w.plan(t, w.content(t, "1.0.0", w.operator("one")))
			rate := 0.15
			if name == "every second one" {
				rate = 0.5
			}
			hits := 0
			storm := sandboxtest.Storm(uint64(len(name)), rate, faults...)
			armed := false // not while the client connects
			_, err := w.through(t, plan, func(r sandboxtest.Request) sandboxtest.Fault {
				if armed = armed || strings.Contains(r.Path, "kube-system"); !armed {
					return sandboxtest.Fault{}
				}
				fault := storm(r)
				if fault.Status != 0 || fault.Cut != sandboxtest.NoCut {
					hits++
				}
				return fault
			})
			wrote := false
			for _, e := range w.writes(t) {
				wrote = wrote || !strings.Contains(e, "/kubectl-operator.")
			}
			kind := install.KindOf(err)
			changed := kind == install.Failed || kind == install.Interrupted
			if err != nil && wrote && !changed {
				t.Errorf("exit %d although something was written: %v", kind, err)
			}
			t.Logf("%d requests hit; ended with %v", hits, err)
			if err != nil {
				w.goOn(t, plan)
			}
			w.sameAsReviewed(t, plan)
		})
	}
}

// TestClusterNoAnswerEverArrives carries every write out and cuts the connection
// before its answer, locks and records included.
func TestClusterNoAnswerEverArrives(t *testing.T) {
	w := newWorld(t, "mute")
	plan := w.plan(t, w.content(t, "1.0.0", w.operator("one")))
	cuts := 0
	_, err := w.through(t, plan, func(r sandboxtest.Request) sandboxtest.Fault {
		if !r.Persists() {
			return sandboxtest.Fault{}
		}
		cuts++
		return sandboxtest.Fault{Cut: sandboxtest.CutAnswer}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d answers lost", cuts)
	w.sameAsReviewed(t, plan)
	written := map[string]int{}
	for _, e := range w.writes(t) {
		written[e]++
	}
	for e, n := range written {
		if n != 1 && !strings.Contains(e, "/kubectl-operator.") {
			t.Errorf("%q was persisted %d times", e, n)
		}
	}
	stored, err := record.Load(t.Context(), w, w.release)
	if err != nil || stored == nil || stored.State != record.Applied {
		t.Errorf("the record is %+v, %v, want applied", stored, err)
	}
}

// TestClusterControlPlaneFailsInMidApply restarts the API server, and stops etcd
// for a while, at a write.
func TestClusterControlPlaneFailsInMidApply(t *testing.T) {
	sb := sandboxtest.New(t)
	for name, test := range map[string]struct {
		fail func(t *testing.T, sb *sandbox.Sandbox) error
		ends func(error) bool
	}{
		"the API server is killed and started again": {
			fail: func(t *testing.T, sb *sandbox.Sandbox) error {
				return sb.RestartAPIServer(context.WithoutCancel(t.Context()))
			},
			ends: func(err error) bool { return err == nil || install.KindOf(err) == install.Interrupted },
		},
		"etcd hangs for a second": {
			fail: func(t *testing.T, sb *sandbox.Sandbox) error {
				thaw, err := sb.FreezeStorage(t.Context())
				if err == nil {
					time.AfterFunc(time.Second, func() { _ = thaw() })
				}
				return err
			},
			ends: func(err error) bool { return err == nil },
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{Client: connect(t, sb.Kubeconfig()), schemas: k8s.NewSchemas(), sandbox: sb, user: "fail-admin"}
			w.release.Name = fmt.Sprintf("fail-%d", len(name))
			w.release.Namespace = w.release.Name
			plan := w.plan(t, w.content(t, "1.0.0", w.operator("one")))
			writes, failed := 0, make(chan error, 1)
			_, err := w.through(t, plan, func(r sandboxtest.Request) sandboxtest.Fault {
				if isPlanObject(r) {
					if writes++; writes == 4 {
						go func() { failed <- test.fail(t, sb) }()
					}
				}
				return sandboxtest.Fault{}
			})
			if failErr := <-failed; failErr != nil {
				t.Fatal(failErr)
			}
			if !test.ends(err) {
				t.Errorf("it ended with %v", err)
			}
			t.Logf("ended with %v", err)
			if err != nil {
				w.goOn(t, plan)
			}
			w.sameAsReviewed(t, plan)
		})
	}
}

// TestClusterWriteOfTheRecordWaitsAsLongAsItIsAsked: a server that is overloaded says
// when to come again.
func TestClusterWriteOfTheRecordWaitsAsLongAsItIsAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "asked")
	plan := w.plan(t, w.content(t, "1.0.0", configMap("a", "1")))
	const refusals = 2
	var tries []time.Time
	_, err := w.through(t, plan, func(r sandboxtest.Request) sandboxtest.Fault {
		if !r.Persists() || !strings.HasSuffix(r.Path, "/secrets/kubectl-operator.asked") || len(tries) > refusals {
			return sandboxtest.Fault{}
		}
		if tries = append(tries, time.Now()); len(tries) > refusals {
			return sandboxtest.Fault{}
		}
		return sandboxtest.Fault{Status: 429, RetryAfter: 1}
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := 1; i < len(tries); i++ {
		if waited := tries[i].Sub(tries[i-1]); waited < time.Second {
			t.Errorf("try %d came after %s, and the server had asked for a second", i+1, waited)
		}
	}
	if len(tries) != refusals+1 {
		t.Errorf("%d tries, want %d", len(tries), refusals+1)
	}
}
