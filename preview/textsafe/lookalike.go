package textsafe

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// latinTwins are Cyrillic, Greek and other letters that most fonts draw like
// an ASCII letter (a selection of Unicode TR 39, confusables.txt).
const latinTwins = "АВЕЅІЈКМНОРСТУХаеорсухѕіјһԁԛԝӏ" +
	"ΑΒΕΖΗΙΚΜΝΟΡΤΥΧανορυχιϲϳ" + "ոսօհցԱՍՕ" + "ɡɑɩ"

// spellOutLookAlikes writes the letters that pass for ASCII ones as <U+0430>
// where they stand in one word with real ones: "аpi" reads like "api" and is
// not. A word wholly of another script stays as it is.
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

// lookAlike covers the twins and the compatibility forms of ASCII letters:
// letterlike symbols, fullwidth, mathematical alphabets.
func lookAlike(r rune) bool {
	switch {
	case r < utf8.RuneSelf || !unicode.IsLetter(r):
		return false
	case r >= 0x2100 && r <= 0x214F, r >= 0xFF21 && r <= 0xFF5A, r >= 0x1D400 && r <= 0x1D7FF:
		return true
	}
	return strings.ContainsRune(latinTwins, r)
}
