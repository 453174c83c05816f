package risk

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// A rollback names each field that it takes back with what is lost; values of
// names that sound secret are masked, and a field that the revision had left to
// its manager stays a conflict.
func TestARollbackShowsTheHotFixesItOverwrites(t *testing.T) {
	const image, password = `.spec.template.spec.containers[name="c"].image`, `.spec.template.spec.containers[name="c"].env[name="DB_PASSWORD"].value`
	deployment := func(image, password string) map[string]any {
		return map[string]any{
			"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "op", "namespace": "app"},
			"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{
				"name": "c", "image": image, "env": []any{map[string]any{"name": "DB_PASSWORD", "value": password}},
			}}}}},
		}
	}
	p := &preview.Plan{
		Options: preview.Options{Conflicts: preview.ConflictsOwn},
		Objects: []preview.Object{{
			ID: "apps/Deployment/app/op", APIVersion: "apps/v1", Kind: "Deployment", Namespace: "app", Name: "op", Action: preview.ActionUpdate,
			Conflicts: []preview.Conflict{{Manager: "kubectl-edit", Path: password}, {Manager: "kubectl-set", Path: image}},
			LiveBody:  deployment("op:hotfix", "hunter2"), Planned: deployment("op:1", "hunter1"),
		}},
	}
	f := find(evaluate(t, Input{Plan: p}), "hot-fix-overwritten")
	if f.Severity != preview.Warning || !strings.Contains(f.Evidence, image+` is taken back from kubectl-set: now "op:hotfix", after "op:1"`) ||
		!strings.Contains(f.Evidence, password+` is taken back from kubectl-edit: now and after "(secret)"`) || strings.Contains(f.Evidence, "hunter") {
		t.Errorf("%s: %s", f.Severity, f.Evidence)
	}
	for left, want := range map[string]bool{image: true, ".spec.template": true, preview.WholeObject: true, ".spec.template.spec.containersX": false} {
		p.Objects[0].Left = []string{left}
		got := ids(evaluate(t, Input{Plan: p}))
		if slices.Contains(got, "critical field-conflict/apps/Deployment/app/op") != want || slices.Contains(got, "warning hot-fix-overwritten/apps/Deployment/app/op") == want {
			t.Errorf("left %s: %v", left, got)
		}
	}
}
