package code

import (
	"strings"
	"unicode/utf8"

	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// maxExcerpt is the most characters of a text that an excerpt shows.
const maxExcerpt = 120

// Excerpt returns a text as evidence shows it: on one line of at most maxExcerpt
// characters, with single blanks, control characters spelled out, and without "; ",
// which separates lines of evidence.
func Excerpt(text string) string {
	const room = 4 * maxExcerpt
	if len(text) > room {
		text = text[:room]
		for len(text) > 0 && !utf8.ValidString(text[max(0, len(text)-utf8.UTFMax):]) && !utf8.RuneStart(text[len(text)-1]) {
			text = text[:len(text)-1]
		}
	}
	line := textsafe.Line(strings.Join(strings.Fields(text), " "))
	return strings.ReplaceAll(textsafe.Truncate(line, maxExcerpt), "; ", ";␠")
}
