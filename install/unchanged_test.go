package install_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// afterWrite is a cluster in which somebody does something right after the
// ConfigMap named changed is written: after the second whole check, that is.
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

// TestAnEditOfWhatStaysUnchangedIsNoticed: nothing is sent for an unchanged
// object, so only a look at the end tells that it is not as reviewed any more.
func TestAnEditOfWhatStaysUnchangedIsNoticed(t *testing.T) {
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
			name: "somebody edits data", edit: patch("configmap", `{"data":{"key":"theirs"}}`),
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
				if told := o.State == install.StateDiverged; told != (o.ID == want) {
					t.Errorf("%s is %s: %s", o.ID, o.State, o.Message)
				} else if told && !strings.HasPrefix(o.Message, tt.message) {
					t.Errorf("%s: %q, want %q", o.ID, o.Message, tt.message)
				}
			}
		})
	}
}
