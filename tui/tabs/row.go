package tabs

import (
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// Row is one line of a list.
type Row struct {
	ID      string // what it stands for; empty for headings, which cannot be selected
	Object  string // id of the object behind it
	Parent  string // id of the branch that holds it
	Text    string // searched
	Copy    string // what y copies
	Explain string // what x says
	Line    func(width int) widget.Line

	// words makes the text, and says the explanation, of rows of which there
	// may be thousands. A search calls words outside of Update.
	words, says func() string
	// inside makes the text of what the row opens, where that is searched too. It
	// is called outside of Update.
	Inside func() string
}

// SearchText returns the text in which a search looks for the row.
func (r Row) SearchText() string {
	if r.words != nil {
		return r.words()
	}
	return r.Text
}

// Explanation returns the explanation that the key x shows for the row; empty for none.
func (r Row) Explanation() string {
	if r.says != nil {
		return r.says()
	}
	return r.Explain
}

// Document is the detail of a row. The lines from Evidence[0] up to Evidence[1]
// must have been on the screen before its finding can be marked as reviewed.
type Document struct {
	Lines    []widget.Line
	Evidence [2]int
}

// textRow returns a row that cannot be selected.
func textRow(l widget.Line) Row {
	return Row{Text: l.Plain(), Line: func(int) widget.Line { return l }}
}

func linkRow(id, text string) Row {
	return Row{ID: id, Text: text, Line: func(int) widget.Line { return frame.Plain(text) }}
}

// sectionRow returns the heading of a section of the list.
func sectionRow(title string) Row {
	return textRow(widget.Line{widget.Text(theme.Heading, title)})
}

// RowFilter is a text that the rows of the tabs Objects and Access must have,
// as a search finds it. The zero value passes all rows.
type RowFilter struct {
	Text string
	find widget.Find
}

// NewRowFilter returns the filter for a text. An empty text passes all rows; an
// incomplete regular expression is an error.
func NewRowFilter(text string) (RowFilter, error) {
	find, err := frame.Finder(text)
	return RowFilter{text, find}, err
}

func (f RowFilter) passes(text string) bool { return f.find == nil || len(f.find(text)) > 0 }

// rows returns the rows that pass the filter. A heading passes if a row below it does.
func (f RowFilter) rows(rows []Row) []Row {
	if f.find == nil {
		return rows
	}
	var out []Row
	some := false
	for _, r := range rows {
		if r.ID == "" || f.passes(r.SearchText()) {
			out, some = append(out, r), some || r.ID != ""
		}
	}
	if !some {
		return nil
	}
	return out
}

// chip returns the text in a list's head that names the filter, empty for none.
func (f RowFilter) chip() string {
	if f.find == nil {
		return ""
	}
	return fmt.Sprintf("   only: %q (&)", f.Text)
}
