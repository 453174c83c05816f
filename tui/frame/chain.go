package frame

import (
	"errors"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// maxLevels is how many errors of a chain of wrapped errors are shown.
const maxLevels = 32

// ErrorLines appends an error in full: the operation, the whole cause, the advice, and
// then each error that it wraps.
func ErrorLines(b *Builder, err error) {
	said := []string{}
	if e, ok := errors.AsType[*install.Error](err); ok {
		b.Pair("operation", e.Operation)
		came := e.Reasons
		if len(came) == 0 {
			came = strings.Split(e.Cause, "\n")
		}
		for i, reason := range came {
			name := ""
			if i == 0 {
				name = "error"
			}
			b.Pair(name, reason)
		}
		if e.RolloutCause != "" {
			b.Pair("cause", e.RolloutCause.Words())
		}
		b.Pair("next step", e.Advice)
		said, err = append(came, e.Cause), e.Err
	}
	behind := errorChain(err, nil)
	if len(behind) == 0 || len(behind) == 1 && slices.Contains(said, behind[0]) {
		return
	}
	if len(said) > 0 {
		b.Heading("Caused by")
	}
	for _, text := range behind {
		b.Item(theme.Plain, "-", text)
	}
}

// errorChain appends to out the texts of an error and of those it wraps,
// outermost first, each without the text of the next.
func errorChain(err error, out []string) []string {
	for err != nil && len(out) < maxLevels {
		if several, ok := err.(interface{ Unwrap() []error }); ok {
			for _, one := range several.Unwrap() {
				out = errorChain(one, out)
			}
			return out
		}
		inner := errors.Unwrap(err)
		text := err.Error()
		if inner != nil {
			text = strings.TrimSuffix(strings.TrimSuffix(text, inner.Error()), ": ")
		}
		if text != "" && (len(out) == 0 || out[len(out)-1] != text) {
			out = append(out, text)
		}
		err = inner
	}
	return out
}

// ThreeLines returns the text of an error as three lines: the operation, the cause (its
// lines joined), and the advice.
func ThreeLines(text string) []string {
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
	if last := len(lines) - 1; last > 2 {
		return []string{lines[0], strings.Join(lines[1:last], "; "), lines[last]}
	}
	return lines
}

// maxReason is how many lines a reason takes on a screen; the key e shows all of it.
const maxReason = 3

// ReasonLines wraps a reason into at most [maxReason] lines; the last is cut.
func ReasonLines(role theme.Role, text string, width int, indent string) []widget.Line {
	lines := widget.Wrap(role, text, width, indent)
	if len(lines) > maxReason {
		lines = append(lines[:maxReason-1], Plain(indent+"…  (e all of it)"))
	}
	return lines
}
