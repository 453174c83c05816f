package review

import (
	"maps"
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
)

// contestedObjects returns the ids of the objects with conflicts that the
// selected row is about: a finding about some, or an object.
func (m *tabPanel) contestedObjects() []string {
	b := m.activeTab()
	row := b.selected()
	switch {
	case b.sheet != nil && b.pane == frame.PaneDetail: // whose keys move in the text
	case m.tab == tabs.Findings || m.tab == tabs.Summary:
		at := m.Checklist.Find(row.ID)
		if at < 0 {
			return nil
		}
		var ids []string
		for _, f := range m.Checklist.Items[at].Findings {
			if tabs.AboutConflicts(f) {
				ids = append(ids, f.Object)
			}
		}
		return ids
	default:
		if o := m.Object(row.Object); o != nil && len(o.Conflicts) > 0 {
			return []string{o.ID}
		}
	}
	return nil
}

// conflictKey handles the keys that decide about fields with conflicts (take,
// leave). It returns false for any other key.
func (m *review) conflictKey(msg tea.KeyPressMsg) (tea.Cmd, bool) {
	decided := preview.ConflictsTake
	switch {
	case key.Matches(msg, m.keys.Take):
	case key.Matches(msg, m.keys.Leave):
		decided = preview.ConflictsLeave
	default:
		return nil, false
	}
	ids := m.contestedObjects()
	if len(ids) == 0 {
		return nil, false
	}
	return m.decide(ids, decided), true
}

// decide makes the plan again with a decision (take or leave) about the conflicts
// of some objects, because only a plan that has the decision can be approved.
func (m *review) decide(ids []string, decided string) tea.Cmd {
	if m.opts.Resolve == nil || m.opts.Settle == nil {
		m.notice = "this plan cannot be recomputed here: set --conflicts when creating it"
		return nil
	}
	if !slices.ContainsFunc(ids, func(id string) bool { return m.Plan.ConflictsOf(m.Object(id)) != decided }) {
		m.notice = "decided already: " + decision(decided)
		return nil
	}
	decisions := map[string]string{}
	maps.Copy(decisions, m.Plan.Options.ConflictsOf)
	for _, id := range ids {
		decisions[id] = decided
	}
	m.opts.Settle(decisions)
	m.decided = ids[0]
	return m.planAgain()
}

// showDecided shows, in the new plan, the finding at which the user decided.
func (m *review) showDecided() {
	id := m.decided
	m.decided = ""
	for i, it := range m.Checklist.Items {
		if slices.ContainsFunc(it.Findings, func(f *preview.Finding) bool { return f.Object == id && tabs.AboutConflicts(f) }) {
			m.openFinding(i)
			return
		}
	}
}
