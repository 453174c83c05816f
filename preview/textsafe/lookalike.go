package textsafe

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// latinTwins are the Cyrillic, Greek and other letters that most fonts draw like an
// ASCII letter (a selection of Unicode TR 39, confusables.txt).
const latinTwins = "АВЕЅІЈКМНОРСТУХаеорсухѕіјһԁԛԝӏ" +
	"ΑΒΕΖΗΙΚΜΝΟΡΤΥΧανορυχιϲϳ" + "ոսօհցԱՍՕ" + "ɡɑɩ"

// spellOutLookAlikes writes letters that look like ASCII ones as <U+0430> if they are
// in one word with ASCII letters: "аpi" with a Cyrillic а reads like "api" and is
// another word. A word wholly of another script stays as it is.
func spellOutLookAlikes(s string) string {
	if !strings.ContainsFunc(s, lookAlike) {
		return s
	}
	var out strings.Builder
	for len(s) > 0 {
		end := strings.IndexFunc(s, func(r rune) bool { return !wordRune(r) })
		switch end {
		case -1:
			end = len(s)
		case 0:
			end = strings.IndexFunc(s, wordRune)
			if end < 0 {
				end = len(s)
			}
			out.WriteString(s[:end])
			s = s[end:]
			continue
		}
		spellOutWord(&out, s[:end])
		s = s[end:]
	}
	return out.String()
}

func spellOutWord(out *strings.Builder, word string) {
	if !strings.ContainsFunc(word, asciiLetter) {
		out.WriteString(word)
		return
	}
	for _, r := range word {
		if lookAlike(r) {
			out.WriteString(escapeRune(r))
		} else {
			out.WriteRune(r)
		}
	}
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) }

func asciiLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// lookAlike reports whether r can be mistaken for an ASCII letter: one of [latinTwins],
// or a compatibility form (letterlike symbols, fullwidth, mathematical alphabets).
func lookAlike(r rune) bool {
	switch {
	case r < utf8.RuneSelf || !unicode.IsLetter(r):
		return false
	case r >= 0x2100 && r <= 0x214F, r >= 0xFF21 && r <= 0xFF5A, r >= 0x1D400 && r <= 0x1D7FF:
		return true
	}
	return strings.ContainsRune(latinTwins, r)
}
