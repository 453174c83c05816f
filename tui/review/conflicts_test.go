package review

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

// contestedPlan upgrades a Deployment whose replicas kubectl scale has set, with
// decisions about that.
func contestedPlan(t *testing.T, conflictsOf map[string]string) *preview.Plan {
	t.Helper()
	b := tuitest.NewPlan(t, preview.RequestUpgrade)
	b.Plan.Base = preview.Base{Revision: 3, Digest: tuitest.DigestOf("base")}
	b.Plan.Options.ConflictsOf = conflictsOf
	live, result := tuitest.Deployment("quay.io/mongodb/mongodb-kubernetes:1.8.1", 3), tuitest.Deployment("quay.io/mongodb/mongodb-kubernetes:1.10.0", 1)
	preview.Map(live, "metadata")["managedFields"] = []any{map[string]any{
		"manager": "kubectl", "operation": "Update", "subresource": "scale", "time": "2026-11-02T08:04:05Z",
		"fieldsType": "FieldsV1", "fieldsV1": map[string]any{"f:spec": map[string]any{"f:replicas": map[string]any{}}},
	}}
	if conflictsOf[tuitest.DeployObject] == preview.ConflictsLeave {
		preview.Map(result, "spec")["replicas"] = int64(3)
	}
	o := b.Object(preview.ActionUpdate, tuitest.Deployment("quay.io/mongodb/mongodb-kubernetes:1.10.0", 1), live, result)
	o.Conflicts = []preview.Conflict{{Manager: "kubectl", Path: ".spec.replicas"}}
	o.Result = tuitest.DigestOf("result")
	b.Plan.SetContested()
	severity := preview.Critical
	if conflictsOf[tuitest.DeployObject] == preview.ConflictsLeave {
		severity = preview.Warning
	}
	b.Finding(severity, rules.FieldConflict.Name, "", tuitest.DeployObject, "Deployment operator: "+rules.FieldConflict.Title, rules.FieldConflict.Why,
		strings.Join(b.Plan.ContestedEvidence(o), "\n"))
	p := b.Seal()
	var obstacles []preview.Obstacle
	for _, c := range p.Unsettled(&p.Objects[0]) {
		obstacles = append(obstacles, preview.Obstacle{Object: tuitest.DeployObject, Cause: "has a contested field: field manager \"" + c.Manager + "\" owns " + c.Path})
	}
	p.Verdict = verdict.Of(p, obstacles)
	p.Digest = tuitest.DigestOf("plan that decides " + conflictsOf[tuitest.DeployObject])
	return p
}

// contestedReview is the review of such a plan, which is planned again as decided.
func contestedReview(t *testing.T, size [2]int) (*review, *tuitest.Clock) {
	t.Helper()
	m, c := reviewOf(t, contestedPlan(t, nil), size[0], size[1])
	var settled map[string]string
	m.opts.Settle = func(of map[string]string) { settled = maps.Clone(of) }
	m.opts.Resolve = func(context.Context, func(string)) (*preview.Plan, error) { return contestedPlan(t, settled), nil }
	m.Settles, m.Replans = true, true
	return m, c
}

// What nothing decides is shown as it would be if the fields were taken, with both
// values, who set the live one and when. t and l plan again, and come back to the
// finding.
func TestContestedFieldsAreTakenOrLeftByAKey(t *testing.T) {
	for _, size := range tuitest.Sizes {
		m, c := contestedReview(t, size)
		tuitest.Drive(m, c, "n")
		golden(t, "contested/"+tuitest.SizeName(size)+"/open", m, size[0], size[1])
		tuitest.Drive(m, c, "t")
		golden(t, "contested/"+tuitest.SizeName(size)+"/taken", m, size[0], size[1])
		tuitest.Drive(m, c, "l")
		golden(t, "contested/"+tuitest.SizeName(size)+"/left", m, size[0], size[1])
		tuitest.Drive(m, c, "5", "enter")
		golden(t, "contested/"+tuitest.SizeName(size)+"/diff", m, size[0], size[1])
	}
}

func TestADecisionAboutContestedFieldsIsWhatIsApproved(t *testing.T) {
	for _, tt := range []struct{ name, key, want string }{
		{"taken", "t", preview.ConflictsTake},
		{"left", "l", preview.ConflictsLeave},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, c := contestedReview(t, [2]int{120, 36})
			m.gate.ask = func(p *preview.Plan, _ record.Approval) error {
				if obstacles := verdict.For(p).Obstacles; len(obstacles) > 0 {
					return errors.New(obstacles[0].Cause)
				}
				return nil
			}
			tuitest.Drive(m, c, "n", "n", "a")
			if m.screen == screenConfirm {
				t.Fatal("an undecided conflict leads to the question")
			}
			tuitest.Drive(m, c, "esc", "2", tt.key)
			if got := m.Plan.Options.ConflictsOf[tuitest.DeployObject]; got != tt.want || m.tab != tabs.Findings {
				t.Fatalf("the plan on tab %d decides %q, want %q on the finding", m.tab, got, tt.want)
			}
			if !strings.Contains(m.Banner, "its contested fields are "+tt.name) {
				t.Errorf("the banner is %q", m.Banner)
			}
			m.opts.Recheck = recheckSame(m.Plan)
			tuitest.Drive(m, c, tt.key)
			if !strings.Contains(m.notice, "decided already") || m.screen != screenReview {
				t.Errorf("the same key again: %q", m.notice)
			}
			tuitest.Drive(m, c, append(append([]any{"n", "n", "a"}, tuitest.Typed("mongodb")...), "enter")...)
			if m.outcome.Kind != Approved || m.outcome.PlanDigest != tuitest.DigestOf("plan that decides "+tt.want) {
				t.Errorf("outcome %v of %s", m.outcome.Kind, m.outcome.PlanDigest)
			}
		})
	}
}

// A decision that was not planned is none: R plans as the plan on screen says.
func TestADecisionThatWasGivenUpIsForgotten(t *testing.T) {
	m, c := contestedReview(t, [2]int{120, 36})
	tuitest.Drive(m, c, "n")
	_, cmd := m.Update(tuitest.Press("t"))
	if m.screen != screenResolve || cmd == nil {
		t.Fatal("t does not plan again")
	}
	tuitest.Drive(m, c, "esc", "R")
	if got := m.Plan.Options.ConflictsOf; len(got) != 0 || m.screen != screenReview {
		t.Errorf("after esc and R the plan decides %v", got)
	}
	m.opts.Settle, m.Settles = nil, false
	tuitest.Drive(m, c, "2", "t")
	if !strings.Contains(m.notice, "--conflicts") {
		t.Errorf("where nothing can be planned, t says %q", m.notice)
	}
}
