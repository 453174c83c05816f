package widget

import (
	"strings"

	"github.com/rivo/uniseg"

	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
)

// Span is a piece of text with a role. The text is harmless: it has no control
// characters.
type Span struct {
	text string
	role theme.Role
	hit  bool // found by a search
}

// Text returns any text as a span, with escapes, bidi overrides and line breaks
// replaced by visible characters.
func Text(role theme.Role, text string) Span {
	return Span{text: textsafe.Line(text), role: role}
}

// Cell returns a span of exactly width cells: the text is cut with … or padded.
func Cell(role theme.Role, text string, width int) Span {
	return Span{text: fit(textsafe.Line(text), width), role: role}
}

// Tail returns a span of exactly width cells for a text of the form "KIND NAME". A
// name that is too long is cut at its beginning, because names differ at their end.
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

// Middle returns a span of at most width cells. A text that is too long is cut
// in its middle, after head cells, because similar texts differ at either end.
func Middle(role theme.Role, text string, head, width int) Span {
	safe := textsafe.Line(text)
	if over := textsafe.Width(safe) - width; over > 0 && width > 1 {
		begin := textsafe.Truncate(safe, min(head, width)) // ends with …
		safe = begin + dropCells(safe, over+textsafe.Width(begin))
	}
	return Span{text: safe, role: role}
}

// Line is one row of text, as spans. It is painted only when it is visible.
type Line []Span

// Plain returns the line's text without roles.
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

// Width returns how many cells the line takes.
func (l Line) Width() int {
	n := 0
	for _, s := range l {
		n += textsafe.Width(s.text)
	}
	return n
}

// Paint returns the line for the terminal, in exactly width cells.
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

// PaintSelected returns the line painted as the selected row, in exactly width cells.
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

// fit returns the line cut or padded to width cells. A cut line ends in ….
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

// KeepEnd returns a line of a name and the rest after it, in at most width cells.
// A name that is too long is cut at its beginning, and the rest is shown whole.
func KeepEnd(role theme.Role, name string, rest Line, width int) Line {
	span := Text(role, name)
	if room := width - rest.Width(); textsafe.Width(span.text) > room {
		span = Tail(role, name, max(1, room))
	}
	return append(Line{span}, rest...)
}

// From returns the line without its first cells, as scrolled to the right.
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

// dropCells returns a text without its first cells. If a wide character would
// be halved there, its other half becomes a blank.
func dropCells(s string, cells int) string {
	state := -1
	for cells > 0 && s != "" {
		var width int
		_, s, width, state = uniseg.FirstGraphemeClusterInString(s, state)
		cells -= width
	}
	return strings.Repeat(" ", max(0, -cells)) + s
}

// fit cuts a harmless text with …, or pads it, to exactly width cells.
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

// Blank returns an empty line.
func Blank() Line { return nil }

// Spread returns a line of width cells with left and right at its two ends. If
// both do not fit, left is cut.
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

// Wrap breaks a text at blanks into lines of at most width cells, each after
// indent. A word longer than a line is broken anywhere, so that nothing is cut
// off. Line breaks in the text are kept.
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
