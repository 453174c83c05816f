package review

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/risk"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

// floodedPlan brings 1,500 objects with a warning each, one with a critical finding whose
// name comes last, and a binding to a role of sixty accounts and a person.
func floodedPlan(t *testing.T, role string) *preview.Plan {
	t.Helper()
	b := tuitest.NewPlan(t, preview.RequestInstall)
	var bodies []map[string]any
	add := func(body map[string]any) {
		b.Object(preview.ActionCreate, body, nil, nil)
		bodies = append(bodies, body)
	}
	workload := func(name string, pod map[string]any) map[string]any {
		return tuitest.Manifest("apps/v1", "Deployment", "mongodb", name, map[string]any{"spec": map[string]any{"template": map[string]any{"spec": pod}}})
	}
	for i := range 400 {
		add(workload(fmt.Sprintf("aaa-%04d", i), map[string]any{"hostNetwork": true, "containers": []any{map[string]any{"name": "c", "image": "a:v1"}}}))
	}
	add(workload("zzz", map[string]any{"containers": []any{map[string]any{"name": "c", "image": "a:v1", "securityContext": map[string]any{"privileged": true}}}}))
	var subjects []any
	for i := range 60 {
		add(tuitest.Manifest("v1", "ServiceAccount", "mongodb", fmt.Sprintf("a-decoy-%02d", i), nil))
		subjects = append(subjects, map[string]any{"kind": "ServiceAccount", "namespace": "mongodb", "name": fmt.Sprintf("a-decoy-%02d", i)})
	}
	subjects = append(subjects, map[string]any{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "mallory@example.com"})
	add(tuitest.Manifest("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "", "b", map[string]any{
		"roleRef": map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}, "subjects": subjects,
	}))
	b.Plan.Access.Grants = access.Delta(nil, access.Compute(access.Input{Objects: bodies}))
	var err error
	if b.Plan.Findings, err = risk.Evaluate(risk.Input{Plan: b.Plan}); err != nil {
		t.Fatal(err)
	}
	return b.Seal()
}

// However many warnings and accounts a package brings, the first screen has what is
// critical with its object before every warning, and a row that opens on the person.
func TestNoFloodHidesTheWorstOrAPersonOnTheScreen(t *testing.T) {
	for _, test := range []struct {
		role string
		down int // rows from the first to that of the binding
	}{{"cluster-admin", 0}, {"view", 1}} {
		p := floodedPlan(t, test.role)
		for _, size := range [][2]int{{80, 24}, {120, 40}, {60, 16}} {
			t.Run(test.role+" "+tuitest.SizeName(size), func(t *testing.T) {
				for tab, says := range map[string]string{"1": "Deployment zzz", "2": "runs a privileged container"} {
					m, c := reviewOf(t, p, size[0], size[1])
					tuitest.Drive(m, c, tab)
					screen := strings.Join(tuitest.ScreenOf(m), "\n")
					worst, warnings := strings.Index(screen, says), strings.Index(screen, "WARNINGS")
					if worst < 0 || warnings >= 0 && warnings < worst {
						t.Errorf("in tab %s, the worst is at %d, the warnings at %d:\n%s", tab, worst, warnings, screen)
					}
				}
				m, c := reviewOf(t, p, size[0], size[1])
				for range test.down {
					tuitest.Drive(m, c, "down")
				}
				tuitest.OnSelectedRow(t, "the row of the binding", m)
				tuitest.Drive(m, c, "enter")
				if !tuitest.Shows(m, "mallory@example.com") {
					t.Errorf("the person is not on the screen that opens:\n%s", strings.Join(tuitest.ScreenOf(m), "\n"))
				}
			})
		}
	}
}

// A search from the first screen finds the person as well.
func TestASearchFindsThePersonInAFlood(t *testing.T) {
	m, c := reviewOf(t, floodedPlan(t, "view"), 80, 24)
	tuitest.Drive(m, c, append(append([]any{"/"}, tuitest.Typed("mallory")...), "enter", "enter")...)
	if !tuitest.Shows(m, "mallory") || !tuitest.Shows(m, "grants permissions to users") {
		t.Errorf("no hit:\n%s", strings.Join(tuitest.ScreenOf(m), "\n"))
	}
}
