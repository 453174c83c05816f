package diffview

import (
	"cmp"
	"fmt"
	"strconv"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// Canvas holds the size and the theme for drawing a diff.
type Canvas struct {
	Theme         theme.Theme
	Width, Height int
	Tiny          bool
	Focused       bool
	Find          widget.Find // what is searched for, nil for nothing
}

// HeadHeight returns the number of lines above those that scroll: the title with
// the position of the cursor and, in larger windows, the path of the field.
func HeadHeight(tiny bool) int {
	if tiny {
		return 1
	}
	return 2
}

// Paint draws the view, with its head, in the size and theme of the canvas.
func (s *View) Paint(c Canvas) []string {
	path := widget.Line{widget.Text(theme.Plain, " "), widget.Tail(theme.Strong, s.Path(), max(1, c.Width-2))}
	place := frame.Plain(s.changePosition())
	var out []string
	if c.Tiny {
		short := widget.Tail(theme.Strong, cmp.Or(s.Path(), s.name), max(1, c.Width-place.Width()-2))
		out = append(out, widget.Spread(widget.Line{widget.Text(theme.Plain, " "), short}, place, c.Width).Paint(c.Theme, c.Width))
	} else {
		head := append(frame.Plain(" "), s.title(c.Width-place.Width()-2)...)
		out = append(out, widget.Spread(head, place, c.Width).Paint(c.Theme, c.Width), path.Paint(c.Theme, c.Width))
	}
	for i := s.Top; len(out) < c.Height; i++ {
		if i >= len(s.Rows) {
			out = append(out, widget.Blank().Paint(c.Theme, c.Width))
			continue
		}
		mark := " "
		if i == s.Cursor && c.Focused {
			mark = ">"
		}
		out = append(out, s.paintRow(c, s.Rows[i], mark))
	}
	return out
}

// title returns the name of the object and its action, in width cells.
func (s *View) title(width int) widget.Line {
	return frame.NameAndAction(theme.Strong, s.name, s.happens, width)
}

func (s *View) paintRow(c Canvas, r Row, mark string) string {
	switch r.Kind {
	case rowNote:
		return s.Notes[r.A].Paint(c.Theme, c.Width)
	case RowGap:
		return frame.Plain(mark+"     … "+preview.Plural(int(r.A), "unchanged line")).Paint(c.Theme, c.Width)
	case RowFold:
		text := mark + "  … " + preview.Plural(int(r.b-r.A), "unchanged line")
		if !c.Tiny {
			text = mark + "     … " + preview.Plural(int(r.b-r.A), "unchanged line") + "   enter unfolds"
		}
		return frame.Plain(text).Paint(c.Theme, c.Width)
	case rowChange:
		return s.changeLine(mark, int(r.A), c.Width).Find(c.Find).Paint(c.Theme, c.Width)
	case rowPair:
		half := (c.Width - 1) / 2
		left := s.side(c, mark, int(r.A), true, half)
		right := s.side(c, "", int(r.b), false, c.Width-1-half)
		return left + c.Theme.Paint(theme.Rule, "│") + right
	}
	l := s.Comparison.Lines[r.A]
	gutter := mark + s.numbers(c, l) + string(l.Op) + " "
	if s.Kind == YAML {
		gutter = mark + s.numbers(c, l)
	}
	return s.textLine(c, gutter, int(r.A), c.Width)
}

// narrow is the width, in cells, below which a line has one line number instead of two.
const narrow = 66

// numbers returns the line numbers before a line: in the old and the new text,
// as far as there is room.
func (s *View) numbers(c Canvas, l diff.Line) string {
	digits := max(3, len(strconv.Itoa(s.Comparison.last)))
	number := func(n int) string {
		if n == 0 {
			return fmt.Sprintf("%*s ", digits, "")
		}
		return fmt.Sprintf("%*d ", digits, n)
	}
	switch {
	case c.Tiny:
		return ""
	case s.Kind == YAML:
		return number(l.To)
	case c.Width < narrow && l.Op == diff.LineDelete:
		return number(l.From)
	case c.Width < narrow:
		return number(l.To)
	}
	return number(l.From) + number(l.To)
}

// side draws one half of a row that shows two texts side by side; live says which.
func (s *View) side(c Canvas, mark string, line int, live bool, width int) string {
	if line < 0 {
		return frame.Plain(mark).Paint(c.Theme, width)
	}
	l := s.Comparison.Lines[line]
	number := l.To
	if live {
		number = l.From
	}
	digits := max(3, len(strconv.Itoa(s.Comparison.last)))
	return s.textLine(c, fmt.Sprintf("%s%*d %s ", mark, digits, number, l.Op), line, width)
}

// textLine draws a line of text after its gutter (mark and line numbers). The
// text is scrolled sideways, the gutter is not.
func (s *View) textLine(c Canvas, gutter string, line, width int) string {
	role, part := theme.Plain, theme.Plain
	switch s.Comparison.Lines[line].Op {
	case diff.LineDelete:
		role, part = theme.Removed, theme.Lost
	case diff.LineInsert:
		role, part = theme.Added, theme.Gained
	}
	text, cut := Prefix(s.Comparison.Lines[line].Text, s.Left+width)
	var parts widget.Line
	if s.Kind == YAML {
		_, begins := s.Comparison.ownPath(s.Comparison.Lines[line])
		parts = yamlSpans(text, begins)
		text = ""
	}
	at := 0
	for _, span := range s.Comparison.spans(line) {
		start, end := min(span.Start, len(text)), min(span.End, len(text))
		if start < at || start >= end {
			continue
		}
		parts = append(parts, widget.Text(role, text[at:start]), widget.Text(part, text[start:end]))
		at = end
	}
	parts = append(parts, widget.Text(role, text[at:]))
	if cut {
		parts = append(parts, widget.Text(role, "…"))
	}
	shown := append(widget.Line{widget.Text(role, gutter)}, parts.Find(c.Find).From(s.Left)...)
	return shown.Paint(c.Theme, width)
}

// bytesPerCell is more bytes than the character in one cell takes, with four
// combining marks.
const bytesPerCell = 24

// Prefix returns the beginning of a text, enough to fill some cells in any case,
// and whether it is cut. So a line of a megabyte costs no more than a short one.
func Prefix(text string, cells int) (string, bool) {
	n := bytesPerCell * (cells + 1)
	if len(text) <= n {
		return text, false
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n], true
}

// changeLine returns the i-th changed field as a row: path, old value, new value. A long
// text is cut where it is equal to the rows around it, or to the other value.
func (s *View) changeLine(mark string, i, width int) widget.Line {
	c := s.Comparison.Changes[i].Readable()
	sign, role, values := " ~ ", theme.Change, []string{frame.ShortValue(c.From), frame.ShortValue(c.To)}
	switch c.Op {
	case diff.OpAdd:
		sign, role, values = " + ", theme.Added, values[1:]
	case diff.OpRemove:
		sign, role, values = " - ", theme.Removed, values[:1]
	}
	const gap, arrow = "  ", " -> "
	line := widget.Line{widget.Text(role, mark+sign)}
	room := width - line.Width() - len(gap) - (len(values)-1)*len(arrow)
	path, need := textsafe.Width(textsafe.Line(c.Path)), 0
	for _, v := range values {
		need += textsafe.Width(textsafe.Line(v))
	}
	path = max(1, min(path, max(room*3/5, room-need)))
	at := widget.DifferencesAmong(len(s.Comparison.Changes), i, func(i int) string { return s.Comparison.Changes[i].Path })
	line = append(line, widget.Apart(role, c.Path, at, path), widget.Text(theme.Plain, gap))
	room -= path
	for i, v := range values {
		if i > 0 {
			line = append(line, widget.Text(theme.Plain, arrow))
		}
		cells := min(textsafe.Width(textsafe.Line(v)), max(1, room/(len(values)-i)))
		if i+1 < len(values) { // the other has what this one leaves
			cells = min(textsafe.Width(textsafe.Line(v)), max(cells, room-textsafe.Width(textsafe.Line(values[1]))))
		}
		line = append(line, widget.Apart(theme.Plain, v, widget.DifferencesFrom(v, values...), cells))
		room -= cells
	}
	return line
}

// CursorAt returns the terminal's cursor, on the row under the view's cursor,
// which screen readers announce; x and y are where the view is drawn.
func (s *View) CursorAt(x, y int, tiny bool) *tea.Cursor {
	cursor := tea.NewCursor(x, y+HeadHeight(tiny)+s.Cursor-s.Top)
	cursor.Blink = false
	return cursor
}
