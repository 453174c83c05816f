package tui

import (
	"fmt"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// sheetForm is how a sheet sets out its lines.
type sheetForm int

const (
	formUnified sheetForm = iota
	formBeside            // live and after side by side
	formPaths             // the changed fields, one a line
	formExact             // one text, nothing folded
)

// sheet shows the exact text of an object, or how it would change, line by
// line: with line numbers, a cursor, and the path of the field under it. Lines
// are drawn when they are visible; a sheet of 100,000 lines costs what one of
// ten does.
type sheet struct {
	object   *preview.Object // or
	file     *preview.File
	kind     docKind     // docYAML or docDiff
	name     string      // what is shown
	happens  widget.Line // stands behind it
	notes    []widget.Line
	c        *comparison // nil while it is made
	made     *comparing  // how far that is; nil where nobody has begun
	form     sheetForm
	unfolded map[int]bool // stretches of unchanged lines, by their first
	rows     []sheetRow

	cursor, top, left int
}

// rowKind says what a row of a sheet stands for.
type rowKind uint8

const (
	rowNote   rowKind = iota // a: of notes
	rowLine                  // a: of lines
	rowPair                  // a: deleted or equal line, b: inserted or equal line; -1 for none
	rowFold                  // unchanged lines from a up to b
	rowChange                // a: of changes
	rowGap                   // a lines that are not changed, and not known
)

type sheetRow struct {
	kind rowKind
	a, b int32
}

// newSheet begins a sheet; its comparison is put in when it is made.
func newSheet(p *preview.Plan, o *preview.Object, kind docKind) *sheet {
	s := &sheet{object: o, kind: kind, form: formUnified, unfolded: map[int]bool{}}
	s.name = objectName(o.ID)
	if kind == docYAML {
		s.form = formExact
		body, what := sentBody(p, o)
		s.happens = plain("   " + what)
		s.notes = append(s.notes, plain(" "+o.Digest))
		if place := o.Origin.Place(); place != "" {
			s.notes = append(s.notes, plain(" from "+place))
		}
		if body == nil {
			s.notes = append(s.notes, plain(" the object itself is not part of this plan file"))
		}
		return s
	}
	s.happens = widget.Line{widget.Text(actionRole(o.Action), "   "+o.Action.Symbol()+" "+string(o.Action))}
	s.notes = []widget.Line{
		{widget.Text(theme.Caution, " --- live"+absent(o.LiveBody))},
		{widget.Text(theme.Change, " +++ after"+absent(afterBody(o)))},
	}
	if o.Action == preview.ActionUnknown {
		s.notes = append(s.notes, plain(" the live object could not be read: what would change is not known"))
	}
	return s
}

func absent(body map[string]any) string {
	if body == nil {
		return "  (does not exist)"
	}
	return ""
}

// fill puts in the comparison and goes to where it opens.
func (s *sheet) fill(c *comparison) {
	s.c = c
	if s.kind == docDiff && len(c.starts) == 0 && len(c.changes) == 0 {
		s.notes = append(s.notes, plain(" no difference"))
	}
	s.build()
	s.top = 0
	s.reveal(c.opensAt)
}

// setForm sets out the lines in another way and stays at the line.
func (s *sheet) setForm(form sheetForm) {
	if s.form == form || s.kind == docYAML {
		return
	}
	line := s.line()
	s.form = form
	s.build()
	s.reveal(line)
}

// settle keeps the cursor in the sheet and in a window of height rows.
func (s *sheet) settle(height int) {
	s.cursor = max(0, min(s.cursor, len(s.rows)-1))
	s.top = min(s.top, s.cursor)
	s.top = max(s.top, s.cursor-height+1)
	s.top = max(0, min(s.top, len(s.rows)-height))
}

// by moves the cursor.
func (s *sheet) by(delta int) { s.cursor = max(0, min(s.cursor+delta, len(s.rows)-1)) }

// scroll moves the window; the cursor stays in it.
func (s *sheet) scroll(delta, height int) {
	s.top = max(0, min(s.top+delta, len(s.rows)-height))
	s.cursor = max(s.top, min(s.cursor, s.top+height-1))
}

// sideways scrolls the texts by cells, as far as they go.
func (s *sheet) sideways(delta int) {
	if s.c != nil {
		s.left = max(0, min(s.left+delta, s.c.widest-1))
	}
}

// line is the line under the cursor; where that is a fold or a changed path,
// the first one it stands for. It is -1 on notes.
func (s *sheet) line() int {
	if s.cursor < 0 || s.cursor >= len(s.rows) {
		return -1
	}
	switch r := s.rows[s.cursor]; r.kind {
	case rowLine, rowFold:
		return int(r.a)
	case rowPair:
		if r.a >= 0 {
			return int(r.a)
		}
		return int(r.b)
	case rowChange:
		return s.c.lineOf(s.c.changes[r.a])
	}
	return -1
}

// on reports whether the row under the cursor shows a line.
func (s *sheet) on(line int) bool {
	if s.cursor < 0 || s.cursor >= len(s.rows) {
		return false
	}
	r := s.rows[s.cursor]
	return line == s.line() || r.kind == rowPair && int(r.b) == line
}

// path is the field under the cursor.
func (s *sheet) path() string {
	if s.c == nil || s.cursor < 0 || s.cursor >= len(s.rows) {
		return ""
	}
	switch r := s.rows[s.cursor]; r.kind {
	case rowChange:
		return s.c.changes[r.a].Path
	case rowFold, rowNote, rowGap:
		return ""
	}
	return s.c.path(s.line())
}

// copyText is what y copies: the text under the cursor.
func (s *sheet) copyText() string {
	if s.c == nil || s.cursor < 0 || s.cursor >= len(s.rows) {
		return ""
	}
	switch r := s.rows[s.cursor]; r.kind {
	case rowChange:
		return s.c.changes[r.a].Path
	case rowLine, rowPair:
		return s.c.lines[s.line()].Text
	}
	return ""
}

// reveal puts the cursor on a line, and unfolds what hides it.
func (s *sheet) reveal(line int) {
	if s.c == nil || line < 0 || line >= len(s.c.lines) {
		return
	}
	if s.form == formPaths {
		path := s.c.path(line)
		s.cursor = max(0, slices.IndexFunc(s.rows, func(r sheetRow) bool { return r.kind == rowChange && s.c.changes[r.a].Path == path }))
		return
	}
	at := int32(line)
	for i, r := range s.rows {
		if r.kind == rowFold && r.a <= at && at < r.b {
			s.unfolded[int(r.a)] = true
			s.build()
			s.reveal(line)
			return
		}
		if r.kind == rowLine && r.a == at || r.kind == rowPair && (r.a == at || r.b == at) {
			s.cursor = i
			return
		}
	}
}

// toggle unfolds the stretch under the cursor or folds it again, and reports
// whether there was one.
func (s *sheet) toggle() bool {
	if s.c == nil || s.cursor < 0 || s.cursor >= len(s.rows) {
		return false
	}
	switch r := s.rows[s.cursor]; {
	case r.kind == rowFold:
		s.unfolded[int(r.a)] = true
		s.build()
		return true
	case r.kind == rowLine || r.kind == rowPair:
		return s.refold(s.line())
	}
	return false
}

// refold folds the unfolded stretch that a line is in.
func (s *sheet) refold(line int) bool {
	for first := line; first >= 0 && s.c.lines[first].Op == diff.LineEqual; first-- {
		if !s.unfolded[first] {
			continue
		}
		delete(s.unfolded, first)
		s.build()
		s.cursor = max(0, slices.IndexFunc(s.rows, func(r sheetRow) bool { return r.kind == rowFold && int(r.a) == first }))
		return true
	}
	return false
}

// next goes to the next or previous run of changes, and reports whether there
// is one.
func (s *sheet) next(step int) bool {
	if s.c == nil {
		return false
	}
	if s.form == formPaths {
		before := s.cursor
		s.by(step)
		return s.cursor != before
	}
	line := s.line()
	at, found := slices.BinarySearch(s.c.starts, line)
	if step < 0 {
		at--
	} else if found {
		at++
	}
	if at < 0 || at >= len(s.c.starts) {
		return false
	}
	s.reveal(s.c.starts[at])
	return true
}

// place says where the cursor is among the changes.
func (s *sheet) place() string {
	switch {
	case s.c == nil && s.made != nil:
		return fmt.Sprintf("comparing … %d%% ", s.made.percent())
	case s.c == nil:
		return "comparing … "
	case s.form == formPaths || len(s.c.lines) == 0 && len(s.c.changes) > 0:
		return fmt.Sprintf("%s ", preview.Plural(len(s.c.changes), "changed field"))
	case len(s.c.starts) > 0 && s.c.change(s.line()) == 0:
		return preview.Plural(len(s.c.starts), "change") + " "
	case len(s.c.starts) > 0:
		return fmt.Sprintf("change %d of %d ", s.c.change(s.line()), len(s.c.starts))
	case s.kind == docYAML && s.line() < 0:
		return preview.Plural(len(s.c.lines), "line") + " "
	case s.kind == docYAML:
		return fmt.Sprintf("line %d of %d ", s.line()+1, len(s.c.lines))
	}
	return ""
}

// docKind is what a detail shows.
type docKind int

const (
	docFacts docKind = iota
	docYAML
	docDiff
)
