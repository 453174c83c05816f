// Package textsafe makes untrusted text printable. Everything that a bundle, a
// catalog, a cluster or a saved plan says may carry terminal escape sequences,
// bidirectional overrides, invisible characters or letters that pass for
// others; here they become visible text of known width.
//
// [Line] and [Block] escape strings that are put into a layout, [Writer] is
// the net under all human output, [JSON] does the same for machine output
// without changing its meaning.
//
// Escaping is for eyes, not for decoding: the text `\x1b` and the escaped
// control character look alike.
package textsafe

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	tabStop = 8
	// maxMarks is how many combining marks may follow one base character (4). No living
	// script needs more; longer stacks would be drawn over the lines around them.
	maxMarks = 4
	// newlineMark stands for a line break in text that must stay on one line.
	newlineMark = "␤"
)

// Line returns s as one printable line: controls as \x1b, C1 controls as
// \u009b, bytes that are not UTF-8 as \xff, line breaks as ␤, bidirectional,
// zero-width, private and unassigned characters as <U+202E>, tabs expanded to
// stops of 8 cells. It is idempotent.
func Line(s string) string {
	if isPlain(s) {
		return s
	}
	e := escaper{newline: newlineMark, afterEscape: true}
	return spellOutLookAlikes(e.run(s))
}

// Block is like [Line] for text of several lines: line breaks (\n, \r\n) stay.
func Block(s string) string {
	if isPlain(s) {
		return s
	}
	e := escaper{newline: "\n", afterEscape: true}
	return spellOutLookAlikes(e.run(s))
}

// Hostile reports whether s contains characters that honest text does not have and that
// a terminal would obey or hide: that alone is a finding. Tabs, line breaks and emoji
// presentation selectors are escaped or expanded, but are not hostile.
func Hostile(s string) bool {
	start := plainEnd(s)
	if start == len(s) {
		return false
	}
	var before rune
	for i, r := range s {
		switch {
		case i < start:
		case r == utf8.RuneError && invalidAt(s[i:]):
			return true
		case r == '\n' || r == '\t':
		case r == '\r' && strings.HasPrefix(s[i+1:], "\n"):
		case (r == 0xFE0E || r == 0xFE0F) && unicode.Is(unicode.So, before):
		case !Printable(r):
			return true
		}
		before = r
	}
	return spellOutLookAlikes(s) != s
}

// Printable reports whether a terminal shows r as itself, without side effect:
// not a control, format, private or unassigned character, not a line or
// paragraph separator, and not one that Unicode wants ignored or that only
// selects a variant of its neighbour.
func Printable(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 0x20 && r != 0x7f
	}
	return unicode.IsGraphic(r) &&
		!unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// isPlain reports whether s is printable ASCII, as nearly all text is.
func isPlain(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// plainEnd returns the length in bytes of the beginning of s that is printable ASCII,
// tabs and line breaks, as nearly all of a long text is. It compares eight bytes at a
// time, as every text of a package passes here.
func plainEnd(s string) int {
	for i := 0; i < len(s); i++ {
		for i+8 <= len(s) && printableWord(s[i:i+8]) {
			i += 8
		}
		if i == len(s) || i > len(s)-8 && len(s) >= 8 && printableWord(s[len(s)-8:]) {
			return len(s) // the last bytes once more, with those before them
		}
		switch c := s[i]; {
		case c >= 0x20 && c < 0x7f, c == '\n', c == '\t':
		case c == '\r' && i+1 < len(s) && s[i+1] == '\n':
		default:
			return i
		}
	}
	return len(s)
}

// printableWord reports whether all of eight bytes are printable ASCII: none has its
// high bit set, none borrows when a space is subtracted, and none reaches the high bit
// when one is added, as DEL would.
func printableWord(s string) bool {
	const each, high = 0x0101010101010101, 0x8080808080808080
	_ = s[7]
	x := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	return (x|(x-each*0x20)|(x+each))&high == 0
}

// invalidAt reports whether s begins with a byte that is not UTF-8; an encoded U+FFFD,
// which decodes to the same rune, is not one.
func invalidAt(s string) bool {
	r, size := utf8.DecodeRuneInString(s)
	return r == utf8.RuneError && size <= 1
}

// escaper is the state machine of [Line], [Block] and [Writer] for escaping text.
type escaper struct {
	newline string // what a line break becomes
	ascii   bool   // spell out everything that is not ASCII

	out         strings.Builder
	segment     int // offset in out of the current tab segment
	column      int // cells before segment, modulo tabStop
	marks       int // combining marks since the last base character
	afterEscape bool
}

func (e *escaper) run(s string) string {
	e.out.Grow(len(s) + len(s)/8)
	for len(s) > 0 {
		s = s[e.next(s):]
	}
	return e.out.String()
}

// next writes the first character of s, escaped, to out and returns its length in
// bytes.
func (e *escaper) next(s string) int {
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case r == utf8.RuneError && size <= 1:
		e.escape(fmt.Sprintf(`\x%02x`, s[0]))
		return 1
	case r == '\n':
		e.lineBreak()
	case r == '\r' && len(s) > 1 && s[1] == '\n':
		e.lineBreak()
		return 2
	case r == '\t':
		e.tab()
	case e.ascii && r >= utf8.RuneSelf:
		e.escape(asciiFor(r))
	case unicode.In(r, unicode.Mn, unicode.Me) && Printable(r):
		e.mark(r)
	case Printable(r):
		e.out.WriteRune(r)
		e.marks, e.afterEscape = 0, false
	default:
		e.escape(escapeRune(r))
	}
	return size
}

// escapeRune returns the visible text for a character that is not printed as itself:
// \r, \x1b, \u009b or <U+202E>.
func escapeRune(r rune) string {
	switch {
	case r == '\r':
		return `\r`
	case r < utf8.RuneSelf:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= 0x9f:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf("<U+%04X>", r)
}

// asciiFor returns ASCII text for a character: a plain equivalent for those that this
// program writes itself (… and ␤), for others the text of [escapeRune].
func asciiFor(r rune) string {
	switch r {
	case '…':
		return "..."
	case '␤':
		return `\n`
	}
	return escapeRune(r)
}

func (e *escaper) escape(text string) {
	e.out.WriteString(text)
	e.afterEscape = true
}

func (e *escaper) lineBreak() {
	e.out.WriteString(e.newline)
	e.afterEscape = true
	if e.newline == "\n" {
		e.segment, e.column = e.out.Len(), 0
	}
}

// mark writes a combining mark, escaped if there is no base character before it in the
// text (it would change the program's own text) or more than [maxMarks].
func (e *escaper) mark(r rune) {
	if e.marks++; e.afterEscape || e.marks > maxMarks {
		e.escape(escapeRune(r))
		return
	}
	e.out.WriteRune(r)
}

func (e *escaper) tab() {
	column := e.column + Width(stripSGR(e.out.String()[e.segment:]))
	e.out.WriteString("        "[:tabStop-column%tabStop])
	e.segment, e.column = e.out.Len(), 0
	e.marks, e.afterEscape = 0, false
}
