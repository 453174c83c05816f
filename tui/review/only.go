package review

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/tui/diffview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// startOnly opens the field for a text that the listed rows must have.
func (m *tabPanel) startOnly() {
	if m.tab != tabs.Objects && m.tab != tabs.Access {
		m.notice = "& narrows the lists of Objects and Access; / searches everywhere"
		return
	}
	m.only, m.narrowing = widget.NewQuery(), true
	m.narrow("")
}

// onlyKey handles the keys while that text is typed. The list follows each key.
func (m *tabPanel) onlyKey(msg tea.KeyPressMsg) {
	switch {
	case key.Matches(msg, m.keys.Back):
		m.narrowing = false
		m.narrow("")
	case key.Matches(msg, m.keys.Open):
		m.narrowing = false
	case msg.Code == tea.KeyUp, msg.Code == tea.KeyDown:
		m.activeTab().move(m, msg)
	default:
		m.only.Update(msg)
		m.narrow(m.only.Value())
	}
}

// narrow shows only the rows with a text. While a regular expression is
// incomplete, the list stays as it was.
func (m *tabPanel) narrow(text string) {
	only, err := tabs.NewRowFilter(text)
	if err != nil {
		m.notice = err.Error()
		return
	}
	if text == m.Filter.Only.Text {
		return
	}
	m.Filter.Only = only
	b := m.activeTab()
	b.pane, b.kind, b.list = frame.PaneList, diffview.Facts, widget.List{}
	m.refreshTabs(tabs.Objects, tabs.Access)
}

func (m *tabPanel) onlyPrompt() (widget.Line, int) {
	line, column := m.only.Prompt(widget.Text(theme.Key, " &"))
	if m.notice != "" {
		line = append(line, widget.Text(theme.Caution, "   "+m.notice))
	}
	return line, column
}
