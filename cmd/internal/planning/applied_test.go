package planning_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

// appliedSet is a set of manifests in two versions; before is applied first, and no part of
// the set.
type appliedSet struct {
	name           string
	before, v1, v2 []map[string]any
}

func bodiesOf(t *testing.T, text string) []map[string]any {
	t.Helper()
	values, err := preview.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var out []map[string]any
	for _, value := range values {
		// Completed Jobs may be deleted by their controller at any time.
		if body, ok := value.(map[string]any); ok && body["kind"] != "Namespace" && body["kind"] != "Job" {
			out = append(out, body)
		}
	}
	return out
}

// writtenSets are the sets of the test data. SUFFIX in their names becomes suffix.
func writtenSets(t *testing.T, suffix string) []appliedSet {
	t.Helper()
	return setsOf(t, "sets.txtar", "SUFFIX", suffix)
}

// setsOf are the sets of a file, with a text of it replaced.
func setsOf(t *testing.T, file, from, to string) []appliedSet {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", "applied", file))
	if err != nil {
		t.Fatal(err)
	}
	var out []appliedSet
	for _, file := range archive.Files {
		name, version, _ := strings.Cut(file.Name, "/")
		if len(out) == 0 || out[len(out)-1].name != name {
			out = append(out, appliedSet{name: name})
		}
		bodies := bodiesOf(t, strings.ReplaceAll(string(file.Data), from, to))
		switch set := &out[len(out)-1]; version {
		case "before.yaml":
			set.before = bodies
		case "v1.yaml":
			set.v1 = bodies
		default:
			set.v2 = bodies
		}
	}
	return out
}

// corpusSets are manifests of projects; the second of a pair is applied over the first.
func corpusSets(t *testing.T) []appliedSet {
	t.Helper()
	var out []appliedSet
	for _, pair := range [][2]string{
		{"kustomize/ingress-nginx-static/aws/deploy.yaml", "kustomize/ingress-nginx-static/baremetal/deploy.yaml"},
		{"kustomize/ingress-nginx-static/cloud/deploy.yaml", "kustomize/ingress-nginx-static/do/deploy.yaml"},
		{"kustomize/ingress-nginx-static/exoscale/deploy.yaml", "kustomize/ingress-nginx-static/kind/deploy.yaml"},
		{"kustomize/ingress-nginx-static/oracle/deploy.yaml", "kustomize/ingress-nginx-static/scw/deploy.yaml"},
		{"plain/mongodb-kubernetes/mongodb-kubernetes.yaml", "plain/mongodb-kubernetes/mongodb-kubernetes-multi-cluster.yaml"},
		{"plain/percona-server-mongodb-operator/operator.yaml", "plain/percona-server-mongodb-operator/cw-operator.yaml"},
	} {
		set := appliedSet{name: strings.TrimSuffix(pair[0], ".yaml")}
		for i, to := range []*[]map[string]any{&set.v1, &set.v2} {
			data, err := os.ReadFile(filepath.Join(corpustest.Dir(t), filepath.FromSlash(pair[i])))
			if err != nil {
				t.Fatal(err)
			}
			*to = bodiesOf(t, string(data))
		}
		out = append(out, set)
	}
	return out
}

// appliedWorld is a namespace of a cluster in which a tool applies sets.
type appliedWorld struct {
	t         *testing.T
	box       *sandbox.Sandbox
	namespace string
	client    *k8s.Client
}

func newAppliedWorld(t *testing.T, namespace string) *appliedWorld {
	t.Helper()
	w := &appliedWorld{t: t, box: sandboxtest.Start(t), namespace: namespace}
	var err error
	if w.client, err = k8s.Connect(t.Context(), k8s.Options{Kubeconfig: w.box.Kubeconfig(), ReadOnly: preview.ReadDryRun}); err != nil {
		t.Fatal(err)
	}
	w.kubectl("create", "namespace", namespace)
	return w
}

// try runs kubectl in the namespace.
func (w *appliedWorld) try(args ...string) (string, error) {
	w.t.Helper()
	args = append([]string{"--kubeconfig", w.box.Kubeconfig(), "-n", w.namespace}, args...)
	cmd := exec.CommandContext(w.t.Context(), sandboxtest.Kubectl(w.t), args...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (w *appliedWorld) kubectl(args ...string) {
	w.t.Helper()
	if out, err := w.try(args...); err != nil {
		w.t.Fatalf("kubectl %s: %v: %.2000s", strings.Join(args, " "), err, out)
	}
}

// define creates a CRD, and waits until its schema is published.
func (w *appliedWorld) define(bodies []map[string]any) {
	w.t.Helper()
	if bodies == nil {
		return
	}
	before, spec := w.write(bodies), preview.Map(bodies[0], "spec")
	w.kubectl("create", "-f", before)
	w.kubectl("wait", "--for=condition=Established", "-f", before)
	for w.t.Context().Err() == nil {
		schema, err := w.try("get", "--raw", "/openapi/v3/apis/"+preview.String(spec, "group")+"/v1")
		if err == nil && strings.Contains(schema, preview.String(spec, "names", "kind")) {
			return
		}
	}
}

// write writes a version of a set as one file, and returns the file.
func (w *appliedWorld) write(bodies []map[string]any) string {
	w.t.Helper()
	var text bytes.Buffer
	scopes := preview.NewScopes(bodies)
	for _, body := range bodies {
		ref := preview.RefOf(body)
		if scopes.Namespaced(ref.Group(), ref.Kind) && ref.Namespace != "" {
			preview.Map(body, "metadata")["namespace"] = w.namespace
		}
		data, err := json.Marshal(body)
		if err != nil {
			w.t.Fatal(err)
		}
		text.Write(append(data, "\n---\n"...))
	}
	return filepath.Join(files(w.t, map[string]string{"all.yaml": text.String()}), "all.yaml")
}

// preview plans a file as the owner of what it names.
func (w *appliedWorld) preview(file string, mode preview.ReadMode) *preview.Plan {
	w.t.Helper()
	return w.previewBy(w.box.Kubeconfig(), file, mode)
}

// previewBy plans as the user of a kubeconfig.
func (w *appliedWorld) previewBy(kubeconfig, file string, mode preview.ReadMode) *preview.Plan {
	w.t.Helper()
	p := ownerPlanner(w.t, kubeconfig, w.namespace, mode)
	plan, err := onlyReads(w.t, w.box, func() (*preview.Plan, error) { return planOf(w.t, p, filepath.Dir(file), "app") })
	if err != nil {
		w.t.Fatal(err)
	}
	return plan
}

// live reads objects as they are now, by id.
func (w *appliedWorld) live(plan *preview.Plan) map[string]map[string]any {
	w.t.Helper()
	var refs []preview.Ref
	for i := range plan.Objects {
		refs = append(refs, plan.Objects[i].Ref())
	}
	out := map[string]map[string]any{}
	for _, r := range w.client.Read(w.t.Context(), refs) {
		if r.Err != nil && preview.ReasonOf(r.Err) != preview.ReasonNotServed {
			w.t.Fatal(r.Err)
		}
		out[r.Ref.ID()] = r.Body
	}
	return out
}

// stored returns an object without what each write of the API server sets, and, of one that
// is created, without what it allocates.
func stored(body map[string]any, created bool) map[string]any {
	if body == nil {
		return nil
	}
	out := preview.CloneBody(body)
	delete(out, "status")
	delete(preview.Map(out, "metadata"), "finalizers") // of claims: their controller writes them
	annotations := preview.Map(out, "metadata", "annotations")
	if delete(annotations, "deployment.kubernetes.io/revision"); len(annotations) == 0 { // of its controller
		delete(preview.Map(out, "metadata"), "annotations")
	}
	for _, key := range []string{"managedFields", "generation", "resourceVersion", "uid", "creationTimestamp"} {
		delete(preview.Map(out, "metadata"), key)
	}
	if spec := preview.Map(out, "spec"); created && out["kind"] == "Service" {
		for _, key := range []string{"clusterIP", "clusterIPs", "healthCheckNodePort"} {
			delete(spec, key)
		}
		for _, port := range preview.Maps(spec, "ports") {
			delete(port, "nodePort")
		}
	}
	return out
}

// differences lists the paths at which two values differ, and counts the leaves.
func differences(path string, a, b any, leaves *int) []string {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			var out []string
			keys := slices.Concat(slices.Collect(maps.Keys(x)), slices.Collect(maps.Keys(y)))
			slices.Sort(keys)
			for _, key := range slices.Compact(keys) {
				out = append(out, differences(path+"."+key, x[key], y[key], leaves)...)
			}
			return out
		}
	case []any:
		if y, ok := b.([]any); ok && len(x) == len(y) {
			var out []string
			for i := range x {
				out = append(out, differences(fmt.Sprintf("%s[%d]", path, i), x[i], y[i], leaves)...)
			}
			return out
		}
	}
	*leaves++
	one, _ := json.Marshal(a)
	two, _ := json.Marshal(b)
	if bytes.Equal(one, two) {
		return nil
	}
	return []string{fmt.Sprintf("%s: predicted %.1200s, is %.1200s", path, one, two)}
}

// compare compares what a plan predicts with what is there after the tool applied, and
// returns how many fields it compared.
func (w *appliedWorld) compare(plan *preview.Plan) (fields int) {
	w.t.Helper()
	live := w.live(plan)
	for i := range plan.Objects {
		o := &plan.Objects[i]
		predicted := o.ResultBody
		if predicted == nil && o.LiveBody == nil { // a binding to a role that is created with it
			predicted = o.Planned
		}
		switch o.Action {
		case preview.ActionDelete:
			if is := live[o.ID]; is != nil && preview.String(is, "metadata", "deletionTimestamp") == "" {
				w.t.Errorf("%s is there, and was to be deleted", o.ID)
			}
			continue
		case preview.ActionUnknown:
			if o.LiveBody == nil { // whether it is there after the failure is not known
				continue
			}
			predicted = o.LiveBody
		case preview.ActionKeep, preview.ActionSkip:
			predicted = o.LiveBody
		}
		if len(plan.Unsettled(o)) > 0 { // on which the tool fails
			predicted = o.LiveBody
		}
		created := o.LiveBody == nil
		for _, d := range differences("", stored(predicted, created), stored(live[o.ID], created), &fields) {
			w.t.Errorf("%s (%s) %s", o.ID, o.Action, d)
		}
	}
	return fields
}

// sameByReads fails the test where a plan by reads alone has other changes.
func (w *appliedWorld) sameByReads(plan, read *preview.Plan) {
	w.t.Helper()
	objects := read.ObjectsByID()
	for i := range plan.Objects {
		o := &plan.Objects[i]
		if o.Action != preview.ActionUpdate && o.Action != preview.ActionUnchanged {
			continue
		}
		by := objects[o.ID]
		if by.Action != o.Action {
			w.t.Errorf("%s by reads alone: %s, and by dry runs %s: %+v", o.ID, by.Action, o.Action, read.Unknowns)
		}
		if d := cmp.Diff(o.Changes, by.Changes); d != "" {
			w.t.Errorf("%s by reads alone (-by dry runs):\n%s", o.ID, d)
		}
	}
}

// appliesNothing fails the test if a plan writes an object.
func (w *appliedWorld) appliesNothing(plan *preview.Plan) {
	w.t.Helper()
	for i := range plan.Objects {
		if o := &plan.Objects[i]; o.Action.Writes() {
			w.t.Errorf("after it was applied, the preview has %s %s: %+v", o.Action, o.ID, o.Changes)
		}
	}
}

// kubectlWays are the two ways in which kubectl applies.
var kubectlWays = []struct {
	name   string
	args   []string
	method preview.WriteMethod
}{
	{"client", []string{"apply", "--validate=strict"}, preview.MethodThreeWay},
	{"server", []string{"apply", "--server-side"}, preview.MethodApply},
}

func TestClusterKubectlAppliesWhatWasPreviewed(t *testing.T) {
	sandboxtest.Start(t)
	objects, fields, sets := 0, 0, 0
	for n, way := range kubectlWays {
		suffix := fmt.Sprintf("kubectl%d", n)
		for i, set := range append(writtenSets(t, suffix), corpusSets(t)...) {
			if !slowtest.Turn(t, i+n) {
				continue
			}
			t.Run(way.name+"/"+set.name, func(t *testing.T) {
				w := newAppliedWorld(t, fmt.Sprintf("%s-%d", suffix, i))
				w.define(set.before)
				first, second := w.write(set.v1), w.write(set.v2)
				defer func() { _, _ = w.try("delete", "--wait=false", "--ignore-not-found", "-f", first, "-f", second) }()
				w.kubectl(append(way.args, "-f", first)...)
				plan, read := w.preview(second, preview.ReadDryRun), w.preview(second, preview.ReadGet)
				if by := plan.AppliedBy; by == nil || by.Tool != preview.ApplierKubectl || by.Method != way.method {
					t.Fatalf("applied by %+v", by)
				}
				if found := engine.Obstacles(plan); len(found) > 0 {
					t.Errorf("obstacles %+v", found)
				}
				w.sameByReads(plan, read)
				w.kubectl(append(way.args, "-f", second)...)
				fields += w.compare(plan)
				objects, sets = objects+len(plan.Objects), sets+1
				again := w.preview(second, preview.ReadDryRun)
				if set.name == "lists by name and port" && way.method == preview.MethodThreeWay {
					// Its patches merge ports by their number alone, so that it writes again.
					w.kubectl(append(way.args, "-f", second)...)
					w.compare(again)
					return
				}
				w.appliesNothing(again)
			})
		}
	}
	t.Logf("%d sets, %d objects, %d fields", sets, objects, fields)
}

// fails reports whether a plan says that the tool fails on an object.
func fails(plan *preview.Plan) bool {
	return slices.ContainsFunc(plan.Objects, func(o preview.Object) bool {
		return len(plan.Unsettled(&o)) > 0 || o.Action == preview.ActionUnknown
	})
}

// kubectlDrift is a change by hand of what kubectl applied.
type kubectlDrift struct {
	name  string
	drift [][]string
	other string // applied by another field manager
	big   bool   // the new version has more than an annotation may
	edit  func(v1, v2 []map[string]any) (one, two []map[string]any)
}

// kubectlDrifts are the changes that are made of what kubectl applied in way n.
func kubectlDrifts(n int) []kubectlDrift {
	const replicas = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":%d}}`
	corrupt := preview.LastApplied + "={"
	return []kubectlDrift{
		{name: "nothing"},
		{name: "scaled", drift: [][]string{{"scale", "deployment/web", "--replicas=5"}}},
		{name: "another image", drift: [][]string{{"set", "image", "deployment/web", "web=other:9"}}},
		{name: "a sidecar", drift: [][]string{{"patch", "deployment/web", "--type=json", "-p", `[{"op":"add","path":"/spec/template/spec/containers/0","value":{"name":"side","image":"side:1"}}]`}}},
		{name: "deleted", drift: [][]string{{"delete", "configmap/web"}}},
		{name: "an extra label", drift: [][]string{{"label", "deployment/web", "extra=x"}, {"annotate", "configmap/web", "note=x"}}},
		{name: "a key removed", drift: [][]string{{"patch", "configmap/web", "--type=json", "-p", `[{"op":"remove","path":"/data/a"}]`}}},
		{name: "an environment", drift: [][]string{{"set", "env", "deployment/web", "A=b"}}},
		{name: "another port", drift: [][]string{{"patch", "service/web", "--type=json", "-p", `[{"op":"add","path":"/spec/ports/-","value":{"name":"b","port":81}},{"op":"add","path":"/spec/ports/0/name","value":"a"}]`}}},
		{name: "another manager", other: fmt.Sprintf(replicas, 7)},
		{name: "another manager with the same value", other: fmt.Sprintf(replicas, 2)},
		{name: "a corrupt annotation", drift: [][]string{{"annotate", "--overwrite", "configmap/web", corrupt}}},
		{name: "no annotation", drift: [][]string{{"annotate", "configmap/web", preview.LastApplied + "-"}}},
		{name: "the other way", drift: [][]string{append(slices.Clone(kubectlWays[1-n].args), "-f", "V1")}},
		{name: "a large object", big: true},
		{name: "a kind that is not served", edit: withUnserved},
		{name: "a Helm release owns one too", drift: [][]string{{"annotate", "configmap/web", "meta.helm.sh/release-name=shop"}}},
	}
}

func TestClusterKubectlOnDriftedObjects(t *testing.T) {
	sandboxtest.Start(t)
	for n, way := range kubectlWays {
		for i, tt := range kubectlDrifts(n) {
			if !slowtest.Turn(t, i+n) {
				continue
			}
			t.Run(way.name+"/"+tt.name, func(t *testing.T) {
				w := newAppliedWorld(t, fmt.Sprintf("drift%d-%d", n, i))
				set := writtenSets(t, "drift")[0]
				if tt.edit != nil {
					set.v1, set.v2 = tt.edit(set.v1, set.v2)
				}
				if tt.big {
					preview.Map(set.v2[2], "data")["a"] = strings.Repeat("x", 262144)
				}
				first, second := w.write(set.v1), w.write(set.v2)
				w.kubectl(append(way.args, "-f", first)...)
				for _, args := range tt.drift {
					for at := range args {
						if args[at] == "V1" {
							args[at] = first
						}
					}
					w.kubectl(args...)
				}
				args := way.args
				if tt.name == "the other way" { // which is the newest mark then
					args = kubectlWays[1-n].args
				}
				if tt.other != "" {
					w.kubectl("apply", "--server-side", "--field-manager=other", "--force-conflicts", "-f", w.write(bodiesOf(t, tt.other)))
				}
				rolledOut(t, w.client, w.namespace)
				plan, read := w.preview(second, preview.ReadDryRun), w.preview(second, preview.ReadGet)
				w.sameByReads(plan, read)
				out, err := w.try(append(args, "-f", second)...)
				if predicted := fails(plan); predicted != (err != nil) {
					t.Errorf("predicted that it fails: %t; and it says %v %s; %+v", predicted, err, out, plan.Unknowns)
				}
				w.compare(plan)
				other := slices.ContainsFunc(plan.AppliedBy.Limits, func(l preview.ApplierLimit) bool {
					return l.What == preview.LimitOtherOwner && l.Detail == "Helm release shop"
				})
				if want := tt.name == "a Helm release owns one too"; other != want {
					t.Errorf("limits %+v", plan.AppliedBy.Limits)
				}
				if err == nil {
					rolledOut(t, w.client, w.namespace)
					w.appliesNothing(w.preview(second, preview.ReadDryRun))
				}
			})
		}
	}
}

// The objects of a set are read once, whoever applies it.
func TestClusterFindingKubectlTakesNoMoreRequests(t *testing.T) {
	w := newAppliedWorld(t, "many")
	const many = 2000
	var bodies []map[string]any
	for i := range many {
		bodies = append(bodies, map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": fmt.Sprintf("c%d", i)}, "data": map[string]any{"a": "1"},
		})
	}
	file := w.write(bodies)
	w.kubectl("apply", "--server-side", "-f", file)
	reads := func(by string) int {
		t.Helper()
		if err := w.box.Forget(); err != nil {
			t.Fatal(err)
		}
		p := ownerPlanner(t, w.box.Kubeconfig(), w.namespace, preview.ReadDryRun)
		p.Owners.AppliedBy = by
		plan := must(t, p, filepath.Dir(file), "app")
		if (plan.AppliedBy != nil) != (by == planning.AppliedByOwner) {
			t.Errorf("--applied-by %s: %+v", by, plan.AppliedBy)
		}
		sent, err := w.box.Requests()
		if err != nil {
			t.Fatal(err)
		}
		reads := 0
		for _, event := range sent {
			if event.ObjectRef.Resource == "configmaps" && event.ObjectRef.Namespace == "many" && (event.Verb == "get" || event.Verb == "list") {
				reads++
			}
			if event.User.Username == sandboxtest.Admin && event.Persisted() {
				t.Errorf("--applied-by %s sends %s %s", by, event.Verb, event.RequestURI)
			}
		}
		return reads
	}
	if self, owner := reads(preview.ApplierSelf), reads(planning.AppliedByOwner); owner != self {
		t.Errorf("as kubectl, %d reads of objects; by itself, %d", owner, self)
	}
}

// argoWays are the ways in which Argo CD applies, by the options of an Application.
var argoWays = []struct {
	name    string
	options []any
	method  preview.WriteMethod
	engine  map[string]any // options of the engine
}{
	{"client", []any{"Validate=true"}, preview.MethodThreeWay, nil},
	{"server", []any{"ServerSideApply=true"}, preview.MethodApply, map[string]any{"ServerSide": true}},
	{"replace", []any{"Replace=true"}, preview.MethodUpdate, map[string]any{"Replace": true}},
}

// argoDefinition defines Applications as far as these tests need them.
const argoDefinition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"applications.argoproj.io"},
"spec":{"group":"argoproj.io","scope":"Namespaced","names":{"kind":"Application","plural":"applications","singular":"application","listKind":"ApplicationList"},
"versions":[{"name":"v1alpha1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`

// argoWorld is a world in which Argo CD applies: its engine, for an Application.
type argoWorld struct {
	*appliedWorld
	program string
	engine  map[string]any
}

func newArgoWorld(t *testing.T, namespace string, options []any, engine map[string]any) argoWorld {
	t.Helper()
	program := filepath.Join(filepath.Dir(sandboxtest.Kubectl(t)), "kubectl-operator-argocd")
	if _, err := os.Stat(program); err != nil {
		t.Skip(`skipped: the engine of Argo CD is not built; run "make argocd"`)
	}
	w := argoWorld{newAppliedWorld(t, namespace), program, engine}
	w.application(options, nil)
	return w
}

// application writes the Application of the world, with what it has in the cluster.
func (w argoWorld) application(options []any, resources []any) {
	w.t.Helper()
	if _, err := w.try("get", "crd", "applications.argoproj.io"); err != nil {
		definition := filepath.Join(files(w.t, map[string]string{"crd.json": argoDefinition}), "crd.json")
		if out, err := w.try("create", "-f", definition); err != nil && !strings.Contains(out, "AlreadyExists") {
			w.t.Fatal(out)
		}
		w.kubectl("wait", "--for=condition=Established", "crd/applications.argoproj.io")
	}
	app := map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": map[string]any{"name": "of-" + w.namespace, "namespace": "argocd"},
		"spec": map[string]any{
			"project": "default", "destination": map[string]any{"namespace": w.namespace, "server": "https://kubernetes.default.svc"},
			"syncPolicy": map[string]any{"automated": map[string]any{"prune": true}, "syncOptions": options},
		},
		"status": map[string]any{"sync": map[string]any{"status": "Synced"}, "resources": resources, "history": []any{map[string]any{"id": 6}}},
	}
	data, err := json.Marshal(app)
	if err != nil {
		w.t.Fatal(err)
	}
	_, _ = w.try("create", "namespace", "argocd") // by the first
	w.kubectl("apply", "-n", "argocd", "--server-side", "--field-manager=argo", "-f", filepath.Join(files(w.t, map[string]string{"app.json": string(data)}), "app.json"))
}

// sync lets the engine of Argo CD apply a version of a set, after the version was, and
// returns what it says.
func (w argoWorld) sync(was, bodies []map[string]any) (string, error) {
	w.t.Helper()
	scopes := preview.NewScopes(slices.Concat(was, bodies))
	ref := func(body map[string]any) preview.Ref {
		ref := preview.RefOf(body)
		if ref.Namespace = ""; scopes.Namespaced(ref.Group(), ref.Kind) {
			ref.Namespace = w.namespace
		}
		return ref
	}
	var refs []preview.Ref
	var targets []map[string]any
	for _, body := range bodies {
		body = preview.CloneBody(body)
		meta, ref := preview.Map(body, "metadata"), ref(body)
		if ref.Namespace != "" {
			meta["namespace"] = ref.Namespace
		}
		if ref.Kind != "CustomResourceDefinition" {
			marks, _ := meta["annotations"].(map[string]any)
			if marks == nil {
				marks = map[string]any{}
				meta["annotations"] = marks
			}
			marks["argocd.argoproj.io/tracking-id"] = "of-" + w.namespace + ":" + ref.Group() + "/" + ref.Kind + ":" + w.namespace + "/" + ref.Name
		}
		refs, targets = append(refs, ref), append(targets, body)
	}
	for _, body := range was {
		if ref := ref(body); !slices.ContainsFunc(refs, func(other preview.Ref) bool { return other.ID() == ref.ID() }) {
			refs, targets = append(refs, ref), append(targets, nil)
		}
	}
	var live []map[string]any
	for _, r := range w.client.Read(w.t.Context(), refs) {
		live = append(live, r.Body)
	}
	request := map[string]any{"Kubeconfig": w.box.Kubeconfig(), "Namespace": w.namespace, "Target": targets, "Live": live, "Prune": true}
	maps.Copy(request, w.engine)
	data, err := json.Marshal(request)
	if err != nil {
		w.t.Fatal(err)
	}
	cmd := exec.CommandContext(w.t.Context(), w.program)
	cmd.Stdin = bytes.NewReader(data)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// resources are the objects of a set as the status of an Application has them.
func (w argoWorld) resources(bodies []map[string]any) (out []any) {
	scopes := preview.NewScopes(bodies)
	for _, body := range bodies {
		ref := preview.RefOf(body)
		item := map[string]any{"group": ref.Group(), "version": ref.APIVersion[strings.LastIndex(ref.APIVersion, "/")+1:], "kind": ref.Kind, "name": ref.Name}
		if scopes.Namespaced(ref.Group(), ref.Kind) {
			item["namespace"] = w.namespace
		}
		out = append(out, item)
	}
	return out
}

func TestClusterArgoCDAppliesWhatWasPreviewed(t *testing.T) {
	sandboxtest.Start(t)
	objects, fields, sets := 0, 0, 0
	for n, way := range argoWays {
		suffix := fmt.Sprintf("argo%d", n)
		for i, set := range append(writtenSets(t, suffix), corpusSets(t)...) {
			if !slowtest.Turn(t, i+n) || set.name == "custom resources" { // CRDs are not tracked
				continue
			}
			t.Run(way.name+"/"+set.name, func(t *testing.T) {
				w := newArgoWorld(t, fmt.Sprintf("%s-%d", suffix, i), way.options, way.engine)
				w.define(set.before)
				first, second := w.write(set.v1), w.write(set.v2)
				defer func() { _, _ = w.try("delete", "--wait=false", "--ignore-not-found", "-f", first, "-f", second) }()
				w.engine = nil // with Replace=true, Argo CD fails to create a Role
				if way.method == preview.MethodApply {
					w.engine = way.engine
				}
				if out, err := w.sync(nil, set.v1); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				w.engine = way.engine
				w.application(way.options, w.resources(set.v1))
				plan := w.preview(second, preview.ReadDryRun)
				if by := plan.AppliedBy; by == nil || by.Tool != preview.ApplierArgoCD || by.Method != way.method || by.Revision != 7 {
					t.Fatalf("applied by %+v", by)
				}
				if found := engine.Obstacles(plan); len(found) > 0 && !fails(plan) {
					t.Errorf("obstacles %+v", found)
				}
				out, err := w.sync(set.v1, set.v2)
				if fails(plan) != (err != nil) {
					t.Errorf("predicted that it fails: %t; and it says %v %s; %+v", fails(plan), err, out, plan.Unknowns)
				}
				fields += w.compare(plan)
				objects, sets = objects+len(plan.Objects), sets+1
				w.application(way.options, w.resources(set.v2))
				// What a replacement drops and controllers write again, it drops again.
				if err == nil && set.name != "lists by name and port" && way.method != preview.MethodUpdate {
					w.appliesNothing(w.preview(second, preview.ReadDryRun))
				}
			})
		}
	}
	t.Logf("%d sets, %d objects, %d fields", sets, objects, fields)
}

func TestClusterArgoCDOnDriftedObjects(t *testing.T) {
	sandboxtest.Start(t)
	for n, way := range argoWays[:2] {
		for i, tt := range []struct {
			name  string
			drift [][]string
			extra []any
		}{
			{"scaled", [][]string{{"scale", "deployment/web", "--replicas=5"}}, nil},
			{"a sidecar", [][]string{{"patch", "deployment/web", "--type=json", "-p", `[{"op":"add","path":"/spec/template/spec/containers/0","value":{"name":"side","image":"side:1"}}]`}}, nil},
			{"deleted", [][]string{{"delete", "configmap/web"}}, nil},
			{"an extra label", [][]string{{"label", "deployment/web", "extra=x"}}, nil},
			{"the mark removed", [][]string{{"annotate", "configmap/web", "argocd.argoproj.io/tracking-id-"}}, nil},
			{"applied by kubectl too", [][]string{{"apply", "-f", "V1"}}, nil},
			{"no migration", [][]string{{"apply", "-f", "V1"}}, []any{"ClientSideApplyMigration=false"}},
		} {
			if !slowtest.Turn(t, i+n) {
				continue
			}
			t.Run(way.name+"/"+tt.name, func(t *testing.T) {
				options := slices.Concat(way.options, tt.extra)
				engine := maps.Clone(way.engine)
				if len(tt.extra) > 0 && engine != nil {
					engine["NoMigration"] = true
				}
				w := newArgoWorld(t, fmt.Sprintf("argodrift%d-%d", n, i), options, engine)
				set := writtenSets(t, "argodrift")[0]
				first, second := w.write(set.v1), w.write(set.v2)
				if out, err := w.sync(nil, set.v1); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				w.application(options, w.resources(set.v1))
				for _, args := range tt.drift {
					for at := range args {
						if args[at] == "V1" {
							args[at] = first
						}
					}
					w.kubectl(args...)
				}
				rolledOut(t, w.client, w.namespace)
				plan := w.preview(second, preview.ReadDryRun)
				if by := plan.AppliedBy; by == nil || by.Tool != preview.ApplierArgoCD {
					t.Fatalf("applied by %+v", by)
				}
				w.sameByReads(plan, w.preview(second, preview.ReadGet))
				if out, err := w.sync(set.v1, set.v2); fails(plan) != (err != nil) {
					t.Errorf("predicted that it fails: %t; and it says %v %s", fails(plan), err, out)
				}
				w.compare(plan)
				rolledOut(t, w.client, w.namespace)
				w.appliesNothing(w.preview(second, preview.ReadDryRun))
			})
		}
	}
}

// An Application that is asked for by a file is planned as Argo CD syncs it, although it is
// not there yet: with its namespace, and with a hook that has no name.
func TestClusterApplicationOfAFileIsPlannedAsArgoCDSyncsIt(t *testing.T) {
	w := newAppliedWorld(t, "argofile")
	registry := sourcetest.Plain(t)
	push(t, registry, "app:v1", tree("all.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {a: '1'}\n---\n"+
		"apiVersion: v1\nkind: Pod\nmetadata: {generateName: migrate-, annotations: {argocd.argoproj.io/hook: PreSync}}\nspec: {containers: [{name: c, image: 'c:1'}]}\n"))
	file := filepath.Join(files(t, map[string]string{"app.yaml": "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: web, namespace: argocd}\n" +
		"spec: {project: default, source: {repoURL: 'oci://" + registry.Host + "/app', targetRevision: v1, path: '.'}, destination: {namespace: argofile-new, server: 'https://kubernetes.default.svc'}," +
		" syncPolicy: {syncOptions: [CreateNamespace=true, ServerSideApply=true]}}\n"}), "app.yaml")
	p := ownerPlanner(t, w.box.Kubeconfig(), w.namespace, preview.ReadDryRun)
	p.Source.PlainHTTP = true
	plan := planFile(t, p, file)
	if by := plan.AppliedBy; by == nil || by.Tool != preview.ApplierArgoCD || by.Object != "argoproj.io/Application/argocd/web" || by.Method != preview.MethodApply || !by.Overwrites {
		t.Fatalf("applied by %+v", by)
	}
	for _, limit := range []preview.Limit{preview.LimitManual, preview.LimitHookRuns} {
		if !slices.ContainsFunc(plan.AppliedBy.Limits, func(l preview.ApplierLimit) bool { return l.What == limit }) {
			t.Errorf("no limit %s in %+v", limit, plan.AppliedBy.Limits)
		}
	}
	var made []string
	for i := range plan.Objects {
		o := &plan.Objects[i]
		made = append(made, string(o.Action)+" "+o.Kind)
		if mark := preview.String(o.Planned, "metadata", "annotations", "argocd.argoproj.io/tracking-id"); (mark == "") != (o.Kind == "Namespace") {
			t.Errorf("%s is tracked by %q", o.ID, mark)
		}
	}
	slices.Sort(made)
	if !slices.Equal(made, []string{"create ConfigMap", "create Namespace", "create Pod"}) {
		t.Errorf("it makes %q", made)
	}
}

// Of an Application with several sources of content Argo CD applies the objects of all, and of an
// object that two have, the last.
func TestClusterApplicationWithSeveralSourcesIsOnePlan(t *testing.T) {
	w := newAppliedWorld(t, "argoseveral")
	registry := sourcetest.Plain(t)
	configMap := func(name, value string) string {
		return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\ndata: {a: '" + value + "'}\n---\n"
	}
	push(t, registry, "one:v1", tree("all.yaml", configMap("first", "1")+configMap("shared", "1")))
	push(t, registry, "two:v1", tree("all.yaml", configMap("shared", "2")+configMap("second", "2")))
	source := func(name string) string {
		return "{repoURL: 'oci://" + registry.Host + "/" + name + "', targetRevision: v1, path: '.'}"
	}
	file := filepath.Join(files(t, map[string]string{"app.yaml": "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: web, namespace: argocd}\n" +
		"spec: {project: default, sources: [" + source("one") + ", " + source("two") + "], destination: {namespace: argoseveral, server: 'https://kubernetes.default.svc'}," +
		" syncPolicy: {syncOptions: [ServerSideApply=true]}}\n"}), "app.yaml")
	p := ownerPlanner(t, w.box.Kubeconfig(), w.namespace, preview.ReadDryRun)
	p.Source.PlainHTTP = true
	plan := planFile(t, p, file)
	if by := plan.AppliedBy; by == nil || by.Tool != preview.ApplierArgoCD || by.Object != "argoproj.io/Application/argocd/web" {
		t.Fatalf("applied by %+v", by)
	}
	var made []string
	for i := range plan.Objects {
		o := &plan.Objects[i]
		mark := preview.String(o.Planned, "metadata", "annotations", "argocd.argoproj.io/tracking-id")
		made = append(made, fmt.Sprintf("%s %s %s %s", o.Action, o.Name, preview.String(o.ResultBody, "data", "a"), mark))
	}
	slices.Sort(made)
	want := []string{"create first 1 web:/ConfigMap:argoseveral/first", "create second 2 web:/ConfigMap:argoseveral/second", "create shared 2 web:/ConfigMap:argoseveral/shared"}
	if !slices.Equal(made, want) {
		t.Errorf("the plan makes %q, want %q", made, want)
	}
}
