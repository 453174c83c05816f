package review

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

// Each critical finding is looked at once, and the name of the release is typed: that is
// all that approving takes.
func TestApprovingTakesFewKeys(t *testing.T) {
	mongodb := corpusPlan(t, filepath.Join(corpustest.Dir(t, "bundles"), "mongodb-kubernetes", "1.10.0"))
	mongodb.Release.Name = "mongodb"
	for _, tc := range []struct {
		name   string
		plan   *preview.Plan
		answer []any
		most   int
	}{
		{"a plan without critical findings", tuitest.CleanPlan(t), []any{"y"}, 3},
		{"mongodb", mongodb, tuitest.Typed("mongodb"), 20},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, c := reviewOf(t, tc.plan, 120, 36)
			keys := append([]any{"a"}, append(tc.answer, "enter")...)
			for m.Checklist.Remaining() > 0 {
				tuitest.Drive(m, c, "n")
				keys = append([]any{"n"}, keys...)
			}
			m, c = reviewOf(t, tc.plan, 120, 36)
			tuitest.Drive(m, c, keys...)
			if m.outcome.Kind != Approved {
				t.Fatalf("%v do not approve it", keys)
			}
			if len(keys) > tc.most {
				t.Errorf("approving takes the %d keys %v, want at most %d", len(keys), keys, tc.most)
			}
		})
	}
}

// What an upgrade changes stands first, however little it is.
func TestAnUpgradeOfOneFieldShowsItFirst(t *testing.T) {
	dir := filepath.Join(corpustest.Dir(t, "bundles"), "mongodb-kubernetes", "1.10.0")
	older := corpusPlan(t, dir)
	for i := range older.Objects {
		if o := &older.Objects[i]; o.Kind == "Deployment" {
			o.Planned["spec"].(map[string]any)["replicas"] = int64(2)
		}
	}
	p := upgradeOf(older, corpusPlan(t, dir))
	p.Verdict = verdict.Of(p, nil)
	m, _ := reviewOf(t, p, 80, 24)
	const header = 3 // the name, the tabs and a line
	if first := tuitest.ScreenOf(m)[header]; !strings.Contains(first, "Deployment mongodb-kubernetes-operator: .spec.replicas 2 -> 1") {
		t.Errorf("the first line of the summary is %q", first)
	}
	if tuitest.Shows(m, "other field") {
		t.Error("the screen counts other fields, and no other changes")
	}
	m, c := reviewOf(t, p, 80, 24)
	for m.Checklist.Remaining() > 0 {
		tuitest.Drive(m, c, "n")
	}
	tuitest.Drive(m, c, "a")
	if m.screen != screenConfirm || !tuitest.Shows(m, "changes   field Deployment mongodb-kubernetes-operator: .spec.replicas 2 -> 1") {
		t.Errorf("the question does not say it:\n%s", strings.Join(tuitest.ScreenOf(m), "\n"))
	}
}
