package tabs

import (
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/review"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// propertyList builds rows of a name and a value, for a width. Values are never
// cut: the rest of a long one is in the rows below. The key y copies a value.
type propertyList struct {
	width int
	shift int // by which rows that cannot be selected stand further left
	rows  []Row
}

// newPropertyList returns an empty list for the width of the tab.
func (m *View) newPropertyList() *propertyList {
	if m.Size.Mode == frame.ModeTiny {
		return &propertyList{width: m.Size.Width - len(" >")}
	}
	return &propertyList{width: m.Size.Width - len(" > "), shift: len("> ")}
}

// section appends a section of the review: its title and, for each row, the first cell as
// name of the second, and the further cells below.
func (f *propertyList) section(s review.Section) {
	if len(f.rows) > 0 {
		f.rows = append(f.rows, textRow(widget.Blank()))
	}
	title := words.Joined("  ", words.Joined(" ", s.Title, s.Subject), words.Enclosed(s.Note))
	f.rows = append(f.rows, textRow(widget.Line{widget.Text(theme.Heading, title)}))
	for _, row := range s.Rows {
		if len(row.Names) > 0 {
			f.add(theme.Plain, row.Cells[0], strings.Join(row.Names, "  "))
			continue
		}
		f.add(toneRole(row.Tone), row.Cells[0], row.Cells[1])
		for i := 2; i < len(row.Cells); i++ {
			f.add(theme.Plain, "  "+s.Columns[i].Name, row.Cells[i])
		}
	}
}

// toneRole returns how the screen draws a tone.
func toneRole(t review.Tone) theme.Role {
	switch t {
	case review.Good:
		return theme.Good
	case review.Caution:
		return theme.Caution
	}
	return theme.Plain
}

func (f *propertyList) add(role theme.Role, name, value string) {
	if value == "" {
		return
	}
	column := 16
	if f.width < wideRow {
		column = 9
	}
	safe := textsafe.Line(value)
	for i, piece := range textsafe.Wrap(safe, max(8, f.width-column)) {
		if i == 0 {
			line := widget.Line{widget.Cell(theme.Plain, name, column), widget.Text(role, piece)}
			f.rows = append(f.rows, Row{
				ID: "fact/" + strconv.Itoa(len(f.rows)), Text: name + " " + safe, Copy: safe, Line: func(int) widget.Line { return line },
			})
			continue
		}
		f.rows = append(f.rows, textRow(widget.Line{widget.Cell(theme.Plain, "", column+f.shift), widget.Text(role, piece)}))
	}
}

// sourceTab shows where the content comes from, with every digest in full.
type sourceTab struct{ *View }

func (m *sourceTab) Count() int { return -1 }

func (m *sourceTab) Doc(string, int) Document { return Document{} }

// Rows returns the sources of everything in the plan, with every digest in full.
func (m *sourceTab) Rows() []Row {
	f := m.newPropertyList()
	for _, s := range review.Origin(m.Plan) {
		f.section(s)
	}
	return f.rows
}
