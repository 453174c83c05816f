package pages

import (
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// The least and the largest width of a page's lines, in terminal cells.
const (
	minWidth     = 40
	defaultWidth = 100
)

// WriteText writes a page for a terminal with the given width in cells, 0 for the
// default. The writer must escape control characters.
func WriteText(w io.Writer, p Page, width int) error {
	if width <= 0 {
		width = defaultWidth
	}
	width = max(min(width, defaultWidth), minWidth)
	var out strings.Builder
	head := p.Rule
	if p.Ref != "" {
		head += "  " + p.Ref
	}
	fmt.Fprintf(&out, "%s  at most %s\n", head, p.Severity)
	for _, part := range []struct{ name, text string }{
		{"finds", "what " + p.Title}, {"looks at", p.Looks}, {"why", p.Why}, {"severity", p.When}, {"reduce", p.Reduce}, {"source", p.Source},
	} {
		if part.text != "" {
			hang(&out, part.name, part.text, width)
		}
	}
	out.WriteString("\n  an example\n")
	hang(&out, string(p.Example.Severity), p.Example.Title, width)
	hang(&out, "evidence", p.Example.Evidence, width)
	_, err := io.WriteString(w, out.String())
	return err
}

func hang(out *strings.Builder, name, text string, width int) {
	const indent = 12
	for i, line := range textsafe.Wrap(textsafe.Line(text), width-indent) {
		if i > 0 {
			name = ""
		}
		fmt.Fprintf(out, "  %-8s  %s\n", name, line)
	}
}
