package install_test

import (
	"context"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

// planWith plans with other choices than the default.
func (w *world) planWith(t *testing.T, choose func(*engine.Options), contents ...engine.Content) *preview.Plan {
	t.Helper()
	opts := w.planOptions(t)
	choose(&opts)
	plan, err := engine.Build(t.Context(), contents, w, opts)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func conflictsTo(choice string) func(*engine.Options) {
	return func(o *engine.Options) { o.Apply.Conflicts = choice }
}

// TestContestedFields: a field that somebody else took is refused, taken over
// or left, as the plan says, in both ways of reading the cluster.
func TestContestedFields(t *testing.T) {
	for _, mode := range []preview.ReadMode{preview.ReadDryRun, preview.ReadGet} {
		t.Run(string(mode), func(t *testing.T) {
			w := newWorld(t, "contested-"+strings.ReplaceAll(string(mode), "-", ""))
			ns := w.release.Namespace
			two := func(key, other string) string {
				return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {key: " + key + ", other: " + other + "}\n"
			}
			w.apply(t, w.plan(t, w.content(t, "1.0.0", two("one", "one"))))
			w.edit(t, "patch", "configmap", "a", "-n", ns, "--type=merge", `-p={"data":{"key":"theirs"}}`)
			content := w.content(t, "2.0.0", two("two", "two"))
			choose := func(choice string) *preview.Plan {
				return w.planWith(t, func(o *engine.Options) { o.Apply.Conflicts, o.ReadMode = choice, mode }, content)
			}
			id := "core/ConfigMap/" + ns + "/a"

			failing := choose(preview.ConflictsFail)
			want := []preview.Conflict{{Manager: "kubectl-patch", Path: ".data.key"}}
			if got := failing.Object(id).Conflicts; len(got) != 1 || got[0] != want[0] {
				t.Fatalf("the conflicts are %v, want %v", got, want)
			}
			before := len(w.writes(t))
			if _, err := install.Apply(t.Context(), failing, byDigest(failing), w, w.options(t)); install.KindOf(err) != install.Refused {
				t.Errorf("fail: %v, want a refusal", err)
			}
			if after := w.writes(t); len(after) != before {
				t.Errorf("fail wrote %v", after[before:])
			}

			leaving := choose(preview.ConflictsLeave)
			if leaving.Digest == failing.Digest {
				t.Error("the choice is not in the digest")
			}
			w.apply(t, leaving)
			live := w.read(t, "v1", "ConfigMap", ns, "a")
			if preview.String(live, "data", "key") != "theirs" || preview.String(live, "data", "other") != "two" {
				t.Errorf("left: %v", live["data"])
			}

			taking := choose(preview.ConflictsTake)
			if f := findingWith(taking, "field-conflict/"+id); f == nil || f.Severity != preview.Critical {
				t.Errorf("taking a field over is silent: %v", f)
			}
			if err := install.Gate(taking, install.Approval{Digest: taking.Digest, How: install.ApprovedByYes}); err == nil {
				t.Error("a bare yes takes fields over")
			}
			w.apply(t, taking)
			live = w.read(t, "v1", "ConfigMap", ns, "a")
			if preview.String(live, "data", "key") != "two" {
				t.Errorf("taken: %v", live["data"])
			}
			if again := w.plan(t, content); again.Summary.Changes() {
				t.Errorf("afterwards a plan says %+v", again.Summary)
			}
		})
	}
}

func findingWith(plan *preview.Plan, id string) *preview.Finding {
	for i := range plan.Findings {
		if plan.Findings[i].ID == id {
			return &plan.Findings[i]
		}
	}
	return nil
}

// meddling is a cluster in which somebody takes one more field right before
// the first dry run of a write that takes fields over.
type meddling struct {
	install.Cluster
	armed  bool
	meddle func()
}

func (m *meddling) DryRun(ctx context.Context, items []preview.DryRun) []preview.DryRunResult {
	if m.armed && len(items) == 1 && !items[0].Force && items[0].UID != "" && preview.RefOf(items[0].Body).Name == "a" {
		m.armed = false
		m.meddle()
	}
	return m.Cluster.DryRun(ctx, items)
}

func TestTakingAFieldTakesNoOther(t *testing.T) {
	w := newWorld(t, "takes")
	two := func(key, other string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {key: " + key + ", other: " + other + "}\n"
	}
	w.apply(t, w.plan(t, w.content(t, "1.0.0", two("one", "one"))))
	w.edit(t, "patch", "configmap", "a", "-n", "takes", "--type=merge", `-p={"data":{"key":"theirs"}}`)
	plan := w.planWith(t, conflictsTo(preview.ConflictsTake), w.content(t, "2.0.0", two("two", "two")))
	cluster := &meddling{Cluster: w.Client, meddle: func() {
		w.edit(t, "patch", "configmap", "a", "-n", "takes", "--type=merge", "--field-manager=late", `-p={"data":{"other":"theirs"}}`)
	}}
	opts := w.options(t)
	opts.Sink = func(e install.Event) {
		// The checks are over, and the write comes next.
		cluster.armed = cluster.armed || e.Object == "core/ConfigMap/takes/a" && e.State == install.StateSent
	}
	_, err := install.Apply(t.Context(), plan, byDigest(plan), cluster, opts)
	if err == nil || install.KindOf(err) != install.Refused || !strings.Contains(err.Error(), ".data.other") {
		t.Errorf("kind %d: %v, want a refusal that names the field", install.KindOf(err), err)
	}
	live := w.read(t, "v1", "ConfigMap", "takes", "a")
	if preview.String(live, "data", "key") != "theirs" || preview.String(live, "data", "other") != "theirs" {
		t.Errorf("it took %v", live["data"])
	}
}

const replaceable = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: VERSION}}
  template:
    metadata: {labels: {app: VERSION}}
    spec: {containers: [{name: web, image: "registry.example.com/web:1"}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: migrate}
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: migrate, image: "registry.example.com/migrate:VERSION"}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: op}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: VERSION}
subjects: [{kind: ServiceAccount, name: op}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: VERSION}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]
`

// TestReplace: what cannot be changed is deleted with its dependents and made
// anew, as the review says.
func TestReplace(t *testing.T) {
	w := newWorld(t, "replaces")
	at := func(version string) engine.Content {
		return w.content(t, version+".0.0", strings.ReplaceAll(replaceable, "VERSION", "v"+version))
	}
	w.apply(t, w.plan(t, at("1")))
	pods, err := w.List(t.Context(), "v1", "Pod", "replaces", "app=v1")
	if err != nil || len(pods) == 0 {
		t.Fatalf("%d pods, %v", len(pods), err)
	}
	plan := w.plan(t, at("2"))
	for _, id := range []string{"apps/Deployment/replaces/web", "batch/Job/replaces/migrate", "rbac.authorization.k8s.io/RoleBinding/replaces/op"} {
		if o := plan.Object(id); o.Action != preview.ActionReplace {
			t.Errorf("%s is planned as %s %v, want replace", id, o.Action, plan.Unknowns)
		}
	}
	if o := plan.Object("apps/Deployment/replaces/web"); o.Result == "" || len(o.Changes) == 0 {
		t.Errorf("the review does not show what the new Deployment is: %+v", o.Changes)
	}
	before := len(w.writes(t))
	receipt := w.apply(t, plan)
	for _, o := range receipt.Objects {
		if o.State != install.StateReady && o.State != install.StateRemoved {
			t.Errorf("%s is %s: %s", o.ID, o.State, o.Message)
		}
	}
	for _, want := range []string{
		"delete apps/deployments replaces/web", "patch apps/deployments replaces/web",
		"delete batch/jobs replaces/migrate", "delete rbac.authorization.k8s.io/rolebindings replaces/op",
	} {
		if n := count(w.writes(t)[before:], want); n != 1 {
			t.Errorf("%q was persisted %d times", want, n)
		}
	}
	if pods, err = w.List(t.Context(), "v1", "Pod", "replaces", "app=v1"); err != nil || len(pods) != 0 {
		t.Errorf("%d pods of the former Deployment are left, %v", len(pods), err)
	}
	if again := w.plan(t, at("2")); again.Summary.Changes() {
		t.Errorf("afterwards a plan says %+v", again.Summary)
	}

	w.edit(t, "patch", "deployment", "web", "-n", "replaces", "--type=merge", `-p={"metadata":{"finalizers":["example.com/hold"]}}`)
	held := w.plan(t, at("3"))
	if o := held.Object("apps/Deployment/replaces/web"); o.Action != preview.ActionBlocked {
		t.Errorf("an object with a foreign finalizer is planned as %s", o.Action)
	}
	_, err = install.Apply(t.Context(), held, byDigest(held), w, w.options(t))
	if install.KindOf(err) != install.Refused || err == nil || !strings.Contains(err.Error(), "example.com/hold") {
		t.Errorf("%v, want a refusal that names the finalizer", err)
	}
	w.edit(t, "patch", "deployment", "web", "-n", "replaces", "--type=merge", `-p={"metadata":{"finalizers":null}}`)
}

func count(events []string, want string) int {
	n := 0
	for _, e := range events {
		if e == want {
			n++
		}
	}
	return n
}

func TestClaimsAreNeverReplaced(t *testing.T) {
	w := newWorld(t, "claims")
	claim := func(class string) engine.Content {
		return w.content(t, "1.0.0", "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec: {accessModes: [ReadWriteOnce], storageClassName: "+class+", resources: {requests: {storage: 1Gi}}}\n")
	}
	w.apply(t, w.plan(t, claim("one")))
	plan := w.plan(t, claim("two"))
	_, err := install.Apply(t.Context(), plan, byDigest(plan), w, w.options(t))
	if install.KindOf(err) != install.Refused || err == nil || !strings.Contains(err.Error(), "is never deleted to be created again") {
		t.Errorf("kind %d: %v, want a refusal that says why", install.KindOf(err), err)
	}
}
