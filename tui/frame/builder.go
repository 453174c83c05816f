package frame

import (
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// Builder builds a document of headings and paragraphs, as lines of a width.
type Builder struct {
	Width int
	Lines []widget.Line
}

// Add appends lines as they are.
func (b *Builder) Add(lines ...widget.Line) { b.Lines = append(b.Lines, lines...) }

// Blank adds an empty line.
func (b *Builder) Blank() { b.Add(widget.Blank()) }

// Heading adds a heading, wrapped, after an empty line unless it is the first.
func (b *Builder) Heading(text string) {
	if len(b.Lines) > 0 {
		b.Blank()
	}
	if line := (widget.Line{widget.Text(theme.Heading, " "+text)}); b.Width <= 0 || line.Width() < b.Width {
		b.Add(line)
		return
	}
	b.Text(theme.Heading, " ", text)
}

// Text appends a paragraph, wrapped, each line after an indent.
func (b *Builder) Text(role theme.Role, indent, text string) {
	b.Add(widget.Wrap(role, text, b.Width-1, indent)...)
}

// Pair appends a name and, wrapped next to it, its value.
func (b *Builder) Pair(name, value string) {
	if value == "" {
		return
	}
	const column = 14
	wrapped := widget.Wrap(theme.Plain, value, b.Width-column-4, "")
	for i, line := range wrapped {
		label := ""
		if i == 0 {
			label = name
		}
		b.Add(append(widget.Line{widget.Text(theme.Plain, "   "), widget.Cell(theme.Plain, label, column)}, line...))
	}
}

// Item appends a paragraph after a mark, with its further lines indented.
func (b *Builder) Item(role theme.Role, mark, text string) {
	for i, line := range widget.Wrap(role, text, b.Width-len("     ")-1, "") {
		lead := "     "
		if i == 0 {
			lead = "   " + mark + " "
		}
		b.Add(append(widget.Line{widget.Text(role, lead)}, line...))
	}
}
