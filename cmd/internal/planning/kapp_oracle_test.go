package planning_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

// kappWorld is a control plane that the real kapp applies to.
type kappWorld struct {
	*appliedWorld
	program string
}

func newKappWorld(t *testing.T, namespace string) kappWorld {
	t.Helper()
	program := filepath.Join(filepath.Dir(sandboxtest.Kubectl(t)), "kapp")
	if _, err := os.Stat(program); err != nil {
		t.Skip(`skipped: kapp is not built; run "make kapp"`)
	}
	return kappWorld{newAppliedWorld(t, namespace), program}
}

// deploy lets kapp apply a file, and returns what it says.
func (w kappWorld) deploy(file string) (string, error) {
	w.t.Helper()
	args := []string{"deploy", "--app", "app", "-n", w.namespace, "--kubeconfig", w.box.Kubeconfig(), "-f", file}
	args = append(args, "--yes", "--wait=false", "--color=false")
	for {
		out, err := exec.CommandContext(w.t.Context(), w.program, args...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "the object has been modified") { // by the controller of Deployments
			return string(out), err
		}
	}
}

func (w kappWorld) mustDeploy(file string) {
	w.t.Helper()
	if out, err := w.deploy(file); err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
}

// unsummed takes what kapp remembers out of what a plan predicts where no dry run shows what it
// sums: Services and claims get values of the API server, and a binding refers to a role that
// is created with it, which has no dry run.
func (w kappWorld) unsummed(plan *preview.Plan) {
	live := w.live(plan)
	for i := range plan.Objects {
		o := &plan.Objects[i]
		if o.LiveBody != nil || o.Action != preview.ActionCreate {
			continue
		}
		keys := []string{"kapp.k14s.io/original-diff-md5"}
		if o.ResultBody == nil {
			o.ResultBody, keys = preview.CloneBody(o.Planned), append(keys, preview.KappOriginal)
		} else if o.Kind != "Service" && o.Kind != "PersistentVolumeClaim" {
			continue
		}
		for _, key := range keys {
			preview.SetMetadata(o.ResultBody, "annotations", key, preview.String(live[o.ID], "metadata", "annotations", key))
		}
	}
}

func TestClusterKappAppliesWhatWasPreviewed(t *testing.T) {
	sandboxtest.Start(t)
	objects, fields, sets := 0, 0, 0
	all := slices.Concat(setsOf(t, "kapp.txtar", "NAMESPACE", "kapp"), writtenSets(t, "kapp"), corpusSets(t))
	for i, set := range all {
		if !slowtest.Turn(t, i) {
			continue
		}
		t.Run(set.name, func(t *testing.T) {
			w := newKappWorld(t, fmt.Sprintf("kapp-%d", i))
			w.define(set.before)
			first, second := w.write(set.v1), w.write(set.v2)
			defer func() { _, _ = w.try("delete", "--wait=false", "--ignore-not-found", "-f", first, "-f", second) }()
			w.mustDeploy(first)
			plan, read := w.preview(second, preview.ReadDryRun), w.preview(second, preview.ReadGet)
			if by := plan.AppliedBy; by == nil || by.Tool != preview.ApplierKapp || by.State != "succeeded" {
				t.Fatalf("applied by %+v", by)
			}
			if found := engine.Obstacles(plan); len(found) > 0 && !fails(plan) {
				t.Errorf("obstacles %+v", found)
			}
			w.sameByReads(plan, read)
			out, err := w.deploy(second)
			if predicted := fails(plan); predicted != (err != nil) {
				t.Errorf("predicted that it fails: %t; and it says %v %s; %+v", predicted, err, out, plan.Unknowns)
			}
			w.unsummed(plan)
			fields += w.compare(plan)
			objects, sets = objects+len(plan.Objects), sets+1
			again := w.preview(second, preview.ReadDryRun)
			if set.name == "one version of two is new" { // the older one is deleted with the next deploy
				w.mustDeploy(second)
				w.compare(again)
				again = w.preview(second, preview.ReadDryRun)
			}
			if err == nil {
				w.appliesNothing(again)
			}
		})
	}
	t.Logf("%d sets, %d objects, %d fields", sets, objects, fields)
}

func TestClusterKappOnDriftedObjects(t *testing.T) {
	sandboxtest.Start(t)
	label := func(key, value string) []string {
		return []string{"label", "--overwrite", "configmap/web", key + "=" + value}
	}
	for i, tt := range []struct {
		name  string
		drift [][]string
		same  bool // the second version is the first
		limit preview.Limit
	}{
		{name: "nothing", same: true},
		{name: "scaled", drift: [][]string{{"scale", "deployment/web", "--replicas=5"}}, same: true},
		{name: "scaled before a change", drift: [][]string{{"scale", "deployment/web", "--replicas=5"}}},
		{name: "another image", drift: [][]string{{"set", "image", "deployment/web", "web=other:9"}}, same: true},
		{name: "a sidecar", drift: [][]string{{"patch", "deployment/web", "--type=json", "-p", `[{"op":"add","path":"/spec/template/spec/containers/0","value":{"name":"side","image":"side:1"}}]`}}},
		{name: "deleted", drift: [][]string{{"delete", "configmap/web"}}, same: true},
		{name: "an extra label", drift: [][]string{label("extra", "x")}, same: true},
		{name: "an extra key", drift: [][]string{{"patch", "configmap/web", "-p", `{"data":{"more":"1"}}`}}, same: true},
		{name: "the label of the app removed", drift: [][]string{label("kapp.k14s.io/app", "other"), {"label", "configmap/web", "kapp.k14s.io/app-"}}, same: true},
		{name: "the label of another app", drift: [][]string{label("kapp.k14s.io/app", "other")}},
		{name: "what was applied is no object", drift: [][]string{{"annotate", "--overwrite", "deployment/web", "kapp.k14s.io/original={"}}, same: true},
		{name: "the sum removed", drift: [][]string{{"annotate", "deployment/web", "kapp.k14s.io/original-diff-md5-"}}},
		{name: "no identity", drift: [][]string{{"annotate", "configmap/web", "kapp.k14s.io/identity-"}}},
		{name: "an object with the label by another client", drift: [][]string{{"create", "configmap", "copy"}, {"label", "configmap/copy", "kapp.k14s.io/app=APP"}}},
		{name: "a key removed", drift: [][]string{{"patch", "configmap/web", "-p", `{"data":{"b":null}}`}}, same: true},
		{name: "kept", drift: [][]string{{"annotate", "service/web", "kapp.k14s.io/delete-strategy=orphan"}}, limit: preview.LimitKept},
	} {
		if !slowtest.Turn(t, i) {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			w := newKappWorld(t, fmt.Sprintf("kappdrift-%d", i))
			set := writtenSets(t, "drift")[0]
			if tt.same {
				set.v2 = set.v1
			}
			if tt.limit != "" {
				set.v2 = slices.DeleteFunc(set.v2, func(body map[string]any) bool { return body["kind"] == "Service" })
			}
			first, second := w.write(set.v1), w.write(set.v2)
			w.mustDeploy(first)
			app, err := w.try("get", "deployment/web", "-o", "jsonpath={.metadata.labels.kapp\\.k14s\\.io/app}")
			if err != nil {
				t.Fatal(app)
			}
			for _, args := range tt.drift {
				for at := range args {
					args[at] = strings.ReplaceAll(args[at], "APP", app)
				}
				w.kubectl(args...)
			}
			rolledOut(t, w.client, w.namespace)
			plan := w.preview(second, preview.ReadDryRun)
			w.sameByReads(plan, w.preview(second, preview.ReadGet))
			if limits := plan.AppliedBy.Limits; (len(limits) > 0) != (tt.limit != "") || tt.limit != "" && limits[0].What != tt.limit {
				t.Errorf("limits %+v", limits)
			}
			out, err := w.deploy(second)
			if predicted := fails(plan) || len(engine.Obstacles(plan)) > 0; predicted != (err != nil) {
				t.Errorf("predicted that it fails: %t; and it says %v %s; %+v", predicted, err, out, plan.Unknowns)
			}
			if err != nil { // it fails before it writes
				return
			}
			w.unsummed(plan)
			if tt.limit == "" { // else the label of the app is taken off
				w.compare(plan)
			}
			rolledOut(t, w.client, w.namespace)
			w.appliesNothing(w.preview(second, preview.ReadDryRun))
		})
	}
}

// kappApp is an App of kapp-controller that has the files of a set.
func (w kappWorld) app(bodies []map[string]any, deploy string) string {
	w.t.Helper()
	data, err := os.ReadFile(w.write(bodies))
	if err != nil {
		w.t.Fatal(err)
	}
	app := map[string]any{
		"apiVersion": "kappctrl.k14s.io/v1alpha1", "kind": "App", "metadata": map[string]any{"name": "web", "namespace": w.namespace},
		"spec": map[string]any{
			"fetch":    []any{map[string]any{"inline": map[string]any{"paths": map[string]any{"config/all.yml": string(data)}}}},
			"template": []any{map[string]any{"ytt": map[string]any{"paths": []any{"config"}}}},
			"deploy":   []any{map[string]any{"kapp": map[string]any{"rawOptions": []any{"--wait=false", deploy}}}},
		},
	}
	text, err := json.Marshal(app)
	if err != nil {
		w.t.Fatal(err)
	}
	return filepath.Join(files(w.t, map[string]string{"app.yaml": string(text)}), "app.yaml")
}

func (w kappWorld) previewApp(file string) *preview.Plan {
	w.t.Helper()
	p := ownerPlanner(w.t, w.box.Kubeconfig(), w.namespace, preview.ReadDryRun)
	request, err := p.ReadRequest(w.t.Context(), file, "")
	if err != nil {
		w.t.Fatal(err)
	}
	plan, err := p.Plan(w.t.Context(), request, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return plan
}

// An App is planned as kapp-controller runs kapp for it, whether or not it was deployed before.
func TestClusterAppsAreDeployedAsPreviewed(t *testing.T) {
	sandboxtest.Start(t)
	w := newKappWorld(t, "kapp-app")
	set := writtenSets(t, "drift")[0]
	for i, bodies := range [][]map[string]any{set.v1, set.v2} {
		plan := w.previewApp(w.app(bodies, "--diff-changes=true"))
		by := plan.AppliedBy
		if by == nil || by.Tool != preview.ApplierKapp || by.Controller != "kapp-controller" || by.Object != "kappctrl.k14s.io/App/kapp-app/web" {
			t.Fatalf("applied by %+v", by)
		}
		if len(by.Limits) != 1 || by.Limits[0].What != preview.LimitNoController {
			t.Errorf("limits %+v", by.Limits)
		}
		if installed := by.State == "succeeded"; installed != (i == 1) {
			t.Errorf("version %d: %+v", i+1, by)
		}
		out, err := exec.CommandContext(t.Context(), w.program, "deploy", "--app", "web.app", "-n", w.namespace, "--kubeconfig", w.box.Kubeconfig(),
			"-f", w.write(bodies), "--yes", "--wait=false").CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		w.unsummed(plan)
		if i == 1 { // what it creates has a label that kapp chooses
			w.compare(plan)
		}
		w.appliesNothing(w.previewApp(w.app(bodies, "--diff-changes=true")))
	}
	by := w.previewApp(w.app(set.v1, "--labels=a=b")).AppliedBy
	if len(by.Limits) != 2 || by.Limits[1] != (preview.ApplierLimit{What: preview.LimitOption, Detail: "--labels=a=b"}) {
		t.Errorf("limits %+v", by.Limits)
	}
}
