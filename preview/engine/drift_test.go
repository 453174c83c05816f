package engine_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
)

const (
	driftNamespace = `{apiVersion: v1, kind: Namespace, metadata: {name: drifting}}
---
{apiVersion: v1, kind: Secret, metadata: {name: outside, namespace: drifting}, data: {k: dg==}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: drifting-held}, rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: drifting-held}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: drifting-held},
  subjects: [{kind: ServiceAccount, name: worker, namespace: drifting}]}
`
	driftContent = `{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {mode: %q}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: other}, data: {mode: quiet}}
---
{apiVersion: v1, kind: Secret, metadata: {name: login}, stringData: {user: admin}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: worker}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: worker}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}},
  spec: {serviceAccountName: worker, containers: [{name: main, image: example.com/worker, env: [{name: K, valueFrom: {secretKeyRef: {name: outside, key: k}}}]}]}}}}
`
)

// Each live object is compared by itself with what the plan was made on, and the answer
// is the same as from a new plan.
func TestClusterDriftOfSingleObjects(t *testing.T) {
	box := sandboxtest.Start(t)
	client, schemas := connected(t, box), k8s.NewSchemas()
	apply(t, box, driftNamespace)
	release := preview.Release{Name: "drifting", Namespace: "drifting"}
	build := func() *preview.Plan {
		t.Helper()
		content, err := planned.Prepare(release, material(t, fmt.Sprintf(driftContent, "loud")))
		if err != nil {
			t.Fatal(err)
		}
		p, err := engine.Build(t.Context(), []planned.Content{content}, client, engine.Options{
			Tool: "test", Release: release, Request: preview.Request{Action: preview.RequestInstall}, Apply: preview.DefaultOptions(), Schemas: schemas,
		})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	drifts := func(p *preview.Plan) map[string]string {
		t.Helper()
		d, out := engine.NewDrift(p, schemas), map[string]string{}
		for _, r := range client.Read(t.Context(), d.Refs()) {
			if r.Err != nil {
				t.Fatalf("%s: %v", r.Ref.ID(), r.Err)
			}
			if text := d.Describe(r.Ref, r.Body); text != "" {
				out[r.Ref.ID()] = text
			}
		}
		return out
	}
	const settingsID = "core/ConfigMap/drifting/settings"
	for _, tc := range []struct{ name, edit, id, want string }{
		{"nothing moved", "", "", ""},
		{"an object that is to be created exists", "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: drifting}, data: {mode: soft}}", settingsID, "exists now"},
		{"a field that the plan sets", "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: drifting}, data: {mode: louder}}", settingsID, "changed: .data.mode"},
		{"an annotation of what was only read", "{apiVersion: v1, kind: Namespace, metadata: {name: drifting, annotations: {a: b}}}", "", ""},
		{"a Secret that is to be created exists", "{apiVersion: v1, kind: Secret, metadata: {name: login, namespace: drifting}, data: {user: Ym9i}}", "core/Secret/drifting/login", "exists now"},
		{"a value of a Secret becomes what the plan sets", "{apiVersion: v1, kind: Secret, metadata: {name: login, namespace: drifting}, data: {user: YWRtaW4=}}", "core/Secret/drifting/login", "changed: .data.user"},
		{"a role that a read binding gives", "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: drifting-held}, rules: [{apiGroups: [\"\"], resources: [secrets], verbs: [get]}]}",
			"rbac.authorization.k8s.io/ClusterRole/-/drifting-held", "changed"},
		{"a label of the namespace", "{apiVersion: v1, kind: Namespace, metadata: {name: drifting, labels: {a: b}}}", "core/Namespace/-/drifting", "changed"},
	} {
		p := build()
		if tc.edit != "" {
			edit := exec.Command(sandboxtest.Kubectl(t), "--kubeconfig", box.Kubeconfig(), "apply", "--server-side", "--force-conflicts", "-f", "-")
			edit.Stdin = strings.NewReader(tc.edit)
			if out, err := edit.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v: %s", tc.name, err, out)
			}
		}
		got := drifts(p)
		if tc.want == "" && len(got) > 0 || tc.want != "" && (len(got) != 1 || got[tc.id] != tc.want) {
			t.Errorf("%s: got %v, want %s %s", tc.name, got, tc.id, tc.want)
		}
		again, err := engine.Recheck(t.Context(), p, client, schemas)
		if err != nil {
			t.Fatal(err)
		}
		if moved := again.Digest != p.Digest; moved != (tc.want != "") {
			t.Errorf("%s: a plan made again moved: %t: %v", tc.name, moved, engine.FactChanges(p, again, schemas))
		}
	}
	p := build()
	for _, ref := range []preview.Ref{
		{APIVersion: "v1", Kind: "ConfigMap", Namespace: "drifting", Name: "settings"},
		{APIVersion: "v1", Kind: "Secret", Namespace: "drifting", Name: "outside"},
	} {
		if got := engine.NewDrift(p, schemas).Describe(ref, nil); got != "is gone" {
			t.Errorf("%s: got %q, want it gone", ref.ID(), got)
		}
	}
}
