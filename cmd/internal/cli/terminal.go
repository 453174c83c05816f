package cli

import (
	"os"

	"github.com/kubectl-operator/kubectl-operator/tui"
)

// terminal is where screens are drawn: this process's own terminal, under the
// decisions made for all output.
func (a *app) terminal() tui.Terminal {
	return tui.Terminal{
		Input: a.streams.In, Output: os.Stdout, Color: a.streams.Color(), ASCII: a.streams.ASCII(), NoMotion: a.global.noMotion,
	}
}
