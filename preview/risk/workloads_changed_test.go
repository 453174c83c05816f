package risk

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// A package that leaves replicas to an autoscaler takes its own number off, and the pods
// stop until the autoscaler acts.
func TestReplicasThatLeaveThePackageAndFallAreFound(t *testing.T) {
	workload := func(kind string, replicas any) map[string]any {
		spec := map[string]any{"template": map[string]any{"spec": map[string]any{}}}
		if replicas != nil {
			spec["replicas"] = replicas
		}
		return map[string]any{"apiVersion": "apps/v1", "kind": kind, "metadata": map[string]any{"name": "op", "namespace": "app"}, "spec": spec}
	}
	for _, test := range []struct {
		name, kind           string
		live, planned, after any
		found                bool
	}{
		{"from five to one", "Deployment", int64(5), nil, int64(1), true},
		{"of a StatefulSet", "StatefulSet", int64(2), nil, int64(1), true},
		{"another manager keeps the number", "Deployment", int64(5), nil, int64(5), false},
		{"the package sets another number", "Deployment", int64(5), int64(1), int64(1), false},
		{"one stays one", "Deployment", int64(1), nil, int64(1), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := &preview.Plan{Objects: []preview.Object{{
				ID: "apps/" + test.kind + "/app/op", APIVersion: "apps/v1", Kind: test.kind, Namespace: "app", Name: "op", Action: preview.ActionUpdate,
				LiveBody: workload(test.kind, test.live), Planned: workload(test.kind, test.planned), ResultBody: workload(test.kind, test.after),
			}}}
			if f := find(evaluate(t, Input{Plan: p}), "replicas-reset"); (f != nil) != test.found {
				t.Errorf("%+v", f)
			}
		})
	}
}

// New templates of claims hold for new pods; claims that exist are not resized.
func TestAReplacedStatefulSetSaysThatItsClaimsStay(t *testing.T) {
	set := func(size, image string) map[string]any {
		return map[string]any{
			"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": map[string]any{"name": "db", "namespace": "app"},
			"spec": map[string]any{
				"template":             map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "c", "image": image}}}},
				"volumeClaimTemplates": []any{map[string]any{"metadata": map[string]any{"name": "data"}, "spec": map[string]any{"resources": map[string]any{"requests": map[string]any{"storage": size}}}}},
			},
		}
	}
	for after, want := range map[string]bool{"2Gi": true, "1Gi": false} {
		p := &preview.Plan{Objects: []preview.Object{{
			ID: "apps/StatefulSet/app/db", APIVersion: "apps/v1", Kind: "StatefulSet", Namespace: "app", Name: "db", Action: preview.ActionReplace,
			LiveBody: set("1Gi", "a"), Planned: set(after, "b"),
		}}}
		f := find(evaluate(t, Input{Plan: p}), "object-replaced")
		if f == nil || strings.Contains(f.Evidence, "PersistentVolumeClaims that exist keep their size") != want {
			t.Errorf("%s: %+v", after, f)
		}
	}
}
