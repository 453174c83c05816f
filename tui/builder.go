package tui

import (
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// builder writes a document of paragraphs.
type builder struct {
	width int
	lines []widget.Line
}

func (b *builder) add(lines ...widget.Line) { b.lines = append(b.lines, lines...) }

func (b *builder) blank() { b.add(widget.Blank()) }

func (b *builder) heading(text string) {
	if len(b.lines) > 0 {
		b.blank()
	}
	b.add(widget.Line{widget.Text(theme.Heading, " "+text)})
}

// text wraps a paragraph behind an indent.
func (b *builder) text(role theme.Role, indent, text string) {
	b.add(widget.Wrap(role, text, b.width-1, indent)...)
}

// pair writes a name and a value that is wrapped beside it.
func (b *builder) pair(name, value string) {
	if value == "" {
		return
	}
	const column = 14
	wrapped := widget.Wrap(theme.Plain, value, b.width-column-4, "")
	for i, line := range wrapped {
		label := ""
		if i == 0 {
			label = name
		}
		b.add(append(widget.Line{widget.Text(theme.Plain, "   "), widget.Cell(theme.Plain, label, column)}, line...))
	}
}

// item writes a paragraph behind a mark, its further lines indented.
func (b *builder) item(role theme.Role, mark, text string) {
	for i, line := range widget.Wrap(role, text, b.width-len("     ")-1, "") {
		lead := "     "
		if i == 0 {
			lead = "   " + mark + " "
		}
		b.add(append(widget.Line{widget.Text(role, lead)}, line...))
	}
}
