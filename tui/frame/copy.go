package frame

import (
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// CopyText puts text on the clipboard of the terminal (OSC 52), free of anything
// that a shell or editor would obey when it is pasted.
func CopyText(text string) (notice string, cmd tea.Cmd) {
	if text == "" {
		return "nothing to copy here", nil
	}
	safe := textsafe.Line(text)
	return "copied " + safe, tea.SetClipboard(safe)
}
