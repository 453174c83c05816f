package diffview

import (
	"fmt"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// Form is the layout of a diff: unified, side by side, or a list of fields.
type Form int

// The forms of a sheet.
const (
	FormUnified Form = iota
	FormBeside       // live and after side by side
	FormPaths        // the changed fields, one a line
	FormExact        // one text, nothing folded
)

// View shows the exact text of an object, or how it would change, line by
// line: with line numbers, a cursor, and the path of the field under it. Lines
// are drawn when they are visible; a sheet of 100,000 lines costs what one of
// ten does.
type View struct {
	Object     *preview.Object // or
	File       *preview.File
	Kind       Kind        // docYAML or docDiff
	name       string      // what is shown
	happens    widget.Line // stands behind it
	Notes      []widget.Line
	Comparison *Comparison // nil while it is made
	Made       *Job        // how far that is; nil where it has not begun
	Form       Form
	unfolded   map[int]bool // stretches of unchanged lines, by their first
	Rows       []Row

	Cursor, Top, Left int
}

// rowKind says what a row of a sheet stands for.
type rowKind uint8

// The kinds of rows.
const (
	rowNote   rowKind = iota // a: of notes
	RowLine                  // a: of lines
	rowPair                  // a: deleted or equal line, b: inserted or equal line; -1 for none
	RowFold                  // unchanged lines from a up to b
	rowChange                // a: of changes
	RowGap                   // a lines that are not changed, and not known
)

// Row is a row of a sheet; what a and b mean follows from its kind.
type Row struct {
	Kind rowKind
	A, b int32
}

// New begins a sheet; its comparison is put in when it is made.
func New(p *preview.Plan, o *preview.Object, kind Kind) *View {
	s := &View{Object: o, Kind: kind, Form: FormUnified, unfolded: map[int]bool{}}
	s.name = frame.ObjectName(o.ID)
	if kind == YAML {
		s.Form = FormExact
		body, what := SentBody(p, o)
		s.happens = frame.Plain("   " + what)
		s.Notes = append(s.Notes, frame.Plain(" "+o.Digest))
		if place := o.Origin.Place(); place != "" {
			s.Notes = append(s.Notes, frame.Plain(" from "+place))
		}
		if body == nil {
			s.Notes = append(s.Notes, frame.Plain(" the object itself is not part of this plan file"))
		}
		return s
	}
	s.happens = widget.Line{widget.Text(frame.ActionRole(o.Action), "   "+o.Action.Symbol()+" "+string(o.Action))}
	s.Notes = []widget.Line{
		{widget.Text(theme.Caution, " --- live"+absentNote(o.LiveBody))},
		{widget.Text(theme.Change, " +++ after"+absentNote(AfterBody(o)))},
	}
	if o.Action == preview.ActionUnknown {
		s.Notes = append(s.Notes, frame.Plain(" the live object could not be read: what would change is not known"))
	}
	return s
}

func absentNote(body map[string]any) string {
	if body == nil {
		return "  (does not exist)"
	}
	return ""
}

// Fill puts in the comparison and goes to where it opens.
func (s *View) Fill(c *Comparison) {
	s.Comparison = c
	if s.Kind == Diff && len(c.Starts) == 0 && len(c.Changes) == 0 {
		s.Notes = append(s.Notes, frame.Plain(" no difference"))
	}
	s.Build()
	s.Top = 0
	s.Reveal(c.opensAt)
}

// SetForm sets out the lines in another way and stays at the line.
func (s *View) SetForm(form Form) {
	if s.Form == form || s.Kind == YAML {
		return
	}
	line := s.Line()
	s.Form = form
	s.Build()
	s.Reveal(line)
}

// Settle keeps the cursor in the sheet and in a window of height rows.
func (s *View) Settle(height int) {
	s.Cursor = max(0, min(s.Cursor, len(s.Rows)-1))
	s.Top = min(s.Top, s.Cursor)
	s.Top = max(s.Top, s.Cursor-height+1)
	s.Top = max(0, min(s.Top, len(s.Rows)-height))
}

// MoveBy moves the cursor.
func (s *View) MoveBy(delta int) { s.Cursor = max(0, min(s.Cursor+delta, len(s.Rows)-1)) }

// Scroll moves the window; the cursor stays in it.
func (s *View) Scroll(delta, height int) {
	s.Top = max(0, min(s.Top+delta, len(s.Rows)-height))
	s.Cursor = max(s.Top, min(s.Cursor, s.Top+height-1))
}

// Sideways scrolls the texts by cells, as far as they go.
func (s *View) Sideways(delta int) {
	if s.Comparison != nil {
		s.Left = max(0, min(s.Left+delta, s.Comparison.widest-1))
	}
}

// Line is the line under the cursor; where that is a fold or a changed path,
// the first one it stands for. It is -1 on notes.
func (s *View) Line() int {
	if s.Cursor < 0 || s.Cursor >= len(s.Rows) {
		return -1
	}
	switch r := s.Rows[s.Cursor]; r.Kind {
	case RowLine, RowFold:
		return int(r.A)
	case rowPair:
		if r.A >= 0 {
			return int(r.A)
		}
		return int(r.b)
	case rowChange:
		return s.Comparison.LineOf(s.Comparison.Changes[r.A])
	}
	return -1
}

// ShowsLine reports whether the row under the cursor shows a line of the text.
func (s *View) ShowsLine(line int) bool {
	if s.Cursor < 0 || s.Cursor >= len(s.Rows) {
		return false
	}
	r := s.Rows[s.Cursor]
	return line == s.Line() || r.Kind == rowPair && int(r.b) == line
}

// Path is the field under the cursor.
func (s *View) Path() string {
	if s.Comparison == nil || s.Cursor < 0 || s.Cursor >= len(s.Rows) {
		return ""
	}
	switch r := s.Rows[s.Cursor]; r.Kind {
	case rowChange:
		return s.Comparison.Changes[r.A].Path
	case RowFold, rowNote, RowGap:
		return ""
	}
	return s.Comparison.Path(s.Line())
}

// CopyText returns the text under the cursor, which y copies.
func (s *View) CopyText() string {
	if s.Comparison == nil || s.Cursor < 0 || s.Cursor >= len(s.Rows) {
		return ""
	}
	switch r := s.Rows[s.Cursor]; r.Kind {
	case rowChange:
		return s.Comparison.Changes[r.A].Path
	case RowLine, rowPair:
		return s.Comparison.Lines[s.Line()].Text
	}
	return ""
}

// Reveal puts the cursor on a line, and unfolds what hides it.
func (s *View) Reveal(line int) {
	if s.Comparison == nil || line < 0 || line >= len(s.Comparison.Lines) {
		return
	}
	if s.Form == FormPaths {
		path := s.Comparison.Path(line)
		s.Cursor = max(0, slices.IndexFunc(s.Rows, func(r Row) bool { return r.Kind == rowChange && s.Comparison.Changes[r.A].Path == path }))
		return
	}
	at := int32(line)
	for i, r := range s.Rows {
		if r.Kind == RowFold && r.A <= at && at < r.b {
			s.unfolded[int(r.A)] = true
			s.Build()
			s.Reveal(line)
			return
		}
		if r.Kind == RowLine && r.A == at || r.Kind == rowPair && (r.A == at || r.b == at) {
			s.Cursor = i
			return
		}
	}
}

// Toggle unfolds the stretch under the cursor or folds it again, and reports
// whether there was one.
func (s *View) Toggle() bool {
	if s.Comparison == nil || s.Cursor < 0 || s.Cursor >= len(s.Rows) {
		return false
	}
	switch r := s.Rows[s.Cursor]; {
	case r.Kind == RowFold:
		s.unfolded[int(r.A)] = true
		s.Build()
		return true
	case r.Kind == RowLine || r.Kind == rowPair:
		return s.refold(s.Line())
	}
	return false
}

// refold folds the unfolded stretch that a line is in.
func (s *View) refold(line int) bool {
	for first := line; first >= 0 && s.Comparison.Lines[first].Op == diff.LineEqual; first-- {
		if !s.unfolded[first] {
			continue
		}
		delete(s.unfolded, first)
		s.Build()
		s.Cursor = max(0, slices.IndexFunc(s.Rows, func(r Row) bool { return r.Kind == RowFold && int(r.A) == first }))
		return true
	}
	return false
}

// Next goes to the next or previous run of changes, and reports whether there
// is one.
func (s *View) Next(step int) bool {
	if s.Comparison == nil {
		return false
	}
	if s.Form == FormPaths {
		before := s.Cursor
		s.MoveBy(step)
		return s.Cursor != before
	}
	line := s.Line()
	at, found := slices.BinarySearch(s.Comparison.Starts, line)
	if step < 0 {
		at--
	} else if found {
		at++
	}
	if at < 0 || at >= len(s.Comparison.Starts) {
		return false
	}
	s.Reveal(s.Comparison.Starts[at])
	return true
}

// changePosition says where the cursor is among the changes.
func (s *View) changePosition() string {
	switch {
	case s.Comparison == nil && s.Made != nil:
		return fmt.Sprintf("comparing … %d%% ", s.Made.percent())
	case s.Comparison == nil:
		return "comparing … "
	case s.Form == FormPaths || len(s.Comparison.Lines) == 0 && len(s.Comparison.Changes) > 0:
		return fmt.Sprintf("%s ", preview.Plural(len(s.Comparison.Changes), "changed field"))
	case len(s.Comparison.Starts) > 0 && s.Comparison.change(s.Line()) == 0:
		return preview.Plural(len(s.Comparison.Starts), "change") + " "
	case len(s.Comparison.Starts) > 0:
		return fmt.Sprintf("change %d of %d ", s.Comparison.change(s.Line()), len(s.Comparison.Starts))
	case s.Kind == YAML && s.Line() < 0:
		return preview.Plural(len(s.Comparison.Lines), "line") + " "
	case s.Kind == YAML:
		return fmt.Sprintf("line %d of %d ", s.Line()+1, len(s.Comparison.Lines))
	}
	return ""
}

// Kind selects what a detail pane shows.
type Kind int

// The kinds of details.
const (
	Facts Kind = iota
	YAML
	Diff
)
