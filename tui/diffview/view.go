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

// Form is how a view shows a comparison: unified, side by side, as a list of
// fields, or as one text.
type Form int

// The forms of a sheet.
const (
	FormUnified Form = iota
	FormBeside       // live and after side by side
	FormPaths        // the changed fields, one a line
	FormExact        // one text, nothing folded
)

// View shows the exact text of an object, or how it would change, line by line: with
// line numbers, a cursor, and the path of the field under the cursor. Lines are drawn
// when they are visible, so that a view of 100,000 lines costs what one of ten does.
type View struct {
	Object     *preview.Object // or
	File       *preview.File
	replaces   *preview.Object // that is deleted and that Object replaces
	Kind       Kind            // docYAML or docDiff
	name       string          // what is shown
	happens    widget.Line     // stands behind it
	Notes      []widget.Line
	Comparison *Comparison // nil while it is made
	Made       *Job        // how far that is; nil where it has not begun
	Form       Form
	unfolded   map[int]bool // stretches of unchanged lines, by their first
	Rows       []Row

	Cursor, Top, Left int
}

// rowKind says what a row of a view shows.
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

// Row is a row of a view. Its kind says what A and b are: indices of notes,
// lines or changes, or a number of lines.
type Row struct {
	Kind rowKind
	A, b int32
}

// New returns the view of an object, still without its comparison, which Fill adds.
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
		{widget.Text(theme.Caution, " --- live"+liveNote(o))},
		{widget.Text(theme.Change, " +++ after"+absentNote(AfterBody(o))+computedNote(p, o))},
	}
	if o.Action == preview.ActionUnknown {
		s.Notes = append(s.Notes, frame.Plain(" the live object could not be read: what would change is not known"))
	}
	return s
}

// Replace has the view compare a created object with the one that it replaces under
// another name.
func (s *View) Replace(before *preview.Object) {
	s.replaces = before
	s.Notes[0] = widget.Line{widget.Text(theme.Caution, " --- "+frame.ObjectName(before.ID)+"  (deleted)")}
}

// Compared returns the object as it is compared: one that takes the place of another has
// that as the live one, under the new name.
func (s *View) Compared() *preview.Object {
	if s.replaces == nil {
		return s.Object
	}
	o := *s.Object
	o.LiveBody = preview.CloneBody(s.replaces.LiveBody)
	if meta := preview.Map(o.LiveBody, "metadata"); meta != nil {
		meta["name"] = o.Name
	}
	return &o
}

// liveNote says why there is no live object to compare with, empty if there is one.
func liveNote(o *preview.Object) string {
	if o.Action == preview.ActionUnknown && o.LiveBody == nil {
		return "  (not known)"
	}
	return absentNote(o.LiveBody)
}

func absentNote(body map[string]any) string {
	if body == nil {
		return "  (does not exist)"
	}
	return ""
}

// computedNote says that no dry run answered what the API server adds to the object.
func computedNote(p *preview.Plan, o *preview.Object) string {
	switch {
	case o.ResultBody != nil, o.Planned == nil, o.Action == preview.ActionDelete:
		return ""
	case o.Computed != nil && o.LiveBody != nil:
		return "  (merged here: no dry run answered)"
	case o.Computed != nil:
		return "  (defaults computed)"
	case o.LiveBody != nil && !o.Untouched() && p.Against == nil:
		return "  (server defaults not known)"
	}
	return ""
}

// Fill adds the comparison to a view and moves the cursor to its first line of interest.
func (s *View) Fill(c *Comparison) {
	s.Comparison = c
	if s.Kind == Diff && len(c.Starts) == 0 && len(c.Changes) == 0 {
		s.Notes = append(s.Notes, frame.Plain(" no difference"))
	}
	s.Build()
	s.Top = 0
	s.Reveal(c.opensAt)
}

// SetForm changes the form of a view and keeps the cursor on its line.
func (s *View) SetForm(form Form) {
	if s.Form == form || s.Kind == YAML {
		return
	}
	line := s.Line()
	s.Form = form
	s.Build()
	s.Reveal(line)
}

// Settle keeps the cursor within the rows, and the window of height rows around it.
func (s *View) Settle(height int) {
	s.Cursor = max(0, min(s.Cursor, len(s.Rows)-1))
	s.Top = min(s.Top, s.Cursor)
	s.Top = max(s.Top, s.Cursor-height+1)
	s.Top = max(0, min(s.Top, len(s.Rows)-height))
}

// MoveBy moves the cursor.
func (s *View) MoveBy(delta int) { s.Cursor = max(0, min(s.Cursor+delta, len(s.Rows)-1)) }

// Scroll moves the window by delta rows; the cursor moves only to stay in it.
func (s *View) Scroll(delta, height int) {
	s.Top = max(0, min(s.Top+delta, len(s.Rows)-height))
	s.Cursor = max(s.Top, min(s.Cursor, s.Top+height-1))
}

// Sideways scrolls the texts by delta cells, up to the end of the longest line.
func (s *View) Sideways(delta int) {
	if s.Comparison != nil {
		s.Left = max(0, min(s.Left+delta, s.Comparison.widest-1))
	}
}

// Line returns the index of the line under the cursor; for a fold or a changed
// field, of its first line. It is -1 on a note.
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

// ShowsLine reports whether the row under the cursor shows that line.
func (s *View) ShowsLine(line int) bool {
	if s.Cursor < 0 || s.Cursor >= len(s.Rows) {
		return false
	}
	r := s.Rows[s.Cursor]
	return line == s.Line() || r.Kind == rowPair && int(r.b) == line
}

// Path returns the path of the field under the cursor, empty if there is none.
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

// CopyText returns the text under the cursor, which the key y copies.
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

// Reveal moves the cursor to a line, and unfolds the lines around it if they
// are folded.
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

// Toggle unfolds the unchanged lines under the cursor, or folds them again. It
// returns false if there are none.
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

// refold folds the unfolded lines around a line again; false if it is not among such.
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

// Next moves the cursor to the next run of changes (step 1) or the previous one
// (-1); false if there is none.
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

// changePosition returns the position of the cursor in words, such as "change 2 of 5".
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

// Kind is what a detail pane shows of an object: facts, YAML or diff.
type Kind int

// The kinds of details.
const (
	Facts Kind = iota
	YAML
	Diff
)
