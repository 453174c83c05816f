package review

import (
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/tui/diffview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
)

// openPager shows the YAML or diff of the selected row, whichever is on the
// screen, in the user's pager. Secrets are masked there too.
func (m *review) openPager() tea.Cmd {
	b := m.activeTab()
	terminal := m.opts.Terminal
	if len(terminal.Pager) == 0 {
		m.notice = frame.NoPager
		return nil
	}
	if s := b.sheet; s != nil && s.Comparison != nil && m.detailVisible() {
		c, name := s.Comparison, "object.diff"
		if s.Kind == diffview.YAML {
			name = "object.yaml"
		}
		return func() tea.Msg { return terminal.Page(name, c.Text()) }
	}
	o := m.Object(b.selected().Object)
	if o == nil {
		m.notice = "this line is not about a single object"
		return nil
	}
	body, _ := diffview.SentBody(m.Plan, o)
	return func() tea.Msg { return terminal.Page("object.yaml", diffview.Exact(o, body, "", nil).Text()) }
}

// pagerEnded shows the error if the pager could not be run.
func (m *review) pagerEnded(msg frame.PagedMsg) {
	if msg.Err != nil {
		m.notice = msg.Err.Error()
	}
}
