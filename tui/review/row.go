package review

import (
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// row is one line of a list.
type row struct {
	id      string // what it stands for; empty for headings, which cannot be selected
	object  string // id of the object behind it
	parent  string // id of the branch that holds it
	text    string // searched
	copy    string // what y copies
	explain string // what x says
	line    func(width int) widget.Line

	// words makes the text, and says the explanation, of rows of which there
	// may be thousands. A search calls words outside of Update.
	words, says func() string
	// inside makes the text of what the row opens, where that is searched too. It
	// is called outside of Update.
	inside func() string
}

func (r row) searchText() string {
	if r.words != nil {
		return r.words()
	}
	return r.text
}

func (r row) explanation() string {
	if r.says != nil {
		return r.says()
	}
	return r.explain
}

// document is the detail of a row. Lines from evidence[0] up to evidence[1]
// must be seen before a finding counts as looked at.
type document struct {
	lines    []widget.Line
	evidence [2]int
}

// textRow is a row that cannot be selected.
func textRow(l widget.Line) row {
	return row{text: l.Plain(), line: func(int) widget.Line { return l }}
}

func linkRow(id, text string) row {
	return row{id: id, text: text, line: func(int) widget.Line { return frame.Plain(text) }}
}

// sectionRow is the heading of a part of the list.
func sectionRow(title string) row {
	return textRow(widget.Line{widget.Text(theme.Heading, title)})
}

// rowFilter is a text that the rows of Objects and Access must hold, as a search
// finds it. The zero filter lets all pass.
type rowFilter struct {
	text string
	find widget.Find
}

func (f rowFilter) passes(text string) bool { return f.find == nil || len(f.find(text)) > 0 }

// rows leaves out those that do not pass. Headings stay where a row below them
// does.
func (f rowFilter) rows(rows []row) []row {
	if f.find == nil {
		return rows
	}
	var out []row
	some := false
	for _, r := range rows {
		if r.id == "" || f.passes(r.searchText()) {
			out, some = append(out, r), some || r.id != ""
		}
	}
	if !some {
		return nil
	}
	return out
}

// chip says what the list is narrowed to.
func (f rowFilter) chip() string {
	if f.find == nil {
		return ""
	}
	return fmt.Sprintf("   only: %q (&)", f.text)
}
