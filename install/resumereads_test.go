package install_test

import (
	"context"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// TestClusterResumeReadsAgainWhatThePlanRestsOn interrupts a plan, moves something it
// only read, and goes on: that is refused until it is as it was. Changes by the plan's
// own writes do not count.
func TestClusterResumeReadsAgainWhatThePlanRestsOn(t *testing.T) {
	const pod = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      volumes: [{name: v, secret: {secretName: outside}}]
      containers: [{name: web, image: registry.example.com/web:1}]
`
	patch := func(kind, name, body string) []string {
		return []string{"patch", kind, name, "--type=merge", "-p=" + body}
	}
	for _, tt := range []struct {
		name       string
		move, back []string
		want       string // in the refusal; nothing is refused when empty
	}{
		{
			name: "a quota is tightened", want: "core/ResourceQuota/NS/q is not what it was",
			move: patch("quota", "q", `{"spec":{"hard":{"pods":"1"}}}`), back: patch("quota", "q", `{"spec":{"hard":{"pods":"10"}}}`),
		},
		{
			name: "a quota is made", want: "core/ResourceQuota/NS/other is new",
			move: []string{"create", "quota", "other", "--hard=pods=0"}, back: []string{"delete", "quota", "other"},
		},
		{name: "a quota goes", want: "core/ResourceQuota/NS/q is gone", move: []string{"delete", "quota", "q"}},
		{
			name: "a lookup finds another value", want: "lookup/v1/ConfigMap/NS/answer is not what it was",
			move: patch("configmap", "answer", `{"data":{"key":"2"}}`), back: patch("configmap", "answer", `{"data":{"key":"1"}}`),
		},
		{name: "a secret that pods use goes", want: "core/Secret/NS/outside is gone", move: []string{"delete", "secret", "outside"}},
		{name: "what a quota counts moves", move: []string{"create", "configmap", "counted"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "rests-"+strings.ReplaceAll(tt.name, " ", "-"))
			ns := w.release.Namespace
			edit := func(args []string) { w.edit(t, append(args, "-n", ns)...) }
			w.edit(t, "create", "namespace", ns)
			edit([]string{"create", "quota", "q", "--hard=pods=10,configmaps=20"})
			edit([]string{"create", "secret", "generic", "outside"})
			edit([]string{"create", "configmap", "answer", "--from-literal=key=1"})
			asked := preview.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: ns, Name: "answer"}
			own := preview.Ref{APIVersion: "v1", Kind: "ConfigMap", Namespace: ns, Name: "a"}
			value, err := preview.LookupValue(asked, []map[string]any{w.read(t, "v1", "ConfigMap", ns, "answer")})
			if err != nil {
				t.Fatal(err)
			}
			plan := w.plan(t, w.contentAsking(t, "1.0.0", []preview.ClusterRead{
				{Kind: preview.ReadLookup, Name: preview.LookupName(asked), Value: value},
				{Kind: preview.ReadLookup, Name: preview.LookupName(own), Value: preview.LookupAbsent},
			}, configMap("a", "1"), configMap("b", "1"), pod))
			ctx, stop := context.WithCancel(t.Context())
			if _, err := install.Apply(ctx, plan, byDigest(plan), &cancelling{Cluster: w.Client, stop: stop, at: 1}, w.options(t)); install.KindOf(err) != install.Interrupted {
				t.Fatalf("the run was not interrupted: %v", err)
			}
			edit(tt.move)
			if tt.want != "" {
				before := len(w.writes(t))
				_, err := install.Apply(t.Context(), plan, byDigest(plan), w, w.options(t))
				want := strings.ReplaceAll(tt.want, "NS", ns)
				if install.KindOf(err) != install.Refused || err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("kind %d: %v, want a refusal that says %q", install.KindOf(err), err, want)
				}
				if after := w.writes(t); len(after) != before {
					t.Errorf("it wrote %v", after[before:])
				}
				if tt.back == nil {
					return
				}
				edit(tt.back)
			}
			w.apply(t, plan)
		})
	}
}
