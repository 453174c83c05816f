package review

import (
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/tui/describe"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
)

// buildIndex returns the command that makes the index of a plan, once per plan,
// so that tabs open sooner.
func (m *tabPanel) buildIndex() tea.Cmd {
	if m.Plan == nil || m.indexed == m.Plan {
		return nil
	}
	m.indexed = m.Plan
	index := m.IndexMaker()
	return func() tea.Msg { return indexedMsg{index()} }
}

// setIndex stores the index that was made.
func (m *tabPanel) setIndex(msg indexedMsg) {
	m.TakeIndex(msg.index)
}

type foreignFieldsMsg tabs.ForeignFields

// findForeignFields returns the command that looks for fields in the plan's
// live objects which only others set, once per plan: there may be thousands. It
// is nil for a release that is not installed yet.
func (m *tabPanel) findForeignFields() tea.Cmd {
	p := m.Plan
	if p == nil || m.Foreign.Plan == p {
		return nil
	}
	m.Foreign = tabs.ForeignFields{Plan: p}
	if p.Base.Revision == 0 {
		return nil
	}
	return func() tea.Msg {
		found := foreignFieldsMsg{Plan: p, Of: map[string][]diff.SetField{}}
		for i := range p.Objects {
			if fields := describe.ForeignFields(&p.Objects[i]); len(fields) > 0 {
				found.Of[p.Objects[i].ID] = fields
			}
		}
		return found
	}
}

// setForeignFields stores the fields that were found, and has the rows made again.
func (m *tabPanel) setForeignFields(msg foreignFieldsMsg) {
	if msg.Plan != m.Plan {
		return
	}
	m.Foreign = tabs.ForeignFields(msg)
	m.refreshTab(tabs.Summary)
	m.refreshTab(tabs.Objects)
}

type priorAcceptancesMsg tabs.PriorAcceptances

// findPriorAcceptances returns the command that reads who accepted findings
// with earlier revisions, once per plan; nil if the plan has no such finding.
func (m *tabPanel) findPriorAcceptances() tea.Cmd {
	p, ask := m.Plan, m.opts.PriorAcceptance
	if p == nil || m.Prior.Plan == p {
		return nil
	}
	m.Prior = tabs.PriorAcceptances{Plan: p}
	revisions := map[int]bool{}
	for _, f := range p.Findings {
		if f.AcceptedIn > 0 {
			revisions[f.AcceptedIn] = true
		}
	}
	if ask == nil || len(revisions) == 0 {
		return nil
	}
	ctx := m.ctx
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

func (m *tabPanel) setPriorAcceptances(msg priorAcceptancesMsg) {
	if msg.Plan != m.Plan {
		return
	}
	m.Prior = tabs.PriorAcceptances(msg)
	m.refreshTab(tabs.Summary)
	m.refreshTab(tabs.Findings)
}

// gateError is the gate's refusal of a plan that no approval can cover; why is
// nil for other plans.
type gateError struct {
	plan *preview.Plan // that it was looked for in
	why  error
}

type gateErrorMsg gateError

// checkGate returns the command that asks the gate whether a plan can be
// approved, once per plan. The first frame does not wait for it, because the
// gate reads all of the plan.
func (m *review) checkGate() tea.Cmd {
	if m.Plan == nil || m.gateErr.plan == m.Plan {
		return nil
	}
	m.gateErr = gateError{plan: m.Plan}
	if m.opts.ReadOnly {
		return nil
	}
	p, ask := m.Plan, m.gate()
	return func() tea.Msg { return gateErrorMsg{p, ask()} }
}

func (m *review) setGateError(msg gateErrorMsg) {
	if msg.plan == m.Plan {
		m.gateErr = gateError(msg)
	}
}

// gateErrorNow asks the gate at once, without waiting for the command, so that
// a user is not asked about a plan that no approval can cover.
func (m *review) gateErrorNow() error {
	if m.opts.ReadOnly {
		return nil
	}
	m.gateErr = gateError{m.Plan, m.gate()()}
	return m.gateErr.why
}

// gate returns a function that asks the gate whether an approval that accepts
// all findings would cover the plan. It changes nothing in the review.
func (m *review) gate() func() error {
	p, gate, b := m.Plan, m.opts.Gate, m.Checklist
	return func() error {
		return gate(p, record.Approval{
			Digest: p.Digest, How: record.ApprovedOnScreen, By: p.Target.User, Ruleset: p.Ruleset, Accepted: b.Accepted(),
		})
	}
}
