package install_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/history"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
)

// undoable plans with --on-failure rollback.
func (w *world) undoable(t *testing.T, contents ...planned.Content) *preview.Plan {
	t.Helper()
	plan, err := w.tryUndoable(t, func(*engine.Options) {}, contents...)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func (w *world) tryUndoable(t *testing.T, choose func(*engine.Options), contents ...planned.Content) (*preview.Plan, error) {
	t.Helper()
	record, err := history.Load(t.Context(), w, w.release)
	if err != nil {
		t.Fatal(err)
	}
	opts := w.planOptions(t)
	if opts.Undo, err = install.EarlierRevision(t.Context(), w, record); err != nil {
		return nil, err
	}
	choose(&opts)
	return engine.Build(t.Context(), contents, w, opts)
}

// refusing is a world whose namespace denies writes of the ConfigMap named refused, once
// they are no dry run: it fails at the apply and not before.
func refusing(t *testing.T, name string) *world {
	t.Helper()
	w := newWorld(t, name)
	raw := sandboxtest.NewRawClient(t, w.sandbox.Kubeconfig())
	makeNamespace(t, raw, name)
	webhook := intercept(t, raw, name)
	webhook.Answer(func(a sandboxtest.Admission) sandboxtest.Verdict {
		if a.Name == "refused" && !a.DryRun {
			return sandboxtest.Verdict{Deny: "not on a Sunday"}
		}
		return sandboxtest.Verdict{}
	})
	return w
}

// state returns the data and marks of the objects in the world's namespace, by
// id: without records, and without what every write or new object gets anew.
func (w *world) state(t *testing.T) map[string]any {
	t.Helper()
	out := map[string]any{}
	for _, kind := range []string{"v1/ConfigMap", "v1/Secret", "v1/ServiceAccount", "apps/v1/Deployment", "rbac.authorization.k8s.io/v1/Role", "rbac.authorization.k8s.io/v1/RoleBinding"} {
		at := strings.LastIndex(kind, "/")
		objects, err := w.List(t.Context(), kind[:at], kind[at+1:], w.release.Namespace, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			id := preview.RefOf(o).ID()
			if strings.Contains(id, "kubectl-operator.") {
				continue
			}
			content := preview.WithoutVolatile(o)
			meta := preview.Map(o, "metadata")
			delete(content, "metadata")
			delete(content, "status")
			out[id] = map[string]any{"content": content, "labels": meta["labels"], "owners": meta["ownerReferences"]}
		}
	}
	return out
}

func (w *world) sameState(t *testing.T, want map[string]any) {
	t.Helper()
	got := w.state(t)
	for _, id := range slices.Sorted(maps.Keys(want)) {
		if !reflect.DeepEqual(got[id], want[id]) {
			t.Errorf("%s is\n%v\nwas\n%v", id, got[id], want[id])
		}
	}
	for id := range got {
		if want[id] == nil {
			t.Errorf("%s is left", id)
		}
	}
}

func (w *world) failing(t *testing.T, plan *preview.Plan, opts install.Options) (*record.Receipt, error) {
	t.Helper()
	receipt, err := install.Apply(t.Context(), plan, byDigest(plan), w, opts)
	if install.KindOf(err) != install.Failed || err == nil {
		t.Fatalf("the apply ended with kind %d: %v", install.KindOf(err), err)
	}
	return receipt, err
}

// withoutGrace returns options that let an hour pass as soon as an object is told to
// lack its image: nothing heals it in that time either.
func (w *world) withoutGrace(t *testing.T, object string) install.Options {
	opts, clock := w.options(t), newJumpClock()
	opts.Clock, opts.RolloutTimeout, opts.StageTimeout = clock, 10*time.Minute, 10*time.Minute
	log, jumped := opts.Sink, false
	opts.Sink = func(e install.Event) {
		log(e)
		if !jumped && e.Object == object && e.Cause == rollout.ImageNotFound {
			jumped = true
			clock.jump()
		}
	}
	return opts
}

func wantUndo(t *testing.T, plan *preview.Plan, want string) {
	t.Helper()
	var got []string
	for _, o := range plan.FailureRollback.Objects {
		got = append(got, string(o.Action)+" "+o.Ref().Kind+"/"+o.Ref().Name)
	}
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("the undo is %s\nwant %s", text, want)
	}
}

// TestClusterFailedUpgradeIsUndone: a rollout fails after everything was written and
// what left the set was deleted; the revision before is in place again.
func TestClusterFailedUpgradeIsUndone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "undo-upgrade")
	w.apply(t, w.plan(t, w.content(t, "1.0.0", w.operator("one"), configMap("old", "x"), configMap("same", "x"))))
	before := w.state(t)
	broken := "---\napiVersion: v1\nkind: Pod\nmetadata: {name: broken, annotations: {kubectl-operator/sandbox-fault: image-pull}}\nspec: {automountServiceAccountToken: false, containers: [{name: main, image: a}]}\n"
	plan := w.undoable(t, w.content(t, "2.0.0", w.operator("two"), configMap("new", "x"), configMap("same", "x"), broken))
	wantUndo(t, plan, "unchanged CustomResourceDefinition/things.undo-upgrade.example.com, unchanged Deployment/operator, delete ConfigMap/new, "+
		"create ConfigMap/old, unchanged ConfigMap/same, update ConfigMap/settings, delete Pod/broken, unchanged Secret/credentials, unchanged ServiceAccount/operator, "+
		"unchanged Role/operator, unchanged RoleBinding/operator")
	var steps []string
	opts := w.withoutGrace(t, "core/Pod/undo-upgrade/broken")
	log := opts.Sink
	opts.Sink = func(e install.Event) {
		log(e)
		if e.Type == install.EventStage {
			steps = append(steps, e.Stage)
		}
		if e.Type == install.EventResult && *e.ExitCode != 3 {
			t.Errorf("the last event has exit code %d", *e.ExitCode)
		}
	}
	receipt, err := w.failing(t, plan, opts)
	if !strings.Contains(err.Error(), "not found") || !strings.Contains(err.Error(), "rolled back to revision 1, as revision 3") {
		t.Errorf("the error does not say what failed and what was undone:\n%v", err)
	}
	if !slices.Contains(steps, install.StageUndo) || slices.Index(steps, preview.StagePrune) > slices.Index(steps, install.StageUndo) {
		t.Errorf("the steps are %v", steps)
	}
	w.sameState(t, before)
	if receipt.Revision != 2 || receipt.State != string(record.Failed) || receipt.Undo == nil {
		t.Fatalf("the receipt is of revision %d, %s, with the undo %v", receipt.Revision, receipt.State, receipt.Undo)
	}
	undo := receipt.Undo
	if undo.Revision != 3 || undo.State != string(record.Applied) || undo.Undoes == nil || *undo.Undoes != (record.RollbackOf{Revision: 2, Digest: plan.Digest}) || undo.Approval.Digest != plan.Digest {
		t.Errorf("the receipt of the undo is %+v", undo)
	}
	for _, o := range undo.Objects {
		if o.State != record.StateReady && o.State != record.StateRemoved {
			t.Errorf("in the undo %s is %s: %s", o.ID, o.State, o.Message)
		}
	}
	_, err = install.Apply(t.Context(), plan, byDigest(plan), w, w.options(t))
	if install.KindOf(err) != install.Refused || err == nil || !strings.Contains(err.Error(), "this plan failed and was rolled back, as revision 3") {
		t.Errorf("again: %v", err)
	}
	if again := w.plan(t, w.content(t, "1.0.0", w.operator("one"), configMap("old", "x"), configMap("same", "x"))); again.Summary.Changes() {
		t.Errorf("a plan of the revision before says %+v", again.Summary)
	}
}

// TestClusterFailedInstallIsUndone: nothing is left but what an uninstall keeps.
func TestClusterFailedInstallIsUndone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "undo-install")
	plan := w.undoable(t, w.content(t, "1.0.0", strings.Replace(w.operator("one"), "metadata: {labels: {app: operator}}",
		"metadata: {labels: {app: operator}, annotations: {kubectl-operator/sandbox-fault: image-pull}}", 1)))
	receipt, err := w.failing(t, plan, w.withoutGrace(t, "apps/Deployment/undo-install/operator"))
	if !strings.Contains(err.Error(), "what the plan created is removed (revision 2)") {
		t.Errorf("the error does not say that it was undone:\n%v", err)
	}
	if receipt.Undo == nil || receipt.Undo.State != string(record.Uninstalled) {
		t.Errorf("the undo is %+v", receipt.Undo)
	}
	for id := range w.state(t) {
		if id != "core/ConfigMap/undo-install/kube-root-ca.crt" && id != "core/ServiceAccount/undo-install/default" {
			t.Errorf("%s is left", id)
		}
	}
	if w.read(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "things.undo-install.example.com") == nil {
		t.Error("the definition is not kept")
	}
	record, err := history.Load(t.Context(), w, w.release)
	if err != nil || record.Installed() || len(record.Items()) != 1 {
		t.Errorf("the record has %v, %v", record.Items(), err)
	}
}

// TestClusterUpgradeThatTakesTooLongIsUndone: a timeout leads to the undo like a
// failure.
func TestClusterUpgradeThatTakesTooLongIsUndone(t *testing.T) {
	w := newWorld(t, "undo-timeout")
	w.apply(t, w.plan(t, w.content(t, "1.0.0", fault("none"))))
	before := w.state(t)
	clock := newJumpClock()
	opts := w.options(t)
	log, jumped := opts.Sink, false
	opts.Clock, opts.RolloutTimeout, opts.StageTimeout = clock, 10*time.Minute, 10*time.Minute
	opts.Sink = func(e install.Event) {
		log(e)
		if !jumped && e.State == record.StateWaiting && e.Object == w.here(webDeployment) {
			jumped = true
			clock.jump()
		}
	}
	receipt, err := w.failing(t, w.undoable(t, w.content(t, "2.0.0", fault("pending"))), opts)
	if !strings.Contains(err.Error(), "10m0s long") || !strings.Contains(err.Error(), "as revision 3") || receipt.State != string(record.Failed) {
		t.Errorf("revision 2 is %s: %v", receipt.State, err)
	}
	w.sameState(t, before)
}

// TestClusterUndoSurvivesBeingKilled kills the process after every write of a failing
// upgrade and of its undo: the usual run after every second, a soak after each. The same
// approval goes on until the state is as before.
func TestClusterUndoSurvivesBeingKilled(t *testing.T) {
	const beside = 4 // every fourth write each
	for first := 1; first <= beside; first++ {
		if !slowtest.InSample(first-1, 2) {
			continue
		}
		t.Run(fmt.Sprintf("after write %d and every fourth from there", first), func(t *testing.T) {
			t.Parallel()
			at := first
			for killUndo(t, at) {
				at += beside
			}
			if at < 12 {
				t.Errorf("without a fault there are less than %d writes", at)
			}
		})
	}
}

// killUndo kills after one write, and reports whether the run came as far.
func killUndo(t *testing.T, at int) bool {
	t.Helper()
	w := refusing(t, fmt.Sprintf("undo-killed-%d", at))
	w.apply(t, w.plan(t, w.content(t, "1.0.0", configMap("a", "1"), secret)))
	before := w.state(t)
	plan := w.undoable(t, w.content(t, "2.0.0", configMap("a", "2"), configMap("b", "2"), configMap("refused", "2"), secret))
	cluster := &faulty{Cluster: w.Client, mode: killed, at: at}
	opts := w.options(t)
	opts.Sink, opts.Holder, opts.Clock = nil, "first", deadClock{cluster}
	_, err := install.Apply(t.Context(), plan, byDigest(plan), cluster, opts)
	if cluster.writes < at {
		if !strings.Contains(err.Error(), "as revision 3") {
			t.Errorf("without a fault the end is %v", err)
		}
		return false
	}
	opts.Holder, opts.Clock = "second", fastClock{time.Now()}
	_, err = install.Apply(t.Context(), plan, byDigest(plan), w, opts)
	undone := install.KindOf(err) == install.Failed && strings.Contains(err.Error(), "as revision 3")
	over := install.KindOf(err) == install.Refused && strings.Contains(err.Error(), "was rolled back, as revision 3") // killed after its last word
	if err == nil || !undone && !over {
		t.Fatalf("killed after write %d, the same approval ended with %d: %v", at, install.KindOf(err), err)
	}
	w.sameState(t, before)
	stored, err := record.Load(t.Context(), w, w.release)
	if err != nil || stored.Revision != 3 || stored.State != record.Applied {
		t.Errorf("killed after write %d, the record is %+v, %v", at, stored, err)
	}
	return true
}

// TestClusterForeignEditStopsTheUndo: an object that another user changed after the plan
// wrote it is not overwritten, and neither is any other.
func TestClusterForeignEditStopsTheUndo(t *testing.T) {
	for i, test := range []struct {
		name string
		edit []string
		want string
	}{
		{"of an object that would go back", []string{"patch", "configmap", "a", "--type=merge", `-p={"data":{"key":"mine"}}`}, "core/ConfigMap/$NS/a was changed by another client"},
		{"of an object that would be removed", []string{"patch", "configmap", "b", "--type=merge", `-p={"data":{"key":"mine"}}`}, "core/ConfigMap/$NS/b was changed by another client"},
		{"of an object that the plan left as it was", []string{"patch", "configmap", "c", "--type=merge", `-p={"data":{"key":"mine"}}`}, "core/ConfigMap/$NS/c is not as the plan left it"},
		{"that deletes an object", []string{"delete", "configmap", "a"}, "core/ConfigMap/$NS/a is not as the plan left it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := refusing(t, fmt.Sprintf("undo-edited-%d", i))
			w.apply(t, w.plan(t, w.content(t, "1.0.0", configMap("a", "1"), configMap("c", "1"))))
			plan := w.undoable(t, w.content(t, "2.0.0", configMap("a", "2"), configMap("b", "2"), configMap("c", "1"), configMap("refused", "2")))
			opts := w.options(t)
			log := opts.Sink
			writes := 0
			opts.Sink = func(e install.Event) {
				log(e)
				if e.Stage == install.StageUndo {
					w.edit(t, append(test.edit, "-n", w.release.Namespace)...)
					writes = len(w.writes(t))
				}
			}
			receipt, err := w.failing(t, plan, opts)
			if !strings.Contains(err.Error(), "it was not rolled back: ") || !strings.Contains(err.Error(), w.here(test.want)) || receipt.Undo != nil {
				t.Errorf("the undo %v ended with: %v", receipt.Undo, err)
			}
			for _, write := range w.writes(t)[writes:] {
				if strings.Contains(write, "configmaps") {
					t.Errorf("after the edit there was %q", write)
				}
			}
		})
	}
}

// TestClusterWhatCannotBeUndoneIsRefused: --on-failure rollback promises nothing that
// it could not keep.
func TestClusterWhatCannotBeUndoneIsRefused(t *testing.T) {
	claim := "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n"
	versions := func(fields string) string {
		return "---\n{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.$NS.example.com}, spec: {group: $NS.example.com, " +
			"scope: Namespaced, names: {kind: Thing, plural: things}, versions: [" + fields + "]}}\n"
	}
	version := func(name string, storage bool) string {
		return fmt.Sprintf("{name: %s, served: true, storage: %t, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object}}}}}", name, storage)
	}
	for i, test := range []struct {
		name     string
		from, to string
		choose   func(*engine.Options)
		prepare  func(t *testing.T, w *world)
		want     string
	}{
		{name: "an object that is replaced", from: frozen("1"), to: frozen("2"), want: "core/ConfigMap/$NS/a is deleted and created again"},
		{name: "a Secret whose value changes", from: secret, to: strings.Replace(secret, "aHVudGVyMg==", "aHVudGVyMw==", 1), want: "core/Secret/$NS/s loses the value of its key password"},
		{name: "a Secret that is deleted", from: secret + "---\n" + configMap("a", "1"), to: configMap("a", "1"), want: "core/Secret/$NS/s is deleted, and its values are not on record"},
		{name: "a claim that is deleted", from: claim + "---\n" + configMap("a", "1"), to: configMap("a", "1"), want: "is deleted, and what it stores does not come back"},
		{name: "a definition that stores in a version the older one lacks", from: versions(version("v1", true)), to: versions(version("v1", false) + ", " + version("v2", true)),
			want: "things.$NS.example.com cannot go back safely"},
		{name: "an object that is adopted", from: configMap("a", "1"), to: configMap("a", "1") + "---\n" + configMap("theirs", "2"),
			choose: func(o *engine.Options) { o.Apply.Adopt = true },
			prepare: func(t *testing.T, w *world) {
				w.edit(t, "create", "configmap", "theirs", "-n", w.release.Namespace, "--from-literal=key=1")
			},
			want: "core/ConfigMap/$NS/theirs is taken over"},
		{name: "fields that are taken over", from: configMap("a", "1"), to: configMap("a", "2"),
			choose: func(o *engine.Options) { o.Apply.Conflicts = preview.ConflictsTake },
			prepare: func(t *testing.T, w *world) {
				w.edit(t, "patch", "configmap", "a", "-n", w.release.Namespace, "--type=merge", `-p={"data":{"key":"mine"}}`)
			},
			want: "core/ConfigMap/$NS/a takes fields over from other managers"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, fmt.Sprintf("undo-refused-%d", i))
			w.apply(t, w.plan(t, w.content(t, "1.0.0", w.here(test.from))))
			if test.prepare != nil {
				test.prepare(t, w)
			}
			choose := test.choose
			if choose == nil {
				choose = func(*engine.Options) {}
			}
			_, err := w.tryUndoable(t, choose, w.content(t, "2.0.0", w.here(test.to)))
			if err == nil || !strings.Contains(err.Error(), w.here(test.want)) || !strings.Contains(err.Error(), "plan without --on-failure rollback") {
				t.Errorf("got %v\nwant %s", err, w.here(test.want))
			}
		})
	}
	t.Run("a revision that is unfinished", func(t *testing.T) {
		w := refusing(t, "undo-unfinished")
		_, _ = w.failing(t, w.plan(t, w.content(t, "1.0.0", configMap("a", "1"), configMap("refused", "1"))), w.options(t))
		_, err := w.tryUndoable(t, func(*engine.Options) {}, w.content(t, "1.0.0", configMap("a", "1")))
		if err == nil || !strings.Contains(err.Error(), "there is no complete state to roll back to on failure") {
			t.Errorf("got %v", err)
		}
	})
}

// TestClusterWhatAFailureGoesBackToIsJudged: an object that an administrator deleted
// after an incident does not come back with the undo unseen.
func TestClusterWhatAFailureGoesBackToIsJudged(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "judged-undo")
	binding := "judged-undo-pwn"
	w.apply(t, w.plan(t, w.content(t, "1.0.0", configMap("settings", "one")+"\n---\n"+
		"{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: "+binding+"}, "+
		"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: mallory}]}")))
	w.edit(t, "delete", "clusterrolebinding", binding)
	plan := w.undoable(t, w.content(t, "1.1.0", configMap("settings", "two")))
	object := "rbac.authorization.k8s.io/ClusterRoleBinding/-/" + binding
	found := map[string]preview.Finding{}
	for _, f := range plan.Findings {
		found[f.ID] = f
	}
	if f := found["on-failure-recreates/"+object]; f.Severity != preview.Warning {
		t.Errorf("what comes back is not named: %+v", plan.Findings)
	}
	if !slices.ContainsFunc(plan.Findings, func(f preview.Finding) bool {
		return f.Severity == preview.Critical && strings.Contains(f.Evidence, "going back to revision 1") && strings.Contains(f.Evidence, "mallory")
	}) {
		t.Errorf("no critical finding of what a failure leads to: %+v", plan.Findings)
	}
	if err := install.Gate(plan, record.Approval{How: record.ApprovedByYes, Digest: plan.Digest}); install.KindOf(err) != install.Refused || err == nil {
		t.Errorf("--yes alone: %v", err)
	}
	w.apply(t, plan)
}
