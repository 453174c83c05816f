package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// copy puts text on the clipboard of the terminal (OSC 52), free of anything
// that a shell or editor would obey when it is pasted.
func (m *review) copy(text string) tea.Cmd {
	if text == "" {
		m.notice = "nothing to copy here"
		return nil
	}
	safe := textsafe.Line(text)
	m.notice = "copied " + safe
	return tea.SetClipboard(safe)
}
