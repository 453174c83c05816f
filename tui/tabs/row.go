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

// SearchText returns what a search finds the row by.
func (r Row) SearchText() string {
	if r.words != nil {
		return r.words()
	}
	return r.Text
}

// Explanation returns what x says of the row; empty where there is nothing to say.
func (r Row) Explanation() string {
	if r.says != nil {
		return r.says()
	}
	return r.Explain
}

// Document is the detail of a row. Lines from evidence[0] up to evidence[1]
// must be seen before a finding counts as looked at.
type Document struct {
	Lines    []widget.Line
	Evidence [2]int
}

// textRow is a row that cannot be selected.
func textRow(l widget.Line) Row {
	return Row{Text: l.Plain(), Line: func(int) widget.Line { return l }}
}

func linkRow(id, text string) Row {
	return Row{ID: id, Text: text, Line: func(int) widget.Line { return frame.Plain(text) }}
}

// sectionRow is the heading of a part of the list.
func sectionRow(title string) Row {
	return textRow(widget.Line{widget.Text(theme.Heading, title)})
}

// RowFilter is a text that the rows of Objects and Access must hold, as a search
// finds it. The zero filter lets all pass.
type RowFilter struct {
	Text string
	find widget.Find
}

// NewRowFilter returns the filter for a text; an empty one lets all pass.
func NewRowFilter(text string) (RowFilter, error) {
	find, err := frame.Finder(text)
	return RowFilter{text, find}, err
}

func (f RowFilter) passes(text string) bool { return f.find == nil || len(f.find(text)) > 0 }

// rows leaves out those that do not pass. Headings stay where a row below them
// does.
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

// chip says what the list is narrowed to.
func (f RowFilter) chip() string {
	if f.find == nil {
		return ""
	}
	return fmt.Sprintf("   only: %q (&)", f.Text)
}
