package install_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
)

// planWith plans with other choices than the default.
func (w *world) planWith(t testing.TB, choose func(*engine.Options), contents ...planned.Content) *preview.Plan {
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

// TestClusterContestedFields: a field that another user took is refused, taken over or
// left, as the plan says, in both ways of reading the cluster.
func TestClusterContestedFields(t *testing.T) {
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
			showsContested(t, failing.Object(id), `change .data.key theirs two`, `change .data.other one two`)
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
			if err := install.Gate(taking, record.Approval{Digest: taking.Digest, How: record.ApprovedByYes}); err == nil {
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

// showsContested checks that an object with a conflict that nothing settles is shown
// as it would be if the fields were taken, and who wrote what is contested, and when.
func showsContested(t *testing.T, o *preview.Object, want ...string) {
	t.Helper()
	var got []string
	for _, c := range o.Changes {
		got = append(got, fmt.Sprintf("%s %s %v %v", c.Op, c.Path, c.From, c.To))
	}
	if !slices.Equal(got, want) || o.Result == "" || o.Action != preview.ActionUpdate {
		t.Errorf("%s with result %q changes %q, want %q", o.Action, o.Result, got, want)
	}
	if len(o.Contested) != 1 {
		t.Fatalf("contested is %+v", o.Contested)
	}
	f := o.Contested[0]
	if at, err := time.Parse(time.RFC3339, f.Since); err != nil || time.Since(at) > time.Hour || f.Settled != "" || f.Live != "theirs" || f.Planned != "two" {
		t.Errorf("contested is %+v", f)
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

// meddling is a cluster where another user takes one more field right before the first
// dry run of a write that takes fields over.
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

func TestClusterTakingAFieldTakesNoOther(t *testing.T) {
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
		cluster.armed = cluster.armed || e.Object == "core/ConfigMap/takes/a" && e.State == record.StateSent
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

// TestClusterReplace: an object that cannot be changed is deleted with its dependents
// and made anew, as the review says.
func TestClusterReplace(t *testing.T) {
	w := newWorld(t, "replaces")
	at := func(version string) planned.Content {
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
		if o.State != record.StateReady && o.State != record.StateRemoved {
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

func TestClusterClaimsAreNeverReplaced(t *testing.T) {
	w := newWorld(t, "claims")
	claim := func(class string) planned.Content {
		return w.content(t, "1.0.0", "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec: {accessModes: [ReadWriteOnce], storageClassName: "+class+", resources: {requests: {storage: 1Gi}}}\n")
	}
	w.apply(t, w.plan(t, claim("one")))
	plan := w.plan(t, claim("two"))
	_, err := install.Apply(t.Context(), plan, byDigest(plan), w, w.options(t))
	if install.KindOf(err) != install.Refused || err == nil || !strings.Contains(err.Error(), "is never deleted to be created again") {
		t.Errorf("kind %d: %v, want a refusal that says why", install.KindOf(err), err)
	}
}

const monitored = `
apiVersion: monitoring.NS.example.com/v1
kind: ServiceMonitor
metadata: {name: op}
spec: {}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
`

func TestClusterKindsThatAreNotServedAreSkippedUntilTheyAre(t *testing.T) {
	w := newWorld(t, "skips")
	content := w.content(t, "1.0.0", strings.ReplaceAll(monitored, "NS", "skips"))
	id := "monitoring.skips.example.com/ServiceMonitor/skips/op"

	strict := w.planWith(t, func(o *engine.Options) { o.Apply.Strict = true }, content)
	if a := strict.Object(id).Action; a != preview.ActionUnknown {
		t.Errorf("with --strict it is %s", a)
	}
	if _, err := install.Apply(t.Context(), strict, byDigest(strict), w, w.options(t)); install.KindOf(err) != install.Refused {
		t.Errorf("strict: %v, want a refusal", err)
	}
	plan := w.plan(t, content)
	if f := findingWith(plan, "kind-not-served/"+id); plan.Object(id).Action != preview.ActionSkip || f == nil || !strings.Contains(f.Title, "metrics") {
		t.Errorf("it is %s, %v; want skip, and what is lost", plan.Object(id).Action, f)
	}
	for _, o := range w.apply(t, plan).Objects {
		if o.ID == id && o.State != record.StateSkipped {
			t.Errorf("the receipt says %s", o.State)
		}
	}
	if again := w.plan(t, content); again.Summary.Changes() {
		t.Errorf("a second plan says %+v", again.Summary)
	}

	crd := strings.NewReplacer("things.GROUP", "servicemonitors.monitoring.skips.example.com", "group: GROUP", "group: monitoring.skips.example.com",
		"Thing", "ServiceMonitor", "things", "servicemonitors", "thing", "servicemonitor").Replace(definition)
	other := connect(t, w.sandbox.Kubeconfig())
	if _, err := other.Apply(t.Context(), preview.DryRun{Body: body(t, crd)}); err != nil {
		t.Fatal(err)
	}
	until(t, "the API is served", func() bool {
		_, err := w.Kind(t.Context(), "monitoring.skips.example.com/v1", "ServiceMonitor")
		return err == nil
	})
	upgrade := w.plan(t, content)
	if a := upgrade.Object(id).Action; a != preview.ActionCreate {
		t.Errorf("with the API there it is %s, want create", a)
	}
	w.apply(t, upgrade)
}

const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.GROUP}
spec:
  group: GROUP
  names: {kind: Thing, plural: things, singular: thing, listKind: ThingList}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited too long until %s", what)
		}
	}
}

func TestClusterWhatFinalizersHoldStaysListedUntilItIsGone(t *testing.T) {
	w := newWorld(t, "held-back")
	held := strings.Replace(configMap("b", "1"), "{name: b}", "{name: b, finalizers: [example.com/hold]}", 1)
	w.apply(t, w.plan(t, w.content(t, "1.0.0", configMap("a", "1"), held)))
	opts := w.options(t)
	opts.NoWait = true
	second := w.plan(t, w.content(t, "2.0.0", configMap("a", "2")))
	if _, err := install.Apply(t.Context(), second, byDigest(second), w, opts); err != nil {
		t.Fatal(err)
	}
	third := w.plan(t, w.content(t, "3.0.0", configMap("a", "3")))
	if o := third.Object("core/ConfigMap/held-back/b"); o == nil || o.Action != preview.ActionKeep {
		t.Fatalf("what is being deleted is planned as %+v, want keep", o)
	}
	w.apply(t, third)
	w.edit(t, "patch", "configmap", "b", "-n", "held-back", "--type=merge", `-p={"metadata":{"finalizers":null}}`)
	until(t, "the object is gone", func() bool { return w.read(t, "v1", "ConfigMap", "held-back", "b") == nil })
	fourth := w.plan(t, w.content(t, "4.0.0", configMap("a", "4")))
	if o := fourth.Object("core/ConfigMap/held-back/b"); o != nil {
		t.Errorf("what is gone is planned as %s", o.Action)
	}
	w.apply(t, fourth)
	record, err := record.Load(t.Context(), w, w.release)
	if err != nil || len(record.Inventory) != 1 {
		t.Errorf("the inventory is %+v, %v", record.Inventory, err)
	}
}

// TestClusterResumeTrustsNoRecordedFindings: anyone who may write Secrets in the release
// namespace could take the findings out of the recorded plan; the sealed data still says
// which findings are critical. And what the plan only read must be as it was.
func TestClusterResumeTrustsNoRecordedFindings(t *testing.T) {
	w := newWorld(t, "distrust")
	const manifest = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: distrust-all}
rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: distrust-all}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: distrust-all}
subjects: [{kind: ServiceAccount, name: op, namespace: distrust}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: uses}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: distrust-read}
subjects: [{kind: ServiceAccount, name: op}]
`
	w.edit(t, "create", "clusterrole", "distrust-read", "--verb=get", "--resource=configmaps")
	w.apply(t, w.plan(t, w.content(t, "0.0.1", configMap("a", "0"))))
	plan := w.plan(t, w.content(t, "1.0.0", manifest, configMap("a", "1"), configMap("b", "1")))
	ctx, stop := context.WithCancel(t.Context())
	if _, err := install.Apply(ctx, plan, byDigest(plan), &cancelling{Cluster: w.Client, stop: stop, at: 1}, w.options(t)); err == nil {
		t.Fatal("the run was not interrupted")
	}
	forged := *plan
	forged.Findings = nil
	bare := byDigest(plan)
	bare.Ruleset = 0 // covers no critical finding
	_, err := install.Apply(t.Context(), &forged, bare, w, w.options(t))
	if install.KindOf(err) != install.Refused || err == nil || !strings.Contains(err.Error(), "critical finding") {
		t.Errorf("kind %d: %v, want a refusal that names the critical finding", install.KindOf(err), err)
	}
	w.edit(t, "patch", "clusterrole", "distrust-read", "--type=merge", `-p={"rules":[{"apiGroups":[""],"resources":["secrets"],"verbs":["get"]}]}`)
	_, err = install.Apply(t.Context(), plan, byDigest(plan), w, w.options(t))
	if install.KindOf(err) != install.Refused || err == nil || !strings.Contains(err.Error(), "distrust-read") {
		t.Errorf("kind %d: %v, want a refusal that names the role", install.KindOf(err), err)
	}
	w.edit(t, "patch", "clusterrole", "distrust-read", "--type=merge", `-p={"rules":[{"apiGroups":[""],"resources":["configmaps"],"verbs":["get"]}]}`)
	w.apply(t, plan)
}

// TestClusterAdopt: objects of kubectl and Helm are taken over whole: nothing of the
// former owner stays, and dependents that its deletion would have removed stay.
func TestClusterAdopt(t *testing.T) {
	w := newWorld(t, "adopts")
	w.edit(t, "create", "namespace", "adopts")
	file := filepath.Join(t.TempDir(), "made.yaml")
	made := strings.Replace(configMap("a", "old"), "\ndata: {", "\ndata: {gone: x, ", 1)
	helm := strings.Replace(configMap("h", "old"), "{name: h}", "{name: h, labels: {app.kubernetes.io/managed-by: Helm}, annotations: {meta.helm.sh/release-name: web, meta.helm.sh/release-namespace: adopts}}", 1)
	if err := os.WriteFile(file, []byte(made+"---\n"+helm), 0o600); err != nil {
		t.Fatal(err)
	}
	w.edit(t, "apply", "-n", "adopts", "-f", file)
	content := w.content(t, "1.0.0", configMap("a", "new"), configMap("h", "new"))

	refused := w.plan(t, content)
	if _, err := install.Apply(t.Context(), refused, byDigest(refused), w, w.options(t)); install.KindOf(err) != install.Refused || !strings.Contains(err.Error(), "--adopt") {
		t.Errorf("without --adopt: %v, want a refusal that names it", err)
	}
	plan := w.planWith(t, func(o *engine.Options) { o.Apply.Adopt = true }, content)
	for _, name := range []string{"a", "h"} {
		if o := plan.Object("core/ConfigMap/adopts/" + name); o.Action != preview.ActionAdopt || o.Adoption == nil {
			t.Fatalf("%s is planned as %s %v", name, o.Action, plan.Unknowns)
		}
	}
	if f := findingWith(plan, "helm-record-stays/core/ConfigMap/adopts/h"); f == nil || !strings.Contains(f.Evidence, "kubectl delete secret -l owner=helm,name=web -n adopts") {
		t.Errorf("what becomes of Helm's record is not said: %+v", f)
	}
	w.apply(t, plan)
	for _, name := range []string{"a", "h"} {
		live := w.read(t, "v1", "ConfigMap", "adopts", name)
		if preview.String(live, "data", "key") != "new" || preview.String(live, "data", "gone") != "" {
			t.Errorf("%s holds %v", name, live["data"])
		}
		if _, foreign := preview.ForeignOwner(live, w.release); foreign || !preview.IsMember(live, w.release) || preview.String(live, "metadata", "annotations", preview.LastApplied) != "" {
			t.Errorf("%s is still marked: %v", name, live["metadata"])
		}
	}
	if again := w.plan(t, content); again.Summary.Changes() {
		t.Errorf("afterwards a plan says %+v", again.Summary)
	}

	owned := fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: o\n  namespace: adopts\n  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: a, uid: %s}]\n",
		preview.String(w.read(t, "v1", "ConfigMap", "adopts", "a"), "metadata", "uid"))
	if err := os.WriteFile(file, []byte(owned), 0o600); err != nil {
		t.Fatal(err)
	}
	w.edit(t, "apply", "-f", file)
	blocked := w.planWith(t, func(o *engine.Options) { o.Apply.Adopt = true }, w.content(t, "2.0.0", configMap("a", "new"), configMap("h", "new"), configMap("o", "new")))
	if _, err := install.Apply(t.Context(), blocked, byDigest(blocked), w, w.options(t)); install.KindOf(err) != install.Refused || !strings.Contains(err.Error(), "--cascade=orphan") {
		t.Errorf("with an owner that exists: %v, want a refusal with the steps", err)
	}
}
