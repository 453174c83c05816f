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
	// narrow breaks words that are longer than a line, as a terminal would. In files and pipes
	// an identifier stays one word, which can be searched for.
	narrow bool
}

func (l layout) paint(code, s string) string {
	if !l.color || s == "" {
		return s
	}
	return code + s + reset
}

// wrap escapes and wraps text. The first line begins with first, the others with as
// many spaces.
func (l layout) wrap(first, text string) []string {
	return l.hang(first, strings.Repeat(" ", textsafe.Width(first)), text)
}

func (l layout) hang(first, later, text string) []string {
	room := max(l.width-max(textsafe.Width(first), textsafe.Width(later)), 20)
	var lines []string
	for _, paragraph := range strings.Split(textsafe.Block(text), "\n") {
		for _, piece := range l.lines(paragraph, room) {
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

func (l layout) lines(paragraph string, room int) []string {
	if l.narrow {
		return textsafe.Wrap(paragraph, room)
	}
	return textsafe.WrapWords(paragraph, room)
}

// exact returns an escaped value unchanged after its name, or, if the line gets too
// long, on lines of its own that begin with later. Unlike in [layout.wrap] every space
// is kept.
func (l layout) exact(name, later, safe string) []string {
	if textsafe.Width(name)+1+textsafe.Width(safe) <= l.width {
		return []string{name + " " + safe}
	}
	if !l.narrow {
		return []string{name, later + safe}
	}
	out := []string{name}
	for _, piece := range textsafe.Fold(safe, max(l.width-textsafe.Width(later), 20)) {
		out = append(out, later+piece)
	}
	return out
}

// line is a short name for [textsafe.Line], which is used everywhere here.
func line(s string) string { return textsafe.Line(s) }

// fold returns the first n lines of a longer list, and a line that counts the others.
func fold(list []string, n int, indent string) []string {
	if len(list) <= n+1 {
		return list
	}
	return append(list[:n:n], fmt.Sprintf("%s… %s more, -o json has them", indent, preview.Plural(len(list)-n, "line")))
}
