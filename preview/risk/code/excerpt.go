package code

import (
	"strings"
	"unicode/utf8"

	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// maxExcerpt bounds, in characters, what is shown of a text.
const maxExcerpt = 120

// Excerpt returns a text on one line, bounded in length, for evidence: blanks as
// one, what a terminal would obey spelled out, and no mark between pieces of
// evidence.
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
