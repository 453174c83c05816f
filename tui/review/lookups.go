package review

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
)

// lookups are what is found out about the plan in the background, once per plan,
// because the first frame does not wait for it.
type lookups struct {
	view    *tabs.View
	ctx     context.Context
	prior   func(context.Context, preview.Release, int) (tabs.PriorAcceptance, bool)
	indexed *preview.Plan // whose index is made, or was, ahead of its need
}

// buildIndex returns the command that makes the index of a plan, once per plan,
// so that tabs open sooner.
func (l *lookups) buildIndex() tea.Cmd {
	if l.view.Plan == nil || l.indexed == l.view.Plan {
		return nil
	}
	l.indexed = l.view.Plan
	index := l.view.IndexMaker()
	return func() tea.Msg { return indexedMsg{index()} }
}

type foreignFieldsMsg tabs.ForeignFields

// findForeignFields returns the command that looks for fields in the plan's
// live objects which only others set, once per plan: there may be thousands. It
// is nil for a release that is not installed yet.
func (l *lookups) findForeignFields() tea.Cmd {
	p := l.view.Plan
	if p == nil || l.view.Foreign.Plan == p {
		return nil
	}
	l.view.Foreign = tabs.ForeignFields{Plan: p}
	if p.Base.Revision == 0 {
		return nil
	}
	return func() tea.Msg {
		found := foreignFieldsMsg{Plan: p, Of: map[string][]diff.SetField{}}
		for i := range p.Objects {
			if fields := foreignFields(&p.Objects[i]); len(fields) > 0 {
				found.Of[p.Objects[i].ID] = fields
			}
		}
		return found
	}
}

// setForeignFields stores the fields that were found, and returns the tabs that show
// them.
func (l *lookups) setForeignFields(msg foreignFieldsMsg) []tabs.Tab {
	if msg.Plan != l.view.Plan {
		return nil
	}
	l.view.Foreign = tabs.ForeignFields(msg)
	return []tabs.Tab{tabs.Summary, tabs.Objects}
}

type priorAcceptancesMsg tabs.PriorAcceptances

// findPriorAcceptances returns the command that reads who accepted findings
// with earlier revisions, once per plan; nil if the plan has no such finding.
func (l *lookups) findPriorAcceptances() tea.Cmd {
	p, ask := l.view.Plan, l.prior
	if p == nil || l.view.Prior.Plan == p {
		return nil
	}
	l.view.Prior = tabs.PriorAcceptances{Plan: p}
	revisions := map[int]bool{}
	for _, f := range p.Findings {
		if f.AcceptedIn > 0 {
			revisions[f.AcceptedIn] = true
		}
	}
	if ask == nil || len(revisions) == 0 {
		return nil
	}
	ctx := l.ctx
	return func() tea.Msg {
		found := priorAcceptancesMsg{Plan: p, Of: map[int]tabs.PriorAcceptance{}}
		for revision := range revisions {
			if a, ok := ask(ctx, p.Release, revision); ok {
				found.Of[revision] = a
			}
		}
		return found
	}
}

// setPriorAcceptances stores what was read, and returns the tabs that show it.
func (l *lookups) setPriorAcceptances(msg priorAcceptancesMsg) []tabs.Tab {
	if msg.Plan != l.view.Plan {
		return nil
	}
	l.view.Prior = tabs.PriorAcceptances(msg)
	return []tabs.Tab{tabs.Summary, tabs.Findings}
}

// gateCheck asks the gate whether an approval could cover the plan, before a user is
// asked to give one.
type gateCheck struct {
	ask  func(*preview.Plan, record.Approval) error // nil where nothing can be approved
	plan *preview.Plan                              // that was asked about last
	why  error                                      // why it cannot be approved, nil if it can
}

// gateErrorMsg is the gate's answer about a plan.
type gateErrorMsg struct {
	plan *preview.Plan
	why  error
}

// begin returns the command that asks about a plan, once per plan. The first frame
// does not wait for it, because the gate reads all of the plan.
func (g *gateCheck) begin(v *tabs.View) tea.Cmd {
	if v.Plan == nil || g.plan == v.Plan {
		return nil
	}
	g.plan, g.why = v.Plan, nil
	if g.ask == nil {
		return nil
	}
	answer := g.question(v)
	return func() tea.Msg { return answer() }
}

// set stores an answer, unless another plan is shown by then.
func (g *gateCheck) set(msg gateErrorMsg, shown *preview.Plan) {
	if msg.plan == shown {
		g.plan, g.why = msg.plan, msg.why
	}
}

// now asks at once, without waiting for the command, so that a user is not asked
// about a plan that no approval can cover.
func (g *gateCheck) now(v *tabs.View) error {
	if g.ask == nil {
		return nil
	}
	g.set(g.question(v)(), v.Plan)
	return g.why
}

// question returns a function that asks the gate whether an approval that accepts all
// findings would cover the plan. It changes nothing in the review.
func (g *gateCheck) question(v *tabs.View) func() gateErrorMsg {
	p, ask, b := v.Plan, g.ask, v.Checklist
	return func() gateErrorMsg {
		return gateErrorMsg{p, ask(p, record.Approval{
			Digest: p.Digest, How: record.ApprovedOnScreen, By: p.Target.User, Ruleset: p.Ruleset, Accepted: b.Accepted(),
		})}
	}
}
