package planning_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

// helmDrift is a change by hand of what Helm installed.
type helmDrift struct {
	name  string
	drift [][]string        // commands of kubectl
	apply map[string]string // objects by the field manager that applies them by force
	edit  func(v1, v2 []map[string]any) (one, two []map[string]any)
	// fails are the versions of Helm that fail on it; with take, none does.
	fails []string
	take  bool
}

// patched returns the drift of a JSON patch.
func patched(object, patch string) [][]string {
	return [][]string{{"patch", object, "--type=json", "-p", patch}}
}

const (
	driftReplicas = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":%d}}`
	driftScaler   = `{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"name":"web"},` +
		`"spec":{"maxReplicas":9,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"}}}`
	driftSidecar = `[{"op":"add","path":"/spec/template/spec/containers/0","value":{"name":"side","image":"side:1"}}]`
	driftPorts   = `[{"op":"add","path":"/spec/ports/-","value":{"name":"b","port":81}},{"op":"add","path":"/spec/ports/0/name","value":"a"}]`
	driftMarked  = `{"apiVersion":"v1","kind":"ConfigMap","data":{"a":"2","b":"3"},"metadata":{"name":"more",` +
		`"labels":{"app.kubernetes.io/managed-by":"Helm"},` +
		`"annotations":{"meta.helm.sh/release-name":"%[1]s","meta.helm.sh/release-namespace":"%[1]s"}}}`
	driftApplied = preview.LastApplied + `={"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"web"},"data":{"mine":"x"}}`
)

// withoutReplicas leaves the number of replicas to an autoscaler.
func withoutReplicas(v1, v2 []map[string]any) (one, two []map[string]any) {
	delete(preview.Map(v1[0], "spec"), "replicas")
	delete(preview.Map(v2[0], "spec"), "replicas")
	return v1, v2
}

func namedMap(name string) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name}, "data": map[string]any{"a": "1"}}
}

// withKept has an object that the second version lacks.
func withKept(v1, v2 []map[string]any) (one, two []map[string]any) {
	return append(v1, namedMap("goes")), v2
}

// withMore has an object that the first version lacks.
func withMore(v1, v2 []map[string]any) (one, two []map[string]any) {
	return v1, append(v2, namedMap("more"))
}

// withUnserved has an object whose kind the cluster does not serve.
func withUnserved(v1, v2 []map[string]any) (one, two []map[string]any) {
	return v1, append(v2, map[string]any{
		"apiVersion": "monitoring.example.dev/v1", "kind": "ServiceMonitor", "metadata": map[string]any{"name": "web"},
	})
}

// helmDrifts are changes by hand of a release, with the versions of Helm that fail on them.
func helmDrifts(release string) []helmDrift {
	four, both := []string{"Helm 4"}, []string{"Helm 3", "Helm 4"}
	return []helmDrift{
		{name: "nothing"},
		{name: "scaled", drift: [][]string{{"scale", "deployment/web", "--replicas=5"}}, fails: four},
		{name: "scaled, and taken", drift: [][]string{{"scale", "deployment/web", "--replicas=5"}}, take: true},
		{name: "scaled to what the chart has",
			drift: [][]string{{"scale", "deployment/web", "--replicas=5"}, {"scale", "deployment/web", "--replicas=2"}}},
		{name: "an autoscaler owns the replicas", apply: map[string]string{"hand": driftScaler}, edit: withoutReplicas,
			drift: [][]string{{"scale", "deployment/web", "--replicas=5"}}},
		{name: "an autoscaler and the chart own the replicas", apply: map[string]string{"hand": driftScaler},
			drift: [][]string{{"scale", "deployment/web", "--replicas=5"}}, fails: four},
		{name: "another image", drift: [][]string{{"set", "image", "deployment/web", "web=other:9"}}, fails: four},
		{name: "another image, and taken", drift: [][]string{{"set", "image", "deployment/web", "web=other:9"}}, take: true},
		{name: "the image that the chart will have", drift: [][]string{{"set", "image", "deployment/web", "web=web:2"}}},
		{name: "a sidecar", drift: patched("deployment/web", driftSidecar)},
		{name: "an environment", drift: [][]string{{"set", "env", "deployment/web", "A=b"}}},
		{name: "other arguments", fails: four,
			drift: patched("deployment/web", `[{"op":"replace","path":"/spec/template/spec/containers/0/args","value":["z"]}]`)},
		{name: "deleted", drift: [][]string{{"delete", "configmap/web"}}},
		{name: "a deleted workload", drift: [][]string{{"delete", "deployment/web"}}},
		{name: "an extra label", drift: [][]string{{"label", "deployment/web", "extra=x"}, {"annotate", "configmap/web", "note=x"}}},
		{name: "a key removed", drift: patched("configmap/web", `[{"op":"remove","path":"/data/a"}]`)},
		{name: "a key that the chart drops", drift: patched("configmap/web", `[{"op":"replace","path":"/data/b","value":"mine"}]`)},
		{name: "a key more", drift: patched("configmap/web", `[{"op":"add","path":"/data/mine","value":"x"}]`)},
		{name: "another port", drift: patched("service/web", driftPorts)},
		{name: "another target of a port", drift: patched("service/web", `[{"op":"replace","path":"/spec/ports/0/targetPort","value":8080}]`)},
		{name: "another manager", apply: map[string]string{"other": fmt.Sprintf(driftReplicas, 7)}, fails: four},
		{name: "another manager with the same value", apply: map[string]string{"other": fmt.Sprintf(driftReplicas, 2)}},
		{name: "an earlier entry of the manager", drift: [][]string{{"scale", "deployment/web", "--replicas=5"},
			{"patch", "deployment/web", "--field-manager=helm", "--type=merge", "-p", `{"spec":{"replicas":2}}`}}},
		{name: "an earlier entry of the manager with another value", fails: four,
			drift: [][]string{{"patch", "deployment/web", "--field-manager=helm", "--type=merge", "-p", `{"spec":{"replicas":5}}`}}},
		{name: "fields that only last-applied knows", drift: [][]string{{"annotate", "configmap/web", driftApplied}}},
		{name: "the marks taken off", drift: [][]string{
			{"label", "configmap/web", "app.kubernetes.io/managed-by-"}, {"annotate", "configmap/web", "meta.helm.sh/release-name-"}}},
		{name: "the marks of another release", fails: four,
			drift: [][]string{{"annotate", "--overwrite", "configmap/web", "meta.helm.sh/release-name=other"}}},
		{name: "kept by hand", edit: withKept, drift: [][]string{{"annotate", "configmap/goes", "helm.sh/resource-policy=keep"}}},
		{name: "gone by hand", edit: withKept, drift: [][]string{{"delete", "configmap/goes"}}},
		{name: "a kind that is not served", edit: withUnserved, fails: both},
		{name: "what the chart adds is there", edit: withMore, fails: both,
			drift: [][]string{{"create", "configmap", "more", "--from-literal=a=2"}}},
		{name: "what the chart adds is there with its marks", edit: withMore, take: true,
			apply: map[string]string{"hand": fmt.Sprintf(driftMarked, release)}},
	}
}

// TestClusterHelmOnDriftedObjects holds what Helm does with changes by hand to what was
// predicted: it fails where that was said, and else leaves each field as it was said.
func TestClusterHelmOnDriftedObjects(t *testing.T) {
	sandboxtest.Start(t)
	for n, version := range []string{"Helm 3", "Helm 4"} {
		for i := range helmDrifts("") {
			if !slowtest.Turn(t, i+n) {
				continue
			}
			name := fmt.Sprintf("%s-drift%d", shortName(version), i)
			tt := helmDrifts(name)[i]
			t.Run(version+"/"+tt.name, func(t *testing.T) {
				h := ownerBy(t, version, name)
				set := writtenSets(t, name)[0]
				if tt.edit != nil {
					set.v1, set.v2 = tt.edit(set.v1, set.v2)
				}
				h.must(t, "install", name, setChart(t, "1.0.0", set.v1))
				h.drift(t, tt)
				h.meets(t, setChart(t, "1.1.0", set.v2), tt.take && version == "Helm 4", slices.Contains(tt.fails, version))
			})
		}
	}
}

// drift changes by hand what Helm installed.
func (h *helmOwner) drift(t *testing.T, tt helmDrift) {
	t.Helper()
	for _, args := range tt.drift {
		h.kubectl(t, "", append([]string{"-n", h.release.Namespace}, args...)...)
	}
	for manager, object := range tt.apply {
		h.kubectl(t, object, "-n", h.release.Namespace, "apply", "--server-side", "--force-conflicts", "--field-manager="+manager, "-f", "-")
	}
}

// meets previews a chart, lets Helm upgrade to it, and holds what Helm does to what was
// predicted, also where it fails.
func (h *helmOwner) meets(t *testing.T, chart string, take, fails bool) {
	t.Helper()
	conflicts := func(p *planning.Planner) {
		if take {
			p.Owners.Conflicts = preview.ConflictsTake
		}
	}
	rolledOut(t, h.client, h.release.Namespace)
	plan, err := h.preview(t, preview.ReadDryRun, chart, conflicts)
	if err != nil {
		t.Fatal(err)
	}
	read, err := h.preview(t, preview.ReadGet, chart, conflicts)
	if err != nil {
		t.Fatal(err)
	}
	(&appliedWorld{t: t}).sameByReads(plan, read)
	obstacles := engine.Obstacles(plan)
	if got := len(obstacles) > 0; got != fails {
		t.Errorf("predicted that it fails: %t, want %t: %+v", got, fails, obstacles)
	}
	args := []string{"upgrade", h.release.Name, chart}
	if take {
		args = append(args, "--force-conflicts")
	}
	out, err := h.try(t, args...)
	if (err != nil) != fails {
		t.Errorf("helm fails: %v %s", err, out)
	}
	predicted, actual := afterwards(plan), h.live(t, plan)
	if err == nil {
		sameAs(t, plan, predicted, actual)
		unchanged(t, h.mustPreview(t, preview.ReadDryRun, chart))
		return
	}
	// Before it creates or after it updated what it could, Helm stops.
	differ := func(a, b map[string]any) []string {
		return slices.DeleteFunc(differences("", a, b, new(int)), func(line string) bool {
			return strings.Contains(line, "deployment.kubernetes.io/revision") // of its controller
		})
	}
	for i := range plan.Objects {
		o := &plan.Objects[i]
		was, is := differ(comparedBody(o.LiveBody), actual[o.ID]), differ(predicted[o.ID], actual[o.ID])
		if len(was) > 0 && (len(is) > 0 || len(plan.Unsettled(o)) > 0) {
			t.Errorf("%s after a failure: not as before %v, and not as predicted %v", o.ID, was, is)
		}
	}
}
