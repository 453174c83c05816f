package widget

import (
	"strings"

	"github.com/rivo/uniseg"

	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
)

// Span is a piece of harmless text with a role.
type Span struct {
	text string
	role theme.Role
	hit  bool // found by a search
}

// Text makes a span of text from anywhere: escapes, bidi overrides and line
// breaks become visible characters.
func Text(role theme.Role, text string) Span {
	return Span{text: textsafe.Line(text), role: role}
}

// Cell makes a span of exactly width cells, cut with … or padded.
func Cell(role theme.Role, text string, width int) Span {
	return Span{text: fit(textsafe.Line(text), width), role: role}
}

// Tail makes a span of exactly width cells for text of the form "KIND NAME".
// What does not fit is cut from the start of the name: names differ at their
// end.
func Tail(role theme.Role, text string, width int) Span {
	safe := textsafe.Line(text)
	kind, name, ok := strings.Cut(safe, " ")
	if !ok || textsafe.Width(kind) > width/2 {
		kind, name = "", safe
	} else {
		kind += " "
	}
	if over := textsafe.Width(safe) - width; over > 0 && width > 0 {
		safe = kind + "…" + dropCells(name, over+1)
	}
	return Span{text: fit(safe, width), role: role}
}

// Middle makes a span of at most width cells. What does not fit is cut from the
// middle, after head cells: texts that are alike differ at either end.
func Middle(role theme.Role, text string, head, width int) Span {
	safe := textsafe.Line(text)
	if over := textsafe.Width(safe) - width; over > 0 && width > 1 {
		begin := textsafe.Truncate(safe, min(head, width)) // ends with …
		safe = begin + dropCells(safe, over+textsafe.Width(begin))
	}
	return Span{text: safe, role: role}
}

// Line is one row of text. Its parts are painted only when it is visible.
type Line []Span

// Plain is the line's text without roles.
func (l Line) Plain() string {
	if len(l) == 1 {
		return l[0].text
	}
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.text)
	}
	return b.String()
}

// Width is the number of cells the line takes.
func (l Line) Width() int {
	n := 0
	for _, s := range l {
		n += textsafe.Width(s.text)
	}
	return n
}

// Paint draws the line in exactly width cells.
func (l Line) Paint(t theme.Theme, width int) string {
	var b strings.Builder
	for _, s := range l.fit(width) {
		if s.hit {
			b.WriteString(t.PaintHit(s.role, s.text))
		} else {
			b.WriteString(t.Paint(s.role, s.text))
		}
	}
	return b.String()
}

// PaintSelected draws the line as the selected row, in exactly width cells.
func (l Line) PaintSelected(t theme.Theme, width int) string {
	var b strings.Builder
	text, hit := "", false // what looks the same is painted at once
	for _, s := range l.fit(width) {
		if s.hit != hit {
			b.WriteString(t.Select(text, hit))
			text, hit = "", s.hit
		}
		text += s.text
	}
	b.WriteString(t.Select(text, hit))
	return b.String()
}

// fit cuts or pads to a width. A cut line ends in ….
func (l Line) fit(width int) Line {
	if width <= 0 {
		return nil
	}
	missing := width - l.Width()
	if missing >= 0 {
		return append(l[:len(l):len(l)], Span{text: strings.Repeat(" ", missing)})
	}
	out := make(Line, 0, len(l)+1)
	used := 0
	for _, s := range l {
		w := textsafe.Width(s.text)
		if used+w > width-1 {
			s.text = fit(s.text+"…", width-used)
			return append(out, s)
		}
		out = append(out, s)
		used += w
	}
	return out
}

// KeepEnd is a name and what stands behind it, in at most width cells: of a name
// that is too long the front goes, so that the rest stays.
func KeepEnd(role theme.Role, name string, rest Line, width int) Line {
	span := Text(role, name)
	if room := width - rest.Width(); textsafe.Width(span.text) > room {
		span = Tail(role, name, max(1, room))
	}
	return append(Line{span}, rest...)
}

// From is the line scrolled to the right by some cells.
func (l Line) From(cells int) Line {
	if cells <= 0 {
		return l
	}
	out := make(Line, 0, len(l))
	for _, s := range l {
		w := textsafe.Width(s.text)
		if cells >= w {
			cells -= w
			continue
		}
		s.text = dropCells(s.text, cells)
		out = append(out, s)
		cells = 0
	}
	return out
}

// dropCells cuts whole characters off the left. Where the cut falls inside a
// wide character its other half becomes a blank.
func dropCells(s string, cells int) string {
	state := -1
	for cells > 0 && s != "" {
		var width int
		_, s, width, state = uniseg.FirstGraphemeClusterInString(s, state)
		cells -= width
	}
	return strings.Repeat(" ", max(0, -cells)) + s
}

// fit cuts with … or pads harmless text to exactly width cells.
func fit(s string, width int) string {
	if width <= 0 {
		return ""
	}
	if w := textsafe.Width(s); w <= width {
		return s + strings.Repeat(" ", width-w)
	}
	s = textsafe.Truncate(s, width)
	return s + strings.Repeat(" ", max(0, width-textsafe.Width(s)))
}

// Blank is an empty line.
func Blank() Line { return nil }

// Spread puts left and right at the two ends of a line of width cells. When
// they do not both fit, left is cut.
func Spread(left, right Line, width int) Line {
	room := width - right.Width()
	if room < 8 {
		return left.fit(width)
	}
	if left.Width() > room && !strings.HasPrefix(right.Plain(), " ") {
		left = append(left.fit(room-1), Text(theme.Plain, " "))
	}
	return append(left.fit(room), right...)
}

// Wrap breaks text at blanks into lines of at most width cells, each behind
// indent. A word longer than a line is broken anywhere: nothing is cut off.
// Line breaks in the text are kept.
func Wrap(role theme.Role, text string, width int, indent string) []Line {
	room := max(4, width-textsafe.Width(indent))
	var out []Line
	for _, paragraph := range strings.Split(textsafe.Block(text), "\n") {
		for _, piece := range textsafe.Wrap(textsafe.Line(paragraph), room) {
			out = append(out, Line{{text: indent}, {text: piece, role: role}})
		}
	}
	return out
}
