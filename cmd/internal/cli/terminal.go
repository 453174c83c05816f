package cli

import (
	"os"

	"github.com/kubectl-operator/kubectl-operator/tui/frame"
)

// terminal is where screens are drawn: this process's own terminal, under the
// decisions made for all output. Lines of text go through the one writer for
// people instead.
func (a *app) terminal() frame.Terminal {
	if a.streams.Lines() {
		return frame.Terminal{Input: a.streams.In, Output: a.streams.Human(), ASCII: a.streams.ASCII(), Width: a.streams.Width()}
	}
	return frame.Terminal{
		Input: a.streams.In, Output: os.Stdout, Color: a.streams.Color(), ASCII: a.streams.ASCII(), NoMotion: a.global.noMotion,
	}
}
