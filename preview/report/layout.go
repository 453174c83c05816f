package report

import (
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// Colours repeat what a symbol and a word say already. They are among those
// that textsafe.NewColorWriter passes.
const (
	bold   = "\x1b[1m"
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	blue   = "\x1b[34m"
	reset  = "\x1b[0m"
)

type layout struct {
	width int
	color bool
}

func (l layout) paint(code, s string) string {
	if !l.color || s == "" {
		return s
	}
	return code + s + reset
}

// wrap lays out untrusted text after a first indent, with later lines under it.
func (l layout) wrap(first, text string) []string {
	return l.hang(first, strings.Repeat(" ", textsafe.Width(first)), text)
}

func (l layout) hang(first, later, text string) []string {
	room := max(l.width-max(textsafe.Width(first), textsafe.Width(later)), 20)
	var lines []string
	for _, paragraph := range strings.Split(textsafe.Block(text), "\n") {
		for _, piece := range textsafe.Wrap(paragraph, room) {
			switch {
			case len(lines) == 0:
				lines = append(lines, first+piece)
			case piece == "":
				lines = append(lines, "")
			default:
				lines = append(lines, later+piece)
			}
		}
	}
	return lines
}

// exact formats an escaped value in which every space matters: after its name if
// it fits, else below it.
func (l layout) exact(name, later, safe string) []string {
	if textsafe.Width(name)+1+textsafe.Width(safe) <= l.width {
		return []string{name + " " + safe}
	}
	out := []string{name}
	for _, piece := range textsafe.Fold(safe, max(l.width-textsafe.Width(later), 20)) {
		out = append(out, later+piece)
	}
	return out
}

// line escapes text with textsafe.Line, under a name short enough to be used
// everywhere.
func line(s string) string { return textsafe.Line(s) }

func lines(list []string) string {
	safe := make([]string, len(list))
	for i, s := range list {
		safe[i] = line(s)
	}
	return strings.Join(safe, ", ")
}

// fold keeps the first lines of a long list and says how many are left out.
func fold(list []string, n int, indent string) []string {
	if len(list) <= n+1 {
		return list
	}
	return append(list[:n:n], fmt.Sprintf("%s… %s more, -o json has them", indent, preview.Plural(len(list)-n, "line")))
}
