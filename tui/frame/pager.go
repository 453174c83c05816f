package frame

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// NoPager is the notice for a user who has no pager: it says how to set one.
const NoPager = "no pager: set PAGER to a program that shows a file, such as less"

// PagedMsg is the message that the pager has ended; Err says why it could not be run.
type PagedMsg struct{ Err error }

// Page shows a text in the user's pager, which has the terminal until the user
// leaves it. The text is in a temporary file that only the user can read.
func (t Terminal) Page(name string, lines []string) tea.Msg {
	dir, err := os.MkdirTemp("", "kubectl-operator-")
	if err != nil {
		return PagedMsg{fmt.Errorf("making a file for the pager: %w", err)}
	}
	var text strings.Builder
	for _, line := range lines {
		text.WriteString(textsafe.Line(line) + "\n")
	}
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		_ = os.RemoveAll(dir)
		return PagedMsg{fmt.Errorf("writing a file for the pager: %w", err)}
	}
	pager := exec.Command(t.Pager[0], append(t.Pager[1:len(t.Pager):len(t.Pager)], file)...)
	// The terminal itself: a copy would wait for one more key after the pager.
	pager.Stdin, pager.Stdout = os.Stdin, os.Stdout
	if file, ok := t.Input.(*os.File); ok {
		pager.Stdin = file
	}
	if file, ok := t.Output.(*os.File); ok {
		pager.Stdout = file
	}
	return tea.ExecProcess(pager, func(err error) tea.Msg {
		if gone := os.RemoveAll(dir); err == nil && gone != nil {
			err = gone
		}
		if err != nil {
			err = fmt.Errorf("running the pager %s: %w", t.Pager[0], err)
		}
		return PagedMsg{err}
	})()
}
