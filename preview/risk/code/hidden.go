package code

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// farRight is the number of blanks in a line, or of empty lines in a text, after which
// code is out of a reader's sight.
const farRight = 120

// hidden adds a sign for characters that a reader does not see or misreads: those that
// change the order of text or have no width, letters that look like ASCII, and code
// behind many blanks.
func (r *reading) hidden(text string) {
	r.blanks(text)
	if isASCII(text) {
		return
	}
	for line := range strings.Lines(text) {
		if isASCII(line) {
			continue
		}
		if what := invisible(line); what != "" {
			r.add(Sign{Family: Hides, What: what, Excerpt: Excerpt(line), Strong: true})
		}
		if shown := textsafe.Block(line); spoofed(line, shown) {
			r.add(Sign{Family: Hides, What: "has letters that pass for others", Excerpt: Excerpt(line), Strong: true})
		}
	}
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// invisible returns words for the first invisible character of a line; empty if there
// is none.
func invisible(line string) string {
	runes := []rune(line)
	for i, c := range runes {
		switch {
		case c >= 0x202A && c <= 0x202E || c >= 0x2066 && c <= 0x2069:
			return "has characters that change the order of others"
		case c == 0xFEFF && i == 0:
		case c >= 0x200B && c <= 0x200D || c == 0x2060 || c == 0xFEFF || c == 0x00AD || c == 0x180E || c == 0x3164 || c == 0x115F || c == 0x1160 || c == 0xFFA0:
			if besideASCII(runes, i) {
				return "has characters without width"
			}
		case c >= 0xE0000 && c <= 0xE01EF:
			return "has characters without width"
		case c >= 0xFE00 && c <= 0xFE0F && besideASCII(runes, i) && i > 0 && runes[i-1] < 0x80 && !unicode.IsDigit(runes[i-1]) && runes[i-1] != '#' && runes[i-1] != '*':
			return "has characters without width"
		}
	}
	return ""
}

// besideASCII reports whether the characters on both sides are ASCII. Joiners between
// others are part of emoji and of scripts that need them.
func besideASCII(runes []rune, i int) bool {
	ascii := func(at int) bool { return at < 0 || at >= len(runes) || runes[at] < 0x80 }
	return ascii(i-1) && ascii(i+1)
}

// spoofed reports whether shown, the line made safe to print, has spelled out a letter
// of the line as <U+XXXX>, because the letter looks like ASCII.
func spoofed(line, shown string) bool {
	if line == shown {
		return false
	}
	for _, c := range line {
		if c >= 0x80 && unicode.IsLetter(c) && strings.Contains(shown, "<U+"+strings.ToUpper(pad(strconv.FormatInt(int64(c), 16)))+">") {
			return true
		}
	}
	return false
}

func pad(digits string) string {
	for len(digits) < 4 {
		digits = "0" + digits
	}
	return digits
}

// colour matches the escape sequences of colours and bold text, which hide nothing, but
// not that of concealed text (8).
var colour = lazyregexp.New(`^\x1b\[(?:(?:0|[1-7]|9|[1-9]\d+);)*(?:0|[1-7]|9|[1-9]\d+)?m`)

// blanks adds a sign for code behind so many blanks or empty lines that it is out of
// sight, or behind a carriage return, at which a terminal overwrites the line; and one
// for other characters that a terminal obeys, but for colours, if the text is no binary
// data.
func (r *reading) blanks(text string) {
	run, lines, content := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case ' ', '\v', '\f':
			run++
		case '\t':
			run += 8
		case '\n':
			run = 0
			lines++
			if i > 0 && text[i-1] == '\r' {
				continue
			}
		case '\x1b', '\b':
			if !colour.MatchString(text[i:]) && utf8.ValidString(text) && !strings.Contains(text, "\x00") {
				r.add(Sign{Family: Hides, What: "has control characters that a terminal obeys", Excerpt: excerptAt(text, i, i+1), Strong: true})
			}
			run, lines, content = 0, 0, true
		case '\r':
			if content && i+1 < len(text) && text[i+1] != '\n' && text[i+1] != '\r' {
				r.add(Sign{Family: Hides, What: "has code before a carriage return", Excerpt: excerptAt(text, i, i+1), Strong: true})
			}
		default:
			if run >= farRight {
				r.add(Sign{Family: Hides, What: "has code behind blanks, far to the right", Excerpt: Excerpt(text[i:]), Strong: true})
			}
			if lines > farRight && content {
				r.add(Sign{Family: Hides, What: "has code behind empty lines, far below", Excerpt: Excerpt(text[i:]), Strong: true})
			}
			run, lines, content = 0, 0, true
		}
	}
}
