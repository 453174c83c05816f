package install_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
)

// situation is a plan with one action for an object, made on a cluster that another user
// then edits.
type situation struct {
	action preview.Action
	object part // as it is before the plan
	// before and after are what is installed and what is planned; another object
	// is always in both, so that every plan has something to write.
	before, after func(object part) []part
	others        func(t *testing.T, w *world, raw *sandboxtest.RawClient, object part) // what another user does before the plan
	choose        func(*engine.Options)
	drifts        map[string]install.Kind
}

// adoptTaking adopts, anyone who manages the fields.
func adoptTaking(o *engine.Options) { o.Apply.Adopt, o.Apply.Conflicts = true, preview.ConflictsTake }

func none(part) []part      { return nil }
func same(p part) []part    { return []part{p} }
func changed(p part) []part { p.value = "new"; return []part{p} }

// does lets another user do something to the object.
func does(hows ...string) func(*testing.T, *world, *sandboxtest.RawClient, part) {
	return func(t *testing.T, w *world, raw *sandboxtest.RawClient, object part) {
		t.Helper()
		for _, how := range hows {
			if did, err := edit(t.Context(), raw, how, object, w.release.Namespace); err != nil || !did {
				t.Fatalf("%s: %t, %v", how, did, err)
			}
		}
	}
}

func situations() map[string]situation {
	const refused, passes = install.Refused, install.Kind(0)
	config, crd := part{"ConfigMap", "p", "v"}, part{"CustomResourceDefinition", "p", "v"}
	whole := map[string]install.Kind{ // every path is relevant
		"change": refused, "aside": refused, "delete": refused, "recreate": refused, "finalize": refused, "take": refused, "own": refused,
	}
	update := map[string]install.Kind{
		"change": refused, "aside": passes, "delete": refused, "recreate": refused, "finalize": refused, "take": refused, "share": refused, "own": refused,
	}
	sharing := func(drifts map[string]install.Kind, kind install.Kind) map[string]install.Kind {
		out := maps.Clone(drifts)
		out["share"] = kind
		return out
	}
	without := func(drifts map[string]install.Kind, hows ...string) map[string]install.Kind {
		out := maps.Clone(drifts)
		for _, how := range hows {
			delete(out, how)
		}
		return out
	}
	return map[string]situation{
		"create":    {action: preview.ActionCreate, object: config, before: none, after: same, drifts: map[string]install.Kind{"create": refused}},
		"update":    {action: preview.ActionUpdate, object: config, before: same, after: changed, drifts: update},
		"unchanged": {action: preview.ActionUnchanged, object: config, before: same, after: same, drifts: sharing(update, passes)},
		"delete":    {action: preview.ActionDelete, object: config, before: same, after: none, drifts: sharing(whole, passes)},
		// No one can change the data of the object; who has a share of it is in the way.
		"replace": {action: preview.ActionReplace, object: part{"Frozen", "p", "v"}, before: same, after: changed, drifts: sharing(without(whole, "change", "take"), refused)},
		"adopt":   {action: preview.ActionAdopt, object: config, before: none, after: changed, choose: adoptTaking, others: does("create", "share"), drifts: sharing(whole, passes)},
		"take": {
			action: preview.ActionUpdate, object: config, before: same, after: changed, choose: conflictsTo(preview.ConflictsTake), others: does("take"),
			drifts: without(update, "change", "take"), // they would leave it as it is
		},
		"leave": {
			action: preview.ActionUnchanged, object: config, before: same, after: changed, choose: conflictsTo(preview.ConflictsLeave), others: does("take"),
			drifts: without(update, "change", "take"),
		},
		"keep":   {action: preview.ActionKeep, object: crd, before: same, after: none, drifts: sharing(whole, passes)},
		"shared": {action: preview.ActionShared, object: crd, before: none, after: same, others: ownedElsewhere, drifts: sharing(update, passes)},
		"skip":   {action: preview.ActionSkip, object: part{"Unserved", "p", "v"}, before: none, after: same, drifts: map[string]install.Kind{"serve": refused}},
	}
}

// ownedElsewhere lets another release bring the object.
func ownedElsewhere(t *testing.T, w *world, _ *sandboxtest.RawClient, object part) {
	t.Helper()
	owner := newWorldIn(t, w.sandbox, w.release.Name+"-o")
	owner.applyQuietly(t, owner.plan(t, owner.content(t, "1.0.0", object.manifest(w.release.Namespace))))
}

// TestClusterEveryDriftUnderEveryAction lets another user do something to an object
// after the review: what the review relied on refuses the plan with nothing written, the
// rest does not matter.
func TestClusterEveryDriftUnderEveryAction(t *testing.T) {
	cell := 0
	all := situations()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s := all[name]
		for _, how := range slices.Sorted(maps.Keys(s.drifts)) {
			if cell++; !slowtest.Turn(t, cell) {
				continue
			}
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Parallel()
				s.drift(t, newWorld(t, fmt.Sprintf("drift-%s-%s", name, how)), how, s.drifts[how])
			})
		}
	}
}

func (s situation) drift(t *testing.T, w *world, how string, want install.Kind) {
	t.Helper()
	raw := sandboxtest.NewRawClient(t, w.sandbox.Kubeconfig())
	ns, other := w.release.Namespace, part{"ServiceAccount", "other", "old"}
	w.applyQuietly(t, w.plan(t, w.content(t, "1.0.0", manifests(append(s.before(s.object), other), ns)...)))
	if s.others != nil {
		s.others(t, w, raw, s.object)
	}
	other.value = "new"
	choose := s.choose
	if choose == nil {
		choose = asIs
	}
	plan := w.planWith(t, choose, w.content(t, "2.0.0", manifests(append(s.after(s.object), other), ns)...))
	if o := plan.Object(s.object.id(ns)); o == nil || o.Action != s.action {
		t.Fatalf("planned as %+v, want %s", o, s.action)
	}
	does(how)(t, w, raw, s.object)
	if how == "serve" { // a definition is established before discovery has its kind
		kind := plan.Object(s.object.id(ns))
		until(t, kind.Kind+" is in discovery", func() bool {
			_, err := connect(t, w.sandbox.Kubeconfig()).Kind(t.Context(), kind.APIVersion, kind.Kind)
			return err == nil
		})
	}
	written := len(w.writes(t))
	opts := w.options(t)
	opts.NoWait = true
	_, err := install.Apply(t.Context(), plan, byDigest(plan), w, opts)
	if err == nil && want != 0 || err != nil && install.KindOf(err) != want {
		t.Errorf("ended with %v, want kind %d", err, want)
	}
	if now := w.writes(t); want == install.Refused && len(now) != written {
		t.Errorf("a refused plan wrote %v", now[written:])
	}
}

// TestClusterNamespaceThatIsGoingAway refuses at review and at apply.
func TestClusterNamespaceThatIsGoingAway(t *testing.T) {
	w := newWorld(t, "terminating")
	raw := sandboxtest.NewRawClient(t, w.sandbox.Kubeconfig())
	makeNamespace(t, raw, w.release.Namespace)
	plan := w.plan(t, w.content(t, "1.0.0", configMap("a", "1")))
	// A finalizer keeps it in Terminating.
	holder := part{"ConfigMap", "holder", "v"}
	for _, how := range []string{"create", "finalize"} {
		if did, err := edit(t.Context(), raw, how, holder, w.release.Namespace); err != nil || !did {
			t.Fatalf("%s: %t, %v", how, did, err)
		}
	}
	if status, answer, err := raw.Do(t.Context(), http.MethodDelete, "/api/v1/namespaces/"+w.release.Namespace, "", nil); err != nil || status != http.StatusOK {
		t.Fatalf("deleting the namespace: %d, %v, %v", status, answer, err)
	}
	_, err := install.Apply(t.Context(), plan, byDigest(plan), w, w.options(t))
	if install.KindOf(err) != install.Refused || !strings.Contains(err.Error(), "being deleted") {
		t.Errorf("apply ended with %v", err)
	}
	if made := w.writes(t); len(made) > 0 {
		t.Errorf("a refused plan wrote %v", made)
	}
	_, err = engine.Build(t.Context(), []planned.Content{w.content(t, "1.0.0", configMap("a", "1"))}, w, engine.Options{
		Release: w.release, Apply: preview.DefaultOptions(), Schemas: w.schemas, Request: preview.Request{Action: preview.RequestInstall},
	})
	var no *engine.RefusedError
	if !errors.As(err, &no) {
		t.Errorf("a review of it ended with %v", err)
	}
}

// TestClusterDefinitionThatIsNeverEstablished stops before anything that builds on
// it: its names belong to another one.
func TestClusterDefinitionThatIsNeverEstablished(t *testing.T) {
	w := newWorld(t, "unestablished")
	raw := sandboxtest.NewRawClient(t, w.sandbox.Kubeconfig())
	taken := part{"CustomResourceDefinition", "thing", "v"}
	if did, err := edit(t.Context(), raw, "create", taken, w.release.Namespace); err != nil || !did {
		t.Fatalf("making the other definition: %t, %v", did, err)
	}
	rival := strings.NewReplacer("things.", "rivals.", `"plural":"things"`, `"plural":"rivals"`).Replace(taken.manifest(w.release.Namespace))
	plan := w.plan(t, w.content(t, "1.0.0", rival, part{"Deployment", "later", "v"}.manifest(w.release.Namespace)))
	opts := w.options(t)
	opts.StageTimeout = 3 * time.Second
	_, err := install.Apply(t.Context(), plan, byDigest(plan), w, opts)
	if kind := install.KindOf(err); err == nil || kind != install.Interrupted && kind != install.Failed || !strings.Contains(err.Error(), "rivals.") {
		t.Errorf("ended with %v", err)
	}
	if live := w.read(t, "apps/v1", "Deployment", w.release.Namespace, "later"); live != nil {
		t.Error("the next stage was written")
	}
}

// TestClusterAPIWithoutABackendIsNotInTheWay installs while the discovery of another
// group fails.
func TestClusterAPIWithoutABackendIsNotInTheWay(t *testing.T) {
	w := newWorld(t, "partial")
	raw := sandboxtest.NewRawClient(t, w.sandbox.Kubeconfig())
	const at = "/apis/apiregistration.k8s.io/v1/apiservices"
	body := map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": "v1.down.example.com"},
		"spec": map[string]any{
			"group": "down.example.com", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 10, "insecureSkipTLSVerify": true,
			"service": map[string]any{"namespace": "default", "name": "nobody"},
		},
	}
	if status, answer, err := raw.Do(t.Context(), http.MethodPost, at, "", body); err != nil || status != http.StatusCreated {
		t.Fatalf("registering the API: %d, %v, %v", status, answer, err)
	}
	defer func() { _, _, _ = raw.Do(t.Context(), http.MethodDelete, at+"/v1.down.example.com", "", nil) }()
	plan := w.plan(t, w.content(t, "1.0.0", w.operator("one")))
	w.apply(t, plan)
	w.sameAsReviewed(t, plan)
}
