package install_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/servingcert"
)

const scaled = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: registry.example.com/web:1}]
`

// edit changes a live object as another user does: another field manager.
func (w *world) edit(t *testing.T, args ...string) {
	t.Helper()
	runKubectl(t, w.sandbox.Kubeconfig(), args...)
}

// TestClusterRefusalsWriteNothing: whatever is refused before the first write leaves
// no trace in the audit log, not even a lease.
func TestClusterRefusalsWriteNothing(t *testing.T) {
	w := newWorld(t, "refusals")
	w.apply(t, w.plan(t, w.content(t, "1.0.0", scaled, configMap("a", "1"))))
	ns := w.release.Namespace
	upgrade := func(t *testing.T) *preview.Plan {
		return w.plan(t, w.content(t, "2.0.0", strings.Replace(scaled, "web:1", "web:2", 1), configMap("a", "2")))
	}
	applied := w.plan(t, w.content(t, "1.1.0", scaled, configMap("a", "1.1")))
	w.apply(t, applied)

	tests := []struct {
		name    string
		prepare func(t *testing.T) (*preview.Plan, record.Approval)
		kind    install.Kind
		want    string
	}{
		{"another digest", func(t *testing.T) (*preview.Plan, record.Approval) {
			plan := upgrade(t)
			approval := byDigest(plan)
			approval.Digest = preview.HashBytes([]byte("other"))
			return plan, approval
		}, install.Refused, preview.HashBytes([]byte("other"))},
		{"a plan that has expired", func(t *testing.T) (*preview.Plan, record.Approval) {
			plan := upgrade(t)
			plan.Options.Expires = preview.ExpiryText(time.Now())
			if err := plan.Seal(); err != nil {
				t.Fatal(err)
			}
			return plan, byDigest(plan)
		}, install.Refused, "the plan expired at"},
		{"a certificate generated for the plan that has ended since", func(t *testing.T) (*preview.Plan, record.Approval) {
			set, err := servingcert.New([]string{"hook." + ns + ".svc"}, time.Now().AddDate(-2, 0, 0)) // the clock of the plan
			if err != nil {
				t.Fatal(err)
			}
			data, err := json.Marshal(set.Data())
			if err != nil {
				t.Fatal(err)
			}
			content := w.content(t, "2.0.0", scaled, fmt.Sprintf("{apiVersion: v1, kind: Secret, type: %s, metadata: {name: hook}, data: %s}", servingcert.SecretType, data))
			content.Package.Parameters.Certs = preview.CertsGenerated
			if content.Package.ContentDigest, err = preview.ContentDigest(w.release, content.Package, content.Objects, nil); err != nil {
				t.Fatal(err)
			}
			plan := w.plan(t, content)
			return plan, byDigest(plan)
		}, install.Refused, "holds a certificate for webhooks that ended on"},
		{"a plan that was already applied", func(_ *testing.T) (*preview.Plan, record.Approval) {
			return applied, byDigest(applied)
		}, install.Refused, "already applied"},
		{"a sealed body that was changed after the review", func(t *testing.T) (*preview.Plan, record.Approval) {
			plan := upgrade(t)
			approval := byDigest(plan)
			o := plan.Object("core/ConfigMap/" + ns + "/a")
			o.Planned = body(t, configMap("a", "evil"))
			return plan, approval
		}, install.Refused, "does not match its digest"},
		{"a fact that was changed after the review", func(t *testing.T) (*preview.Plan, record.Approval) {
			plan := upgrade(t)
			approval := byDigest(plan)
			plan.Object("core/ConfigMap/" + ns + "/a").Action = preview.ActionUnchanged
			return plan, approval
		}, install.Refused, "facts hash"},
		{"findings taken as accepted that no record accepted", func(t *testing.T) (*preview.Plan, record.Approval) {
			plan := upgrade(t)
			plan.Base.Accepted = map[string]int{"sha256:x": 1}
			if err := plan.Seal(); err != nil {
				t.Fatal(err)
			}
			return plan, byDigest(plan)
		}, install.Refused, "accepted"},
		{"another cluster", func(t *testing.T) (*preview.Plan, record.Approval) {
			plan := upgrade(t)
			plan.Target.Identity = "elsewhere"
			if err := plan.Seal(); err != nil {
				t.Fatal(err)
			}
			return plan, byDigest(plan)
		}, install.Refused, "another cluster"},
		{"a plan that is silent about what it leaves behind", func(t *testing.T) (*preview.Plan, record.Approval) {
			plan := w.plan(t, w.content(t, "2.0.0", configMap("a", "2")))
			plan.Objects = slices.DeleteFunc(plan.Objects, func(o preview.Object) bool { return o.Kind == "Deployment" })
			for i := range plan.Stages {
				plan.Stages[i].Objects = slices.DeleteFunc(plan.Stages[i].Objects, func(id string) bool { return plan.Object(id) == nil })
			}
			plan.Stages = slices.DeleteFunc(plan.Stages, func(s preview.Stage) bool { return len(s.Objects) == 0 })
			if err := plan.Seal(); err != nil {
				t.Fatal(err)
			}
			return plan, byDigest(plan)
		}, install.Refused, "apps/Deployment/" + ns + "/web"},
		{"a base that is not the newest revision", func(t *testing.T) (*preview.Plan, record.Approval) {
			plan := upgrade(t)
			plan.Base.Revision = 1
			if err := plan.Seal(); err != nil {
				t.Fatal(err)
			}
			return plan, byDigest(plan)
		}, install.Refused, "revision"},
		{"somebody scaled between review and apply", func(t *testing.T) (*preview.Plan, record.Approval) {
			plan := upgrade(t)
			w.edit(t, "scale", "deployment/web", "--replicas=3", "-n", ns)
			t.Cleanup(func() { w.edit(t, "scale", "deployment/web", "--replicas=1", "-n", ns) })
			return plan, byDigest(plan)
		}, install.Refused, ".spec.replicas"},
		{"somebody owns a field now", func(t *testing.T) (*preview.Plan, record.Approval) {
			w.edit(t, "patch", "configmap", "a", "-n", ns, "--type=merge", `-p={"data":{"key":"theirs"}}`)
			plan := upgrade(t)
			return plan, byDigest(plan)
		}, install.Refused, ".data.key"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			plan, approval := tt.prepare(t)
			before := len(w.writes(t))
			receipt, err := install.Apply(t.Context(), plan, approval, w, w.options(t))
			if err == nil || install.KindOf(err) != tt.kind || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("kind %d: %v\nwant kind %d that says %q", install.KindOf(err), err, tt.kind, tt.want)
			}
			if receipt != nil {
				t.Error("there is a receipt of nothing")
			}
			if after := w.writes(t); len(after) != before {
				t.Errorf("it wrote %v", after[before:])
			}
		})
	}
}

func TestClusterDriftThatIsNotOursDoesNotRefuse(t *testing.T) {
	w := newWorld(t, "drift")
	free := strings.Replace(scaled, "  replicas: 1\n", "", 1)
	w.apply(t, w.plan(t, w.content(t, "1.0.0", free)))
	plan := w.plan(t, w.content(t, "2.0.0", strings.Replace(free, "web:1", "web:2", 1)))
	w.edit(t, "annotate", "deployment/web", "hello=world", "-n", w.release.Namespace)
	w.edit(t, "scale", "deployment/web", "--replicas=2", "-n", w.release.Namespace)
	receipt := w.apply(t, plan)
	live := w.read(t, "apps/v1", "Deployment", w.release.Namespace, "web")
	if preview.String(live, "metadata", "annotations", "hello") != "world" || preview.Value(live, "spec", "replicas") != int64(2) {
		t.Error("the change of another client was undone")
	}
	verdict, notes, err := install.Compare(w.schemas, install.WrittenObject{
		Sealed: plan.Objects[0].Planned, Reviewed: plan.Objects[0].ResultBody, Before: live, Live: live,
	})
	if err != nil || verdict != install.Same || len(notes) != 1 || !strings.HasPrefix(notes[0], install.NoteOutside) {
		t.Errorf("%s with %v, %v, want same, changed outside this plan", verdict, notes, err)
	}
	if o := receipt.Objects[0]; o.State != record.StateReady {
		t.Errorf("the Deployment is %s: %s", o.State, o.Message)
	}
}

func TestClusterTwoRunsOfOnePlan(t *testing.T) {
	w := newWorld(t, "race")
	other := *w
	other.Client = connect(t, sandboxtest.User(t, w.sandbox, w.user, "system:masters"))
	plan := w.plan(t, w.content(t, "1.0.0", configMap("a", "1"), configMap("b", "1")))
	var wg sync.WaitGroup
	errs := make([]error, 2)
	for i, user := range []*world{w, &other} {
		opts := user.options(t)
		opts.Sink, opts.Holder = nil, []string{"first", "second"}[i]
		wg.Go(func() { _, errs[i] = install.Apply(t.Context(), plan, byDigest(plan), user, opts) })
	}
	wg.Wait()
	if (errs[0] == nil) == (errs[1] == nil) {
		t.Fatalf("want exactly one to succeed: %v; %v", errs[0], errs[1])
	}
	for _, want := range []string{"patch core/namespaces race/race", "patch core/configmaps race/a", "patch core/configmaps race/b"} {
		n := 0
		for _, event := range w.writes(t) {
			if event == want {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%q was persisted %d times", want, n)
		}
	}
}

func TestClusterLockThatIsHeldAndRenewedIsRespected(t *testing.T) {
	w := newWorld(t, "held")
	w.apply(t, w.plan(t, w.content(t, "1.0.0", configMap("a", "1"))))
	plan := w.plan(t, w.content(t, "2.0.0", configMap("a", "2")))
	lease := preview.DryRun{Body: body(t, `{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: kubectl-operator.held, namespace: held}}`)}
	ctx, stop := context.WithCancel(t.Context())
	var renewing sync.WaitGroup
	defer renewing.Wait()
	defer stop()
	held := make(chan struct{})
	renewing.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			lease.Body["spec"] = map[string]any{
				"holderIdentity": "somebody", "leaseDurationSeconds": int64(15),
				"renewTime": "2026-11-20T00:00:00." + strings.Repeat("0", 3) + string(rune('0'+n%10)) + "00Z",
			}
			live, err := w.Apply(ctx, lease)
			if err != nil {
				return
			}
			lease.UID, lease.ResourceVersion = preview.String(live, "metadata", "uid"), preview.String(live, "metadata", "resourceVersion")
			if n == 0 {
				close(held)
			}
		}
	})
	<-held
	_, err := install.Apply(t.Context(), plan, byDigest(plan), w, w.options(t))
	if install.KindOf(err) != install.NotStarted || err == nil || !strings.Contains(err.Error(), "somebody") {
		t.Errorf("kind %d: %v, want 1, naming the holder", install.KindOf(err), err)
	}
	stop()
	renewing.Wait()
	if live := w.read(t, "v1", "ConfigMap", "held", "a"); preview.String(live, "data", "key") != "1" {
		t.Error("it wrote without the lock")
	}
}

// cancelling is a cluster that tells the run to stop at its n-th plan object.
type cancelling struct {
	install.Cluster
	stop context.CancelFunc
	at   int32
	n    atomic.Int32
}

func (c *cancelling) Apply(ctx context.Context, item preview.DryRun) (map[string]any, error) {
	if preview.RefOf(item.Body).Kind == "ConfigMap" {
		if c.n.Add(1) == c.at {
			c.stop()
		}
	}
	return c.Cluster.Apply(ctx, item)
}

func TestClusterCancelStopsSendingAndCanBeResumed(t *testing.T) {
	w := newWorld(t, "cancel")
	w.apply(t, w.plan(t, w.content(t, "1.0.0", configMap("a", "1"))))
	plan := w.plan(t, w.content(t, "2.0.0", configMap("a", "2"), configMap("b", "2"), configMap("c", "2"), configMap("d", "2"), configMap("e", "2")))

	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, err := install.Apply(ctx, plan, byDigest(plan), w, w.options(t))
	if install.KindOf(err) != install.Declined {
		t.Errorf("cancelled before the first write: kind %d: %v, want 2", install.KindOf(err), err)
	}

	ctx, stop = context.WithCancel(t.Context())
	receipt, err := install.Apply(ctx, plan, byDigest(plan), &cancelling{Cluster: w.Client, stop: stop, at: 2}, w.options(t))
	var e *install.Error
	if !errors.As(err, &e) || e.Kind != install.Interrupted || !strings.Contains(e.Cause, "not applied, 0 in flight") {
		t.Fatalf("cancelled while writing: %v, want 4 with nothing in flight", err)
	}
	if receipt == nil || receipt.State != string(record.Applying) {
		t.Errorf("the receipt is %+v, want applying", receipt)
	}
	// Two may have been in flight after the first.
	for _, name := range []string{"d", "e"} {
		if live := w.read(t, "v1", "ConfigMap", "cancel", name); live != nil {
			t.Errorf("it went on sending: %s was created", name)
		}
	}
	if receipt := w.apply(t, plan); receipt.Revision != 2 || receipt.State != string(record.Applied) {
		t.Errorf("resumed: revision %d is %s, want 2 applied", receipt.Revision, receipt.State)
	}
}

func TestClusterStopEndsBetweenTwoWritesAndCanBeResumed(t *testing.T) {
	w := newWorld(t, "stopping")
	plan := w.plan(t, w.content(t, "1.0.0", configMap("a", "1"), configMap("b", "1"), configMap("c", "1")))
	stop := make(chan struct{})
	close(stop)
	opts := w.options(t)
	opts.Stop = stop
	receipt, err := install.Apply(t.Context(), plan, byDigest(plan), w, opts)
	var e *install.Error
	if !errors.As(err, &e) || e.Kind != install.Interrupted || !strings.Contains(e.Cause, "0 in flight") {
		t.Fatalf("stopped: %v, want 4 with nothing in flight", err)
	}
	if receipt == nil || receipt.State == string(record.Applied) || w.read(t, "v1", "ConfigMap", "stopping", "a") != nil {
		t.Errorf("the receipt is %+v; nothing should have been sent after the lock", receipt)
	}
	if receipt := w.apply(t, plan); receipt.Revision != 1 || receipt.State != string(record.Applied) {
		t.Errorf("resumed: revision %d is %s, want 1 applied", receipt.Revision, receipt.State)
	}

	// Stopped while it waits for the rollout: everything is written.
	plan = w.plan(t, w.content(t, "2.0.0", configMap("a", "2"), configMap("b", "1"), configMap("c", "1")))
	opts = w.options(t)
	late := make(chan struct{})
	opts.Stop = late
	sink := opts.Sink
	opts.Sink = func(e install.Event) {
		sink(e)
		if e.Type == install.EventStage && e.Stage == "rollout" {
			close(late)
		}
	}
	if _, err := install.Apply(t.Context(), plan, byDigest(plan), w, opts); err != nil && install.KindOf(err) != install.Interrupted {
		t.Errorf("stopped in the rollout: %v, want success or 4", err)
	}
	if live := w.read(t, "v1", "ConfigMap", "stopping", "a"); preview.String(live, "data", "key") != "2" {
		t.Errorf("live is %v, want what was reviewed", live["data"])
	}
}

func TestClusterResumeRefusesWhatSomebodyElseChanged(t *testing.T) {
	w := newWorld(t, "meddled")
	w.apply(t, w.plan(t, w.content(t, "1.0.0", configMap("a", "1"), configMap("b", "1"))))
	plan := w.plan(t, w.content(t, "2.0.0", configMap("a", "2"), configMap("b", "2")))
	ctx, stop := context.WithCancel(t.Context())
	if _, err := install.Apply(ctx, plan, byDigest(plan), &cancelling{Cluster: w.Client, stop: stop, at: 1}, w.options(t)); err == nil {
		t.Fatal("the run was not interrupted")
	}
	w.edit(t, "patch", "configmap", "b", "-n", "meddled", "--type=merge", `-p={"data":{"key":"theirs"}}`)
	before := len(w.writes(t))
	_, err := install.Apply(t.Context(), plan, byDigest(plan), w, w.options(t))
	if install.KindOf(err) != install.Refused || err == nil || !strings.Contains(err.Error(), "core/ConfigMap/meddled/b") {
		t.Errorf("kind %d: %v, want a refusal that names the object", install.KindOf(err), err)
	}
	if after := w.writes(t); len(after) != before {
		t.Errorf("it wrote %v", after[before:])
	}
	if live := w.read(t, "v1", "ConfigMap", "meddled", "b"); preview.String(live, "data", "key") != "theirs" {
		t.Error("the change of somebody else was overwritten")
	}
}

// robbed is a cluster where another user takes the lock away at the first ConfigMap,
// which is answered only when the run has looked at its lease since.
type robbed struct {
	install.Cluster
	steal  func()
	once   sync.Once
	looked chan struct{}
	saw    sync.Once
}

func (r *robbed) Apply(ctx context.Context, item preview.DryRun) (map[string]any, error) {
	live, err := r.Cluster.Apply(ctx, item)
	if preview.RefOf(item.Body).Kind == "ConfigMap" {
		r.once.Do(func() {
			r.steal()
			<-r.looked
		})
	}
	return live, err
}

func (r *robbed) Get(ctx context.Context, ref preview.Ref) (map[string]any, error) {
	live, err := r.Cluster.Get(ctx, ref)
	if preview.String(live, "spec", "holderIdentity") == "thief" {
		r.saw.Do(func() { close(r.looked) })
	}
	return live, err
}

func TestClusterLostLockStopsTheRun(t *testing.T) {
	w := newWorld(t, "robbed")
	var manifests []string
	for i := range 60 {
		manifests = append(manifests, configMap(fmt.Sprintf("c%02d", i), "1"))
	}
	plan := w.plan(t, w.content(t, "1.0.0", manifests...))
	cluster := &robbed{Cluster: w.Client, looked: make(chan struct{}), steal: func() {
		w.edit(t, "patch", "lease", "kubectl-operator.robbed", "-n", "robbed", "--type=merge", `-p={"spec":{"holderIdentity":"thief"}}`)
	}}
	opts := w.options(t)
	opts.Clock = fastClock{time.Now()}
	_, err := install.Apply(t.Context(), plan, byDigest(plan), cluster, opts)
	if install.KindOf(err) != install.Interrupted || err == nil || !strings.Contains(err.Error(), "lock") {
		t.Errorf("kind %d: %v, want 4, naming the lock", install.KindOf(err), err)
	}
	if live := w.read(t, "v1", "ConfigMap", "robbed", "c59"); live != nil {
		t.Error("it went on writing without the lock")
	}
	if lease := w.read(t, "coordination.k8s.io/v1", "Lease", "robbed", "kubectl-operator.robbed"); preview.String(lease, "spec", "holderIdentity") != "thief" {
		t.Error("it took the lock of somebody else away")
	}
}
