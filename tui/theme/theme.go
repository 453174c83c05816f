// Package theme holds every colour and box-drawing character of the screens.
// Meaning is carried by symbol, word and position; colour only repeats it. The
// 16 ANSI colours are used, so the user's own theme decides contrast.
package theme

import (
	"strings"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	"github.com/rivo/uniseg"
)

// Role says what a piece of text is, not how it looks.
type Role int

// The roles.
const (
	Plain   Role = iota
	Heading      // section titles
	Strong       // names and digests that must stand out
	Risk         // critical findings
	Caution      // warnings and what is not known
	Change       // what an apply modifies
	Good         // ready, looked at
	Fail         // failures; always beside an x
	Rule         // separators: decoration only
	Key          // key names in the footer
	Current      // the open tab
	Lost         // the part of a line that goes
	Gained       // the part of a line that comes
	Old          // how it was when it was last seen; always beside an "as of"
	roles
)

// Theme turns roles into terminal attributes. It is a value: two themes of the
// same options paint the same bytes.
type Theme struct {
	ascii  bool
	styles [roles]lipgloss.Style
}

// Options choose a theme.
type Options struct {
	Color bool // false keeps bold and reverse only
	ASCII bool // no character beyond ASCII is painted
}

// New makes a theme.
func New(o Options) Theme {
	bare := lipgloss.NewStyle()
	bold := bare.Bold(true)
	t := Theme{ascii: o.ASCII}
	t.styles = [roles]lipgloss.Style{
		Plain: bare, Heading: bold, Strong: bold, Risk: bold, Caution: bare, Change: bare,
		Good: bare, Fail: bold, Rule: bare, Key: bold, Current: bold.Reverse(true), Lost: bold, Gained: bold, Old: bare,
	}
	if o.Color {
		t.styles[Risk] = bold.Foreground(lipgloss.Yellow)
		t.styles[Caution] = bare.Foreground(lipgloss.Yellow)
		t.styles[Change] = bare.Foreground(lipgloss.Blue)
		t.styles[Lost] = bold.Foreground(lipgloss.Yellow)
		t.styles[Gained] = bold.Foreground(lipgloss.Blue)
		t.styles[Good] = bare.Foreground(lipgloss.Blue)
		t.styles[Fail] = bold.Foreground(lipgloss.Red)
		t.styles[Old] = bare.Foreground(lipgloss.BrightBlack)
		t.styles[Rule] = bare.Foreground(lipgloss.BrightBlack)
	}
	return t
}

// Paint gives text the look of its role. Text must be one printable line.
func (t Theme) Paint(r Role, text string) string {
	text = t.Encode(text)
	if r <= Plain || r >= roles || text == "" {
		return text
	}
	return t.styles[r].Render(text)
}

// PaintHit is [Theme.Paint] of what a search found: underlined as well.
func (t Theme) PaintHit(r Role, text string) string {
	if r < Plain || r >= roles || text == "" {
		return t.Paint(r, text)
	}
	return t.styles[r].Underline(true).Render(t.Encode(text))
}

// Select paints the selected row, or a part of it: reversed, without colours
// of its own. What a search found is underlined.
func (t Theme) Select(text string, hit bool) string {
	if text == "" {
		return ""
	}
	return lipgloss.NewStyle().Reverse(true).Underline(hit).Render(t.Encode(text))
}

// Encode replaces what an ASCII terminal cannot show, cell for cell.
func (t Theme) Encode(text string) string {
	if !t.ascii || isASCII(text) {
		return text
	}
	var b strings.Builder
	state := -1
	for text != "" {
		var char string // of one or more runes
		var width int
		char, text, width, state = uniseg.FirstGraphemeClusterInString(text, state)
		r, size := utf8.DecodeRuneInString(char)
		switch {
		case isASCII(char):
			b.WriteString(char)
		case size == len(char) && asciiForm[r] != 0:
			b.WriteByte(asciiForm[r])
		default:
			b.WriteString(strings.Repeat("?", width))
		}
	}
	return b.String()
}

// asciiForm are the glyphs of our own.
var asciiForm = map[rune]byte{'─': '-', '│': '|', '┬': '+', '┴': '+', '…': '~', '▾': 'v', '▸': '>'}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x7f {
			return false
		}
	}
	return true
}
