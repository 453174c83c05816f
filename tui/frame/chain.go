package frame

import (
	"errors"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// maxLevels of an error are taken apart.
const maxLevels = 32

// ErrorLines is an error whole: what was being done, everything that came back,
// what to do, and below that each error behind it.
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

// errorChain are an error and those it wraps, the outermost first, each without the
// text of the next.
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

// ThreeLines are an error as it is shown: what was being done and what to do
// next, and between them, in one line, what came back.
func ThreeLines(text string) []string {
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
	if last := len(lines) - 1; last > 2 {
		return []string{lines[0], strings.Join(lines[1:last], "; "), lines[last]}
	}
	return lines
}

// maxReason is the number of lines of a window that a reason takes; e shows all
// of it.
const maxReason = 3

// ReasonLines wraps a text into as many lines, the last of them cut.
func ReasonLines(role theme.Role, text string, width int, indent string) []widget.Line {
	lines := widget.Wrap(role, text, width, indent)
	if len(lines) > maxReason {
		lines = append(lines[:maxReason-1], Plain(indent+"…  (e all of it)"))
	}
	return lines
}
