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

// Role is the meaning of a piece of text; a theme derives the look from it.
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
	Fail         // failures; always with an x
	Rule         // separators: decoration only
	Key          // key names in the footer
	Current      // the open tab
	Lost         // the part of a line that goes
	Gained       // the part of a line that comes
	Old          // how it was when it was last seen; always with an "as of"
	Removed      // lines and fields that go, with a -
	Added        // lines and fields that come, with a +
	Field        // the name of a YAML field
	String       // a quoted YAML string
	Literal      // a YAML number, boolean or null
	roles
)

// Theme maps roles to terminal attributes (colour, bold, reverse). Two themes
// of the same options paint the same bytes.
type Theme struct {
	ascii  bool
	styles [roles]lipgloss.Style
}

// Scheme names a set of colours.
type Scheme string

// The colour schemes.
const (
	SchemeDefault    Scheme = "default"    // red and green
	SchemeColorblind Scheme = "colorblind" // yellow and blue, distinct to colour-blind eyes
)

// Schemes returns the names of all colour schemes.
func Schemes() []string { return []string{string(SchemeDefault), string(SchemeColorblind)} }

// Options choose a theme.
type Options struct {
	Color  bool   // false keeps bold and reverse only
	ASCII  bool   // no character beyond ASCII is painted
	Scheme Scheme // of colours; empty is SchemeDefault
}

// New makes a theme.
func New(o Options) Theme {
	bare := lipgloss.NewStyle()
	bold := bare.Bold(true)
	t := Theme{ascii: o.ASCII}
	t.styles = [roles]lipgloss.Style{
		Plain: bare, Heading: bold, Strong: bold, Risk: bold, Caution: bare, Change: bare,
		Good: bare, Fail: bold, Rule: bare, Key: bold, Current: bold.Reverse(true), Lost: bold, Gained: bold, Old: bare,
		Removed: bare, Added: bare, Field: bare, String: bare, Literal: bare,
	}
	if o.Color {
		t.color(o.Scheme)
	}
	return t
}

// color sets the colours of a scheme.
func (t *Theme) color(scheme Scheme) {
	bare, bold := lipgloss.NewStyle(), lipgloss.NewStyle().Bold(true)
	risk, lost, gained := lipgloss.Red, lipgloss.Red, lipgloss.Green
	if scheme == SchemeColorblind {
		risk, lost, gained = lipgloss.Magenta, lipgloss.Yellow, lipgloss.Blue
	}
	t.styles[Risk], t.styles[Fail] = bold.Foreground(risk), bold.Foreground(risk)
	t.styles[Caution] = bare.Foreground(lipgloss.Yellow)
	t.styles[Change] = bare.Foreground(lipgloss.Cyan)
	t.styles[Removed], t.styles[Lost] = bare.Foreground(lost), bold.Foreground(lost)
	t.styles[Added], t.styles[Gained] = bare.Foreground(gained), bold.Foreground(gained)
	t.styles[Good] = bare.Foreground(gained)
	t.styles[Old] = bare.Foreground(lipgloss.BrightBlack)
	t.styles[Rule] = bare.Foreground(lipgloss.BrightBlack)
	t.styles[Field] = bare.Foreground(lipgloss.Cyan)
	t.styles[String] = bare.Foreground(gained)
	t.styles[Literal] = bare.Foreground(lipgloss.Magenta)
}

// Paint returns the text with the attributes of its role. The text must be one
// printable line.
func (t Theme) Paint(r Role, text string) string {
	text = t.Encode(text)
	if r <= Plain || r >= roles || text == "" {
		return text
	}
	return t.styles[r].Render(text)
}

// PaintHit is [Theme.Paint] for a text that a search found: it is underlined as well.
func (t Theme) PaintHit(r Role, text string) string {
	if r < Plain || r >= roles || text == "" {
		return t.Paint(r, text)
	}
	return t.styles[r].Underline(true).Render(t.Encode(text))
}

// Select paints the selected row, or a part of it: reversed, without colours.
// With hit, a text that a search found, it is underlined.
func (t Theme) Select(text string, hit bool) string {
	if text == "" {
		return ""
	}
	return lipgloss.NewStyle().Reverse(true).Underline(hit).Render(t.Encode(text))
}

// Encode replaces characters that an ASCII terminal cannot show, each by as many cells.
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

// asciiForm are the ASCII characters for those that our screens are drawn with.
var asciiForm = map[rune]byte{'─': '-', '│': '|', '┬': '+', '┴': '+', '…': '>', '▾': 'v', '▸': '>', '┃': '#'}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x7f {
			return false
		}
	}
	return true
}
