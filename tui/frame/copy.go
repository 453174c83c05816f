package frame

import (
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// CopyText returns the command that puts a text on the terminal's clipboard
// (OSC 52), and the notice that it did. The text is freed of everything that a
// shell or editor would obey when it is pasted.
func CopyText(text string) (notice string, cmd tea.Cmd) {
	if text == "" {
		return "nothing to copy here", nil
	}
	safe := textsafe.Line(text)
	return "copied " + safe, tea.SetClipboard(safe)
}
