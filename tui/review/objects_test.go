package review

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

// bigPlan creates n ConfigMaps in one stage and a few other objects.
func bigPlan(t *testing.T, n int) *preview.Plan {
	b := tuitest.NewPlan(t, preview.RequestInstall)
	b.Object(preview.ActionCreate, tuitest.Manifest("v1", "ServiceAccount", "mongodb", "operator", nil), nil, nil)
	b.Object(preview.ActionCreate, tuitest.ClusterRole("mongodb-operator", "secrets"), nil, nil)
	for i := range n {
		b.Object(preview.ActionCreate, tuitest.Manifest("v1", "ConfigMap", "mongodb", fmt.Sprintf("settings-%05d", i), nil), nil, nil)
	}
	b.Finding(preview.Critical, "rbac-secrets-read", "RBAC-10", tuitest.RoleObject, "reads every Secret", "why", "secrets")
	return b.Seal()
}

func TestBranchesOpenAndClose(t *testing.T) {
	m, c := reviewOf(t, tuitest.FreshPlan(t), 120, 36)
	tuitest.Drive(m, c, "4")
	rows := func() int { return len(m.activeTab().rows) }
	whole, first := rows(), m.activeTab().selected().ID
	if !strings.HasPrefix(first, tabs.BranchPrefix) {
		t.Fatalf("the tree begins with %q, want a branch", first)
	}
	for _, keys := range [][2]string{{"enter", "enter"}, {"left", "right"}, {"h", "l"}} {
		tuitest.Drive(m, c, keys[0])
		if rows() >= whole {
			t.Errorf("%s closed nothing", keys[0])
		}
		tuitest.Drive(m, c, keys[1])
		if rows() != whole {
			t.Errorf("%s opened %d rows, want %d", keys[1], rows(), whole)
		}
	}
	tuitest.Drive(m, c, "down", "left")
	if got := m.activeTab().selected().ID; got != first {
		t.Errorf("left on an object leads to %q, want its branch", got)
	}
	tuitest.Drive(m, c, "down", "right")
	if m.activeTab().pane != frame.PaneDetail {
		t.Error("right on an object does not lead to its detail")
	}
}

func TestALargePlanBeginsWithLongBranchesClosed(t *testing.T) {
	m, c := reviewOf(t, bigPlan(t, 500), 120, 36)
	tuitest.Drive(m, c, "4")
	if n := len(m.activeTab().rows); n > 20 {
		t.Errorf("%d rows, want the 500 alike ones closed", n)
	}
	if !tuitest.Shows(m, "+ 500") {
		t.Error("the closed branch does not say how many it holds")
	}
	if !tuitest.Shows(m, "!! mongodb-operator") {
		t.Errorf("an object with a finding is hidden:\n%s", strings.Join(tuitest.ScreenOf(m), "\n"))
	}
	tuitest.Drive(m, c, append(append([]any{"/"}, tuitest.Typed("settings-00321")...), "enter")...)
	if got := m.activeTab().selected().Object; got != "core/ConfigMap/mongodb/settings-00321" {
		t.Errorf("a search leads to %q, not into the closed branch", got)
	}
}

// Every kind and every object is in the tree, whatever a plan is like.
func TestTheTreeHoldsEveryObjectOnce(t *testing.T) {
	for name, p := range map[string]*preview.Plan{"fresh": tuitest.FreshPlan(t), "upgrade": tuitest.UpgradePlan(t), "clean": tuitest.CleanPlan(t), "big": bigPlan(t, 100)} {
		m, c := reviewOf(t, p, 120, 36)
		tuitest.Drive(m, c, "4", "/", "esc")
		seen := map[string]int{}
		for _, r := range m.activeTab().rows {
			if r.Object != "" {
				seen[r.Object]++
			}
		}
		for i := range p.Objects {
			if seen[p.Objects[i].ID] != 1 {
				t.Errorf("%s: %s is in the tree %d times", name, p.Objects[i].ID, seen[p.Objects[i].ID])
			}
		}
	}
}
