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
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// world is one user on the shared control plane, and one release there.
type world struct {
	*k8s.Client
	schemas *k8s.Schemas
	sandbox *sandbox.Sandbox
	user    string
	release preview.Release
}

// newWorld connects as a cluster administrator of a name that no other test
// uses, so that the audit log tells their writes apart.
func newWorld(t testing.TB, name string) *world {
	t.Helper()
	return newWorldIn(t, sandboxtest.Start(t), name)
}

func newWorldIn(t testing.TB, sb *sandbox.Sandbox, name string) *world {
	t.Helper()
	w := &world{
		schemas: k8s.NewSchemas(), sandbox: sb, user: name + "-admin",
		release: preview.Release{Name: name, Namespace: name},
	}
	w.Client = connect(t, sandboxtest.User(t, sb, w.user, "system:masters"))
	return w
}

func connect(t testing.TB, kubeconfig string) *k8s.Client {
	t.Helper()
	client, err := k8s.Connect(t.Context(), k8s.Options{Kubeconfig: kubeconfig})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// content seals manifests as one package.
func (w *world) content(t testing.TB, version string, manifests ...string) planned.Content {
	t.Helper()
	return w.contentAsking(t, version, nil, manifests...)
}

// contentAsking is content whose templates were given answers of the cluster.
func (w *world) contentAsking(t testing.TB, version string, answers []preview.ClusterRead, manifests ...string) planned.Content {
	t.Helper()
	out := &format.Output{Resolved: preview.Parameters{ClusterReads: answers}}
	for i, text := range manifests {
		docs, err := preview.Decode([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		for j, doc := range docs {
			out.Objects = append(out.Objects, format.RenderedObject{
				Body: doc.(map[string]any), Origin: preview.Origin{File: fmt.Sprintf("%d.yaml", i), Document: j + 1},
			})
		}
	}
	content, err := planned.Prepare(w.release, planned.Material{
		Info:    format.Info{Format: "test", Package: w.release.Name, Version: version, Bundle: w.release.Name + ".v" + version},
		Output:  out,
		Sources: []preview.Source{{Kind: "directory", Digest: preview.HashBytes([]byte(version + strings.Join(manifests, "---")))}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// plan plans contents on top of what is installed; none plans the removal.
func (w *world) plan(t testing.TB, contents ...planned.Content) *preview.Plan {
	t.Helper()
	return w.planWith(t, func(o *engine.Options) {
		if len(contents) == 0 {
			o.Request.Action = preview.RequestUninstall
		}
	}, contents...)
}

// planOptions returns the options for a plan on top of the installed state.
func (w *world) planOptions(t testing.TB) engine.Options {
	t.Helper()
	opts := engine.Options{
		Release: w.release, Apply: preview.DefaultOptions(), Schemas: w.schemas,
		Request: preview.Request{Action: preview.RequestInstall},
	}
	record, err := record.Load(t.Context(), w, w.release)
	if err != nil {
		t.Fatal(err)
	}
	if record != nil {
		opts.Installed.Base = preview.Base{Revision: record.Revision, Digest: record.Digest}
		if len(record.Accepted) > 0 {
			opts.Installed.Base.Accepted = record.Accepted
		}
		for _, item := range record.Inventory {
			opts.Installed.Members = append(opts.Installed.Members, engine.InstalledObject{Ref: item.Ref(), Package: item.Package})
		}
	}
	return opts
}

// byDigest approves a plan by its digest, and the custom resources of the kinds that tests
// make up, which a digest does not stand for.
func byDigest(plan *preview.Plan) record.Approval {
	approval := record.Approval{Digest: plan.Digest, How: record.ApprovedByDigest, By: "test", Ruleset: preview.Ruleset}
	for _, f := range plan.Findings {
		if f.Rule == rules.UnknownKind.Name {
			approval.Accepted = append(approval.Accepted, record.Acceptance{ID: f.ID, Fingerprint: f.Fingerprint})
		}
	}
	return approval
}

func (w *world) options(t testing.TB) install.Options {
	return install.Options{
		Schemas: w.schemas, Holder: t.Name(), ToolVersion: "0.0.1", RolloutTimeout: time.Minute,
		Sink: func(e install.Event) {
			t.Logf("%s %s %s %s %s %s", e.Time.Format("05.000"), e.Type, e.Stage, e.Object, e.State, e.Message)
		},
	}
}

// apply applies a plan by its digest and expects success.
func (w *world) apply(t testing.TB, plan *preview.Plan) *record.Receipt {
	t.Helper()
	receipt, err := install.Apply(t.Context(), plan, byDigest(plan), w, w.options(t))
	if err != nil {
		t.Fatal(err)
	}
	return receipt
}

// read returns a live object, nil when it does not exist.
func (w *world) read(t testing.TB, apiVersion, kind, namespace, name string) map[string]any {
	t.Helper()
	body, err := w.Get(context.WithoutCancel(t.Context()), preview.Ref{APIVersion: apiVersion, Kind: kind, Namespace: namespace, Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// writes returns what this world's user persisted, verb and path.
func (w *world) writes(t testing.TB) []string {
	t.Helper()
	var out []string
	for _, e := range sandboxtest.Mutations(t, w.sandbox, w.user) {
		out = append(out, e.String())
	}
	return out
}

func configMap(name, value string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\ndata: {key: %q}\n", name, value)
}

const operatorV1 = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: operator}
---
apiVersion: v1
kind: Secret
metadata: {name: credentials}
stringData: {password: hunter2}
---
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
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: operator}
rules:
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: operator}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: operator}
subjects: [{kind: ServiceAccount, name: operator}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: operator}
spec:
  selector: {matchLabels: {app: operator}}
  template:
    metadata: {labels: {app: operator}}
    spec:
      serviceAccountName: operator
      containers:
      - name: operator
        image: registry.example.com/operator@sha256:0000000000000000000000000000000000000000000000000000000000000000
        env: [{name: EMPTY, value: ""}]
        resources: {limits: {cpu: 1000m, memory: 64Mi}}
`

func (w *world) operator(version string) string {
	return strings.ReplaceAll(operatorV1, "GROUP", w.release.Name+".example.com") + "---\n" + configMap("settings", version)
}

func TestClusterInstallUpgradeUninstall(t *testing.T) {
	w := newWorld(t, "lifecycle")
	first := w.plan(t, w.content(t, "1.0.0", w.operator("one"), configMap("old", "x")))
	receipt := w.apply(t, first)
	if receipt.Revision != 1 || receipt.State != string(record.Applied) {
		t.Fatalf("revision %d is %s, want 1 applied", receipt.Revision, receipt.State)
	}
	for _, o := range receipt.Objects {
		if o.State != record.StateReady || o.UID == "" {
			t.Errorf("%s is %s with uid %q, want ready: %s", o.ID, o.State, o.UID, o.Message)
		}
	}

	parent := w.read(t, "v1", "Secret", w.release.Namespace, "kubectl-operator.lifecycle")
	for key, want := range map[string]string{
		preview.AnnotationTool:  "kubectl-operator/v0.0.1",
		preview.AnnotationKinds: "ConfigMap,CustomResourceDefinition.apiextensions.k8s.io,Deployment.apps,Role.rbac.authorization.k8s.io,RoleBinding.rbac.authorization.k8s.io,Secret,ServiceAccount",
		preview.AnnotationExtra: "",
	} {
		if got := preview.String(parent, "metadata", "annotations", key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	if got := preview.String(parent, "metadata", "labels", preview.LabelSetID); got != preview.SetID(w.release) {
		t.Errorf("the ApplySet id is %q", got)
	}

	again := w.plan(t, w.content(t, "1.0.0", w.operator("one"), configMap("old", "x")))
	if n := again.Summary.Unchanged; n != len(again.Objects) {
		t.Errorf("a new preview says %+v, want all %d objects unchanged", again.Summary, len(again.Objects))
	}
	before := len(w.writes(t))
	w.apply(t, again)
	if after := w.writes(t); len(after) != before {
		t.Errorf("a plan with nothing to write wrote %v", after[before:])
	}

	second := w.plan(t, w.content(t, "1.1.0", w.operator("two")))
	if second.Summary.Update != 1 || second.Summary.Delete != 1 {
		t.Errorf("the upgrade is planned as %+v, want one update and one delete", second.Summary)
	}
	if receipt := w.apply(t, second); receipt.Revision != 2 {
		t.Errorf("the upgrade is revision %d, want 2", receipt.Revision)
	}
	if live := w.read(t, "v1", "ConfigMap", w.release.Namespace, "old"); live != nil {
		t.Error("the object that left the set is still there")
	}

	removal := w.plan(t)
	if receipt := w.apply(t, removal); receipt.State != string(record.Uninstalled) {
		t.Errorf("after the uninstall the record is %s", receipt.State)
	}
	if live := w.read(t, "apps/v1", "Deployment", w.release.Namespace, "operator"); live != nil {
		t.Error("the Deployment survived the uninstall")
	}
	if live := w.read(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "things.lifecycle.example.com"); live == nil {
		t.Error("the CRD did not survive the uninstall")
	}
	record, err := record.Load(t.Context(), w, w.release)
	if err != nil {
		t.Fatal(err)
	}
	if len(record.Inventory) != 1 {
		t.Errorf("the inventory after the uninstall is %v, want the kept CRD", record.Inventory)
	}
	if receipt := w.apply(t, w.plan(t, w.content(t, "1.1.0", w.operator("two")))); receipt.Revision != 4 {
		t.Errorf("a new install is revision %d, want 4", receipt.Revision)
	}
}
