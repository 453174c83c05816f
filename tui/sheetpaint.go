package tui

import (
	"cmp"
	"fmt"
	"strconv"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// canvas is where and how a sheet is drawn.
type canvas struct {
	theme         theme.Theme
	width, height int
	tiny          bool
	focused       bool
	find          widget.Find // what is searched for, nil for nothing
}

// sheetHead is how many lines stay above the lines that scroll: what is shown
// and where in it the cursor is, then the path of the field.
func sheetHead(tiny bool) int {
	if tiny {
		return 1
	}
	return 2
}

// paint draws the sheet, its head included.
func (s *sheet) paint(c canvas) []string {
	path := widget.Line{widget.Text(theme.Plain, " "), widget.Tail(theme.Strong, s.path(), max(1, c.width-2))}
	place := plain(s.place())
	var out []string
	if c.tiny {
		short := widget.Tail(theme.Strong, cmp.Or(s.path(), s.name), max(1, c.width-place.Width()-2))
		out = append(out, widget.Spread(widget.Line{widget.Text(theme.Plain, " "), short}, place, c.width).Paint(c.theme, c.width))
	} else {
		head := append(plain(" "), s.title(c.width-place.Width()-2)...)
		out = append(out, widget.Spread(head, place, c.width).Paint(c.theme, c.width), path.Paint(c.theme, c.width))
	}
	for i := s.top; len(out) < c.height; i++ {
		if i >= len(s.rows) {
			out = append(out, widget.Blank().Paint(c.theme, c.width))
			continue
		}
		mark := " "
		if i == s.cursor && c.focused {
			mark = ">"
		}
		out = append(out, s.paintRow(c, s.rows[i], mark))
	}
	return out
}

// title is what is shown and what happens to it, in so many cells.
func (s *sheet) title(width int) widget.Line {
	return nameAnd(theme.Strong, s.name, s.happens, width)
}

func (s *sheet) paintRow(c canvas, r sheetRow, mark string) string {
	switch r.kind {
	case rowNote:
		return s.notes[r.a].Paint(c.theme, c.width)
	case rowGap:
		return plain(mark+"     … "+preview.Plural(int(r.a), "unchanged line")).Paint(c.theme, c.width)
	case rowFold:
		text := mark + "  … " + preview.Plural(int(r.b-r.a), "unchanged line")
		if !c.tiny {
			text = mark + "     … " + preview.Plural(int(r.b-r.a), "unchanged line") + "   enter unfolds"
		}
		return plain(text).Paint(c.theme, c.width)
	case rowChange:
		return changeLine(mark, s.c.changes[r.a]).Find(c.find).Paint(c.theme, c.width)
	case rowPair:
		half := (c.width - 1) / 2
		left := s.side(c, mark, int(r.a), true, half)
		right := s.side(c, "", int(r.b), false, c.width-1-half)
		return left + c.theme.Paint(theme.Rule, "│") + right
	}
	l := s.c.lines[r.a]
	gutter := mark + s.numbers(c, l) + string(l.Op) + " "
	if s.kind == docYAML {
		gutter = mark + s.numbers(c, l)
	}
	return s.textLine(c, gutter, int(r.a), c.width)
}

// numbers are the line numbers before a line, as far as there is room.
func (s *sheet) numbers(c canvas, l diff.Line) string {
	digits := max(3, len(strconv.Itoa(s.c.last)))
	number := func(n int) string {
		if n == 0 {
			return fmt.Sprintf("%*s ", digits, "")
		}
		return fmt.Sprintf("%*d ", digits, n)
	}
	switch {
	case c.tiny:
		return ""
	case s.kind == docYAML:
		return number(l.To)
	case c.width < 70 && l.Op == diff.LineDelete:
		return number(l.From)
	case c.width < 70:
		return number(l.To)
	}
	return number(l.From) + number(l.To)
}

// side is one half of a row of two texts side by side.
func (s *sheet) side(c canvas, mark string, line int, live bool, width int) string {
	if line < 0 {
		return plain(mark).Paint(c.theme, width)
	}
	l := s.c.lines[line]
	number := l.To
	if live {
		number = l.From
	}
	digits := max(3, len(strconv.Itoa(s.c.last)))
	return s.textLine(c, fmt.Sprintf("%s%*d %s ", mark, digits, number, l.Op), line, width)
}

// textLine draws a line behind its gutter, which does not scroll sideways.
func (s *sheet) textLine(c canvas, gutter string, line, width int) string {
	role, part := theme.Plain, theme.Plain
	switch s.c.lines[line].Op {
	case diff.LineDelete:
		role, part = theme.Caution, theme.Lost
	case diff.LineInsert:
		role, part = theme.Change, theme.Gained
	}
	text, cut := begin(s.c.lines[line].Text, s.left+width)
	var parts widget.Line
	at := 0
	for _, span := range s.c.spans(line) {
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
	shown := append(widget.Line{widget.Text(role, gutter)}, parts.Find(c.find).From(s.left)...)
	return shown.Paint(c.theme, width)
}

// bytesPerCell is more than a character takes, four combining marks included.
const bytesPerCell = 24

// begin is as much of a text as fills some cells in any case, so that a line
// of a megabyte costs what a short one does.
func begin(text string, cells int) (string, bool) {
	n := bytesPerCell * (cells + 1)
	if len(text) <= n {
		return text, false
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n], true
}

// changeLine is one changed field: what it was, and what it would be.
func changeLine(mark string, c preview.Change) widget.Line {
	switch c.Op {
	case diff.OpAdd:
		return widget.Line{widget.Text(theme.Change, mark+" + "+c.Path), widget.Text(theme.Plain, "  "+short(c.To))}
	case diff.OpRemove:
		return widget.Line{widget.Text(theme.Caution, mark+" - "+c.Path), widget.Text(theme.Plain, "  "+short(c.From))}
	}
	return widget.Line{
		widget.Text(theme.Change, mark+" ~ "+c.Path), widget.Text(theme.Plain, "  "+short(c.From)+" -> "+short(c.To)),
	}
}

// cursorAt is the screen's cursor on the sheet: readers announce its line.
func (s *sheet) cursorAt(x, y int, tiny bool) *tea.Cursor {
	cursor := tea.NewCursor(x, y+sheetHead(tiny)+s.cursor-s.top)
	cursor.Blink = false
	return cursor
}
