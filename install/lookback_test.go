package install_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// afterWrite is a cluster where another user does something right after the ConfigMap
// named changed is written: after the second whole check, that is.
type afterWrite struct {
	install.Cluster
	do   func()
	once sync.Once
}

func (m *afterWrite) Apply(ctx context.Context, item preview.DryRun) (map[string]any, error) {
	live, err := m.Cluster.Apply(ctx, item)
	if ref := preview.RefOf(item.Body); ref.Kind == "ConfigMap" && ref.Name == "changed" {
		m.once.Do(m.do)
	}
	return live, err
}

// TestClusterEditOfWhatStaysUnchangedIsNoticed: nothing is sent for an unchanged
// object, so only a look at the end tells that it is not as reviewed any more.
func TestClusterEditOfWhatStaysUnchangedIsNoticed(t *testing.T) {
	const role = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: same}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]
`
	kept := []string{role, configMap("same", "1")}
	patch := func(kind, body string) []string { return []string{"patch", kind, "same", "--type=merge", "-p=" + body} }
	for _, tt := range []struct {
		name    string
		edit    []string
		kind    install.Kind
		object  string
		message string
	}{
		{name: "nobody touches it"},
		{name: "somebody edits a field that is not ours", edit: []string{"annotate", "configmap", "same", "hello=world"}},
		{
			name: "somebody edits data", edit: patch("configmap", `{"data":{"key":"theirs"}}`), kind: install.Failed,
			object: "core/ConfigMap/NS/same", message: "changed meanwhile: .data.key differs from the review",
		},
		{
			name: "somebody deletes it", edit: []string{"delete", "configmap", "same"}, kind: install.Failed,
			object: "core/ConfigMap/NS/same", message: "was deleted meanwhile",
		},
		{
			name: "somebody widens a role", edit: patch("role", `{"rules":[{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}]}`), kind: install.Failed,
			object: "rbac.authorization.k8s.io/Role/NS/same", message: "changed meanwhile: .rules",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "same-"+strings.ReplaceAll(tt.name, " ", "-"))
			w.apply(t, w.plan(t, w.content(t, "1.0.0", append(kept, configMap("changed", "1"))...)))
			plan := w.plan(t, w.content(t, "2.0.0", append(kept, configMap("changed", "2"))...))
			cluster := &afterWrite{Cluster: w.Client, do: func() {
				if tt.edit != nil {
					w.edit(t, append(tt.edit, "-n", w.release.Namespace)...)
				}
			}}
			opts := w.options(t)
			opts.NoWait = true // a rollout sees some of it by itself
			receipt, err := install.Apply(t.Context(), plan, byDigest(plan), cluster, opts)
			if kind := install.KindOf(err); (err != nil) != (tt.kind != 0) || err != nil && kind != tt.kind {
				t.Fatalf("kind %d: %v, want %d", kind, err, tt.kind)
			}
			for _, o := range receipt.Objects {
				want := strings.ReplaceAll(tt.object, "NS", w.release.Namespace)
				if diverged := o.State == record.StateDiverged; diverged != (o.ID == want) {
					t.Errorf("%s is %s: %s", o.ID, o.State, o.Message)
				} else if diverged && !strings.HasPrefix(o.Message, tt.message) {
					t.Errorf("%s: %q, want %q", o.ID, o.Message, tt.message)
				}
			}
		})
	}
}

const writtenObjects = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: written}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: written}
spec: {minAvailable: 1, selector: {matchLabels: {app: a}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: written}
data: {key: one}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: written}
spec:
  replicas: 1
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec: {containers: [{name: a, image: registry.example.com/a}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: written}
spec: {ttlSecondsAfterFinished: 5, template: {spec: {restartPolicy: Never, containers: [{name: a, image: registry.example.com/a}]}}}
`

// TestClusterEditAfterItsWriteIsNoticed changes an object after its own write and
// before the end of the run: success says that every object is as reviewed.
func TestClusterEditAfterItsWriteIsNoticed(t *testing.T) {
	patch := func(kind, body string) []string {
		return []string{"patch", kind, "written", "--type=merge", "-p=" + body}
	}
	for i, test := range []struct {
		kind string
		edit []string
		says string // empty where the run succeeds
	}{
		{"ConfigMap", patch("configmap", `{"data":{"key":"theirs"}}`), "core/ConfigMap/NS/written: changed meanwhile: .data.key"},
		{"ConfigMap", []string{"delete", "configmap", "written"}, "core/ConfigMap/NS/written: was deleted meanwhile"},
		{"Role", patch("role", `{"rules":[]}`), "rbac.authorization.k8s.io/Role/NS/written: changed meanwhile: .rules"},
		{"PodDisruptionBudget", patch("pdb", `{"spec":{"minAvailable":0}}`), "policy/PodDisruptionBudget/NS/written: changed meanwhile: .spec.minAvailable"},
		{"Deployment", []string{"set", "image", "deployment/written", "a=registry.example.com/b"}, "apps/Deployment/NS/written: changed meanwhile: "},
		{"ConfigMap", []string{"annotate", "configmap", "written", "hello=world"}, ""},
		{"Deployment", []string{"scale", "deployment", "written", "--replicas=3"}, ""},
		{"Job", []string{"delete", "job", "written"}, ""},
	} {
		t.Run(strings.Join(test.edit[:2], " ")+" "+test.kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, fmt.Sprint("written-", i))
			plan := w.plan(t, w.content(t, "1.0.0", writtenObjects))
			cluster := &aroundWrite{Cluster: w.Client, kind: test.kind, name: "written", after: func() {
				w.edit(t, append(test.edit, "-n", w.release.Namespace)...)
			}}
			opts := w.options(t)
			opts.NoWait = true
			_, err := install.Apply(t.Context(), plan, byDigest(plan), cluster, opts)
			switch says := strings.ReplaceAll(test.says, "NS", w.release.Namespace); {
			case says == "" && err != nil:
				t.Errorf("it ended with %v", err)
			case says != "" && (err == nil || install.KindOf(err) != install.Failed || !strings.Contains(err.Error(), says)):
				t.Errorf("it ended with %v, want 3 and %q", err, says)
			}
		})
	}
}
