package install_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

// serve makes an API of another tool known to the control plane, as a plain
// definition that keeps every field. All tests of the package share it.
func serve(t *testing.T, w *world, group, version, kind, plural, scope string) {
	t.Helper()
	raw := sandboxtest.NewRawClient(t, w.sandbox.Kubeconfig())
	body := map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{
			"name": plural + "." + group, "annotations": map[string]any{"api-approved.kubernetes.io": "unapproved, for tests"},
		},
		"spec": map[string]any{
			"group": group, "scope": scope,
			"names": map[string]any{"kind": kind, "plural": plural, "singular": strings.ToLower(kind), "listKind": kind + "List"},
			"versions": []any{map[string]any{
				"name": version, "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
			}},
		},
	}
	status, answer, err := raw.Do(t.Context(), http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "", body)
	if err != nil || status != http.StatusCreated && status != http.StatusConflict {
		t.Fatalf("%s: %d %v %v", kind, status, answer, err)
	}
	until(t, kind+" is served", func() bool {
		status, _, err := raw.Do(t.Context(), http.MethodGet, "/apis/"+group+"/"+version+"/"+plural, "", nil)
		return err == nil && status == http.StatusOK
	})
}

// makes applies manifests by kubectl.
func (w *world) makes(t *testing.T, text string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "made.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	w.edit(t, "apply", "--server-side", "-f", file)
}

// TestClusterWhatOwnsAnObjectMustLetGoFirst: as long as the object of another tool
// exists, the review refuses with the steps; carried out as they are printed,
// they leave the object, and it can be taken over.
func TestClusterWhatOwnsAnObjectMustLetGoFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "former")
	ns := w.release.Namespace
	w.edit(t, "create", "namespace", ns)
	serve(t, w, "olm.operatorframework.io", "v1", "ClusterExtension", "clusterextensions", "Cluster")
	serve(t, w, "kustomize.toolkit.fluxcd.io", "v1", "Kustomization", "kustomizations", "Namespaced")
	serve(t, w, "helm.toolkit.fluxcd.io", "v2", "HelmRelease", "helmreleases", "Namespaced")
	serve(t, w, "argoproj.io", "v1alpha1", "Application", "applications", "Namespaced")
	serve(t, w, "kappctrl.k14s.io", "v1alpha1", "App", "apps", "Namespaced")
	serve(t, w, "packaging.carvel.dev", "v1alpha1", "PackageInstall", "packageinstalls", "Namespaced")
	kapp := func(record, value string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + record + ", namespace: NS, labels: {kapp.k14s.io/is-app: \"\"}}\ndata: {spec: '{\"labelKey\":\"kapp.k14s.io/app\",\"labelValue\":\"" + value + "\"}'}\n"
	}
	patched := func(object, merge string) string {
		return "kubectl patch " + object + " -n NS --type=merge -p '" + merge + "' && kubectl delete " + object + " -n NS"
	}
	for _, test := range []struct {
		name, marks, owner string
		steps              []string // of one refusal after the other
	}{
		{
			"olm-v1", "labels: {olm.operatorframework.io/owner-kind: ClusterExtension, olm.operatorframework.io/owner-name: former-op}",
			"apiVersion: olm.operatorframework.io/v1\nkind: ClusterExtension\nmetadata: {name: former-op}\n",
			[]string{"kubectl delete clusterextension.olm.operatorframework.io former-op --cascade=orphan"},
		},
		{
			"flux", "labels: {kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: NS}",
			"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: NS}\nspec: {prune: true}\n",
			[]string{patched("kustomization.kustomize.toolkit.fluxcd.io apps", `{"spec":{"suspend":true}}`)},
		},
		{
			"flux-helm", "labels: {helm.toolkit.fluxcd.io/name: web, helm.toolkit.fluxcd.io/namespace: NS}, annotations: {meta.helm.sh/release-name: web, meta.helm.sh/release-namespace: NS}",
			"apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: web, namespace: NS}\n",
			[]string{patched("helmrelease.helm.toolkit.fluxcd.io web", `{"spec":{"suspend":true}}`)},
		},
		{
			"argo", "annotations: {argocd.argoproj.io/tracking-id: 'shop:/ConfigMap:NS/argo'}",
			"apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: shop, namespace: NS, finalizers: [resources-finalizer.argocd.argoproj.io/background]}\n",
			[]string{patched("application.argoproj.io shop", `{"metadata":{"finalizers":null}}`)},
		},
		{"kapp", "labels: {kapp.k14s.io/app: '1701'}", kapp("shop", "1701"), []string{"kubectl delete configmap shop -n NS"}},
		{
			"kapp-controller", "labels: {kapp.k14s.io/app: '1702'}",
			kapp("stock.app", "1702") + "---\napiVersion: kappctrl.k14s.io/v1alpha1\nkind: App\nmetadata: {name: stock, namespace: NS}\n",
			[]string{patched("app.kappctrl.k14s.io stock", `{"spec":{"noopDelete":true}}`), "kubectl delete configmap stock.app -n NS"},
		},
		{
			"carvel-package", "labels: {kapp.k14s.io/app: '1703'}",
			kapp("pay.app", "1703") + "---\napiVersion: packaging.carvel.dev/v1alpha1\nkind: PackageInstall\nmetadata: {name: pay, namespace: NS}\n",
			[]string{patched("packageinstall.packaging.carvel.dev pay", `{"spec":{"noopDelete":true}}`), "kubectl delete configmap pay.app -n NS"},
		},
		{"set", "labels: {applyset.kubernetes.io/part-of: applyset-of-kubectl-v1}", "", []string{"kubectl label configmap set -n NS applyset.kubernetes.io/part-of-"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			here := func(text string) string { return strings.ReplaceAll(text, "NS", ns) }
			id := "core/ConfigMap/" + ns + "/" + test.name
			w.makes(t, here("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "+test.name+", namespace: NS, "+test.marks+"}\ndata: {key: theirs}\n"))
			if test.owner != "" {
				w.makes(t, here(test.owner))
			}
			content := w.content(t, "1.0.0", configMap(test.name, "ours"))
			for _, step := range test.steps {
				refusedWith(t, w, w.planWith(t, adopting, content), id+" belongs to ", here(step))
				w.shell(t, here(step))
			}
			plan := w.planWith(t, adopting, content)
			if o := plan.Object(id); o.Action != preview.ActionAdopt {
				t.Fatalf("afterwards it is planned as %s: %s", o.Action, engine.BlockedBy(plan, o))
			}
			w.apply(t, plan)
			live := w.read(t, "v1", "ConfigMap", ns, test.name)
			if owner, foreign := preview.ForeignOwner(live, w.release); foreign || preview.String(live, "data", "key") != "ours" {
				t.Errorf("it is still %s's: %v", owner, live)
			}
		})
	}
}

// shell runs a command line as it was printed.
func (w *world) shell(t *testing.T, line string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(sandboxtest.Kubectl(t), filepath.Join(dir, "kubectl")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", line)
	cmd.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"), "KUBECONFIG="+w.sandbox.Kubeconfig())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

const olmOperator = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: operator}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: $NS-operator}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: operator}
spec:
  selector: {matchLabels: {app: operator}}
  template:
    metadata: {labels: {app: operator}}
    spec: {serviceAccountName: operator, containers: [{name: operator, image: "registry.example.com/operator:1"}]}
`

// underOLM makes what OLM v0 leaves in a cluster: a Subscription, the
// ClusterServiceVersion that it installed, and the objects of that, which belong
// to it by reference where that is possible and by labels everywhere. One more
// object is the CSV's, and in no bundle.
func underOLM(t *testing.T, w *world) {
	t.Helper()
	ns := w.release.Namespace
	serve(t, w, "operators.coreos.com", "v1alpha1", "Subscription", "subscriptions", "Namespaced")
	serve(t, w, "operators.coreos.com", "v1alpha1", "ClusterServiceVersion", "clusterserviceversions", "Namespaced")
	w.edit(t, "create", "namespace", ns)
	w.makes(t, w.here(`{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, metadata: {name: op.v1, namespace: $NS}, spec: {version: 1.0.0}}
---
{apiVersion: operators.coreos.com/v1alpha1, kind: Subscription, metadata: {name: op, namespace: $NS}, spec: {name: op}, status: {installedCSV: op.v1, currentCSV: op.v1}}
---
{apiVersion: operators.coreos.com/v1alpha1, kind: Subscription, metadata: {name: another, namespace: $NS}, spec: {name: another}, status: {installedCSV: another.v1}}
`))
	uid := preview.String(w.read(t, "operators.coreos.com/v1alpha1", csv, ns, "op.v1"), "metadata", "uid")
	labels := map[string]any{"olm.owner": "op.v1", "olm.owner.namespace": ns, "olm.owner.kind": csv}
	owner := []any{map[string]any{"apiVersion": "operators.coreos.com/v1alpha1", "kind": csv, "name": "op.v1", "uid": uid}}
	raw := sandboxtest.NewRawClient(t, w.sandbox.Kubeconfig())
	post := func(path string, body map[string]any, references bool) {
		t.Helper()
		meta := preview.Map(body, "metadata")
		if meta["labels"] = labels; references {
			meta["ownerReferences"] = owner
		}
		if status, answer, err := raw.Do(t.Context(), http.MethodPost, path+"?fieldManager=olm", "", body); err != nil || status != http.StatusCreated {
			t.Fatalf("%s: %d %v %v", path, status, answer, err)
		}
	}
	docs, err := preview.Decode([]byte(w.here(olmOperator)))
	if err != nil {
		t.Fatal(err)
	}
	post("/api/v1/namespaces/"+ns+"/serviceaccounts", docs[0].(map[string]any), true)
	post("/apis/rbac.authorization.k8s.io/v1/clusterroles", docs[1].(map[string]any), false)
	post("/apis/apps/v1/namespaces/"+ns+"/deployments", docs[2].(map[string]any), true)
	post("/api/v1/namespaces/"+ns+"/configmaps", body(t, configMap("stranger", "x")), true)
}

const csv = "ClusterServiceVersion"

// TestClusterOLMHandsOver: the Subscription goes first, then the members are released,
// then the CSV goes and leaves what it owned, and only then anything is applied.
// The garbage collector, which works, deletes none of the members.
func TestClusterOLMHandsOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "handover")
	ns := w.release.Namespace
	underOLM(t, w)
	members := map[string]preview.Ref{}
	for _, ref := range []preview.Ref{
		{APIVersion: "v1", Kind: "ServiceAccount", Namespace: ns, Name: "operator"},
		{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: ns + "-operator"},
		{APIVersion: "apps/v1", Kind: "Deployment", Namespace: ns, Name: "operator"},
	} {
		members[preview.String(w.read(t, ref.APIVersion, ref.Kind, ref.Namespace, ref.Name), "metadata", "uid")] = ref
	}
	content := w.content(t, "1.0.0", w.here(olmOperator))
	refusedWith(t, w, w.plan(t, content), "operators.coreos.com/ClusterServiceVersion/"+ns+"/op.v1", "--adopt")

	plan := w.planWith(t, adopting, content)
	if plan.Summary.Adopt != 3 || plan.Summary.Delete != 2 || plan.Stages[0].ID != preview.StageHandOver {
		t.Fatalf("planned as %+v in %v", plan.Summary, plan.Stages)
	}
	for _, id := range []string{"operators.coreos.com/Subscription/" + ns + "/op", "operators.coreos.com/ClusterServiceVersion/" + ns + "/op.v1"} {
		o, f := plan.Object(id), findingWith(plan, "object-deleted/"+id)
		if o == nil || o.Adoption == nil || len(o.Adoption.Releases) != 3 || f == nil || f.Severity != preview.Critical {
			t.Errorf("%s: %+v, %+v; want a critical deletion that lets go of three objects", id, o, f)
		}
	}
	if _, _, err := engine.Verify(plan, w.schemas); err != nil {
		t.Errorf("saved, it would not hold together: %v", err)
	}
	before := len(w.writes(t))
	w.apply(t, plan)

	order := slices.DeleteFunc(w.writes(t)[before:], func(e string) bool { return strings.Contains(e, "kubectl-operator.") })
	at := func(event string) int { return slices.Index(order, event) }
	last := func(event string) int { return len(order) - 1 - slices.Index(reversed(order), event) }
	subscription, gone := at("delete operators.coreos.com/subscriptions "+ns+"/op"), at("delete operators.coreos.com/clusterserviceversions "+ns+"/op.v1")
	if subscription != 0 || gone < 0 {
		t.Fatalf("the writes are\n%s", strings.Join(order, "\n"))
	}
	for _, event := range []string{"patch core/serviceaccounts " + ns + "/operator", "patch rbac.authorization.k8s.io/clusterroles " + ns + "-operator", "patch apps/deployments " + ns + "/operator"} {
		if n := count(order, event); n != 2 || at(event) > gone || last(event) < gone {
			t.Errorf("%q is written %d times, want once before and once after the CSV is gone:\n%s", event, n, strings.Join(order, "\n"))
		}
	}

	// The collector is shown to work on another CSV, so that it had the time.
	w.makes(t, w.here(`{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, metadata: {name: other.v1, namespace: $NS}}`))
	uid := preview.String(w.read(t, "operators.coreos.com/v1alpha1", csv, ns, "other.v1"), "metadata", "uid")
	w.makes(t, w.here(`{apiVersion: v1, kind: ConfigMap, metadata: {name: doomed, namespace: $NS, ownerReferences: [{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, name: other.v1, uid: `+uid+`}]}}`))
	w.edit(t, "delete", "clusterserviceversions.operators.coreos.com", "other.v1", "-n", ns, "--wait=false")
	until(t, "the garbage collector deletes what a CSV owns", func() bool { return w.read(t, "v1", "ConfigMap", ns, "doomed") == nil })
	for uid, ref := range members {
		live := w.read(t, ref.APIVersion, ref.Kind, ref.Namespace, ref.Name)
		owner, foreign := preview.ForeignOwner(live, w.release)
		if preview.String(live, "metadata", "uid") != uid || foreign || !preview.IsMember(live, w.release) || len(preview.List(live, "metadata", "ownerReferences")) > 0 {
			t.Errorf("%s is %v of %s", ref.ID(), live["metadata"], owner)
		}
	}
	if live := w.read(t, "v1", "ConfigMap", ns, "stranger"); live == nil || len(preview.List(live, "metadata", "ownerReferences")) > 0 {
		t.Errorf("what the bundle does not bring is %v, want it left alone", live)
	}
	if w.read(t, "operators.coreos.com/v1alpha1", "Subscription", ns, "another") == nil {
		t.Error("the Subscription of another operator is gone")
	}
	if again := w.plan(t, content); again.Summary.Changes() {
		t.Errorf("afterwards a plan says %+v", again.Summary)
	}
}

func reversed(list []string) []string {
	out := slices.Clone(list)
	slices.Reverse(out)
	return out
}

// TestClusterHandOverThatIsKilledGoesOn: after each of its writes, the record tells
// what happened, and the same digest carries the rest out, once.
func TestClusterHandOverThatIsKilledGoesOn(t *testing.T) {
	t.Parallel()
	steps := []string{
		"delete operators.coreos.com/subscriptions NS/op", "patch core/serviceaccounts NS/operator",
		"delete operators.coreos.com/clusterserviceversions NS/op.v1", "patch core/serviceaccounts NS/operator",
	}
	states := [][3]record.ObjectState{ // of the Subscription, the ServiceAccount and the CSV
		{record.StateRemoved, record.StatePending, record.StatePending},
		{record.StateRemoved, record.StateReleased, record.StatePending},
		{record.StateRemoved, record.StateReleased, record.StateRemoved},
		{record.StateRemoved, record.StateApplied, record.StateRemoved},
	}
	// The collector learns of new kinds once in a while; the runs below count on it.
	warm := newWorld(t, "handover-warm")
	underOLM(t, warm)
	warm.edit(t, "delete", "clusterserviceversions.operators.coreos.com", "op.v1", "-n", warm.release.Namespace, "--cascade=orphan", "--wait=false")
	until(t, "the garbage collector knows CSVs", func() bool {
		return warm.read(t, "operators.coreos.com/v1alpha1", csv, warm.release.Namespace, "op.v1") == nil
	})
	for i, step := range steps {
		t.Run(fmt.Sprint("after write ", i+1), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, fmt.Sprint("handover-", i))
			ns := w.release.Namespace
			underOLM(t, w)
			plan := w.planWith(t, adopting, w.content(t, "1.0.0", "{apiVersion: v1, kind: ServiceAccount, metadata: {name: operator}}"))
			before := len(w.writes(t))
			cluster := &faulty{Cluster: w.Client, mode: killed, at: i + 1, only: func(ref preview.Ref) bool { return ref.Kind != "Secret" && ref.Kind != "Lease" }}
			opts := w.options(t)
			opts.Sink, opts.Holder, opts.Clock = nil, "first", deadClock{cluster}
			if _, err := install.Apply(t.Context(), plan, byDigest(plan), cluster, opts); install.KindOf(err) != install.Failed && install.KindOf(err) != install.Interrupted {
				t.Errorf("killed after %q: %v", step, err)
			}
			stored, err := record.Load(t.Context(), w, w.release)
			if err != nil {
				t.Fatal(err)
			}
			objects, err := install.Reconcile(t.Context(), w, w.schemas, stored)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range objects {
				at := slices.Index([]string{"Subscription", "ServiceAccount", csv}, strings.Split(o.ID, "/")[1])
				if want := states[i][at]; o.State != want && (want != record.StateRemoved || o.State != record.StateRemoving) {
					t.Errorf("after %q the record tells that %s is %s, want %s", step, o.ID, o.State, want)
				}
			}
			if err := resume(t, w, plan, i); err != nil {
				t.Fatal(err)
			}
			writes := w.writes(t)[before:]
			for _, step := range steps {
				if n := count(writes, strings.ReplaceAll(step, "NS", ns)); n != count(steps, step) {
					t.Errorf("%q was persisted %d times\n%s", step, n, strings.Join(writes, "\n"))
				}
			}
			if live := w.read(t, "v1", "ServiceAccount", ns, "operator"); !preview.IsMember(live, w.release) || len(preview.List(live, "metadata", "ownerReferences")) > 0 {
				t.Errorf("in the end it is %v", live["metadata"])
			}
		})
	}
}
