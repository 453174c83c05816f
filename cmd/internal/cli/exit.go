package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
)

// The exit codes answer one question: did the target change? They are contract.
const (
	exitDone        = 0
	exitError       = int(install.NotStarted)
	exitDeclined    = int(install.Declined) // or preview --detailed-exitcode with changes
	exitFailed      = int(install.Failed)
	exitInterrupted = int(install.Interrupted)
	exitRefused     = int(install.Refused)
)

// silentExit ends the program with a code and no further text.
type silentExit struct{ code int }

func (e *silentExit) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// exitCode is the one place where an error becomes an exit code.
func exitCode(err error) int {
	var silent *silentExit
	var refused *engine.Refused
	var installError *install.Error
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &silent):
		return silent.code
	case errors.As(err, &installError):
		return max(int(installError.Kind), exitError) // no error ends with 0
	case errors.As(err, &refused):
		return exitRefused
	case errors.Is(err, context.Canceled):
		return exitDeclined
	}
	return exitError
}

// errorText is the one place where an error becomes text: at most three lines.
func errorText(err error, program string) string {
	var silent *silentExit
	var usage *planning.UsageError
	var installError *install.Error // says itself what was cancelled
	switch {
	case errors.As(err, &silent):
		return ""
	case errors.Is(err, context.Canceled) && exitCode(err) == exitDeclined && !errors.As(err, &installError):
		return "cancelled; nothing was applied"
	case errors.As(err, &usage):
		return "error: " + err.Error() + "\nSee \"" + program + " --help\"."
	}
	return "error: " + strings.Join(frame.ThreeLines(err.Error()), "\n")
}
