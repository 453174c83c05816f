package textsafe

import (
	"strings"

	"github.com/rivo/uniseg"
)

// Width returns the number of terminal cells that printable text takes: two for a wide
// character, none for a combining one.
func Width(s string) int {
	if isPlain(s) {
		return len(s)
	}
	return uniseg.StringWidth(s)
}

// Truncate returns printable text cut to at most n cells. If something was cut, the
// last cell is "…".
func Truncate(s string, n int) string {
	if n <= 0 {
		return ""
	}
	if Width(s) <= n {
		return s
	}
	head, _, _ := cut(s, n-1)
	return head + "…"
}

// Clip returns any text as one printable line of at most n cells, see [Line] and
// [Truncate].
func Clip(s string, n int) string { return Truncate(Line(s), n) }

// cut splits text after as many whole characters as fit into n cells. used is the
// number of cells that head takes.
func cut(s string, n int) (head, tail string, used int) {
	rest, state := s, -1
	for rest != "" {
		_, next, width, newState := uniseg.FirstGraphemeClusterInString(rest, state)
		if used+width > n {
			break
		}
		used, rest, state = used+width, next, newState
	}
	return s[:len(s)-len(rest)], rest, used
}

// split cuts inside a grapheme cluster that alone is wider than n cells, as a row of
// combining letters can be: head has at least one rune, then as many as fit.
func split(s string, n int) (head, tail string) {
	used := 0
	for i, r := range s {
		used += Width(string(r))
		if i > 0 && used > n {
			return s[:i], s[i:]
		}
	}
	return s, ""
}

// Wrap breaks printable text into lines of at most n cells: at spaces if there are any,
// else within a word. The spaces at a break are removed, others stay. It returns at
// least one line.
func Wrap(s string, n int) []string { return wrap(s, n, Fold) }

// WrapWords is [Wrap] without breaks within a word, so that a longer one makes a longer line.
func WrapWords(s string, n int) []string {
	return wrap(s, n, func(word string, _ int) []string { return []string{word} })
}

func wrap(s string, n int, fold func(word string, n int) []string) []string {
	n = max(n, 2) // a wide character takes two
	var lines []string
	line, used := "", 0
	for s != "" {
		word := strings.TrimLeft(s, " ")
		gap := s[:len(s)-len(word)]
		if end := strings.IndexByte(word, ' '); end >= 0 {
			word, s = word[:end], word[end:]
		} else {
			s = ""
		}
		width := Width(word)
		if used+len(gap)+width <= n {
			line, used = line+gap+word, used+len(gap)+width
			continue
		}
		if used > 0 {
			lines = append(lines, strings.TrimRight(line, " "))
		}
		pieces := fold(word, n)
		lines = append(lines, pieces[:len(pieces)-1]...)
		line = pieces[len(pieces)-1]
		used = Width(line)
	}
	if used > 0 || len(lines) == 0 {
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return lines
}

// Fold breaks printable text into lines of n cells and keeps every character, for
// values whose spaces matter. It returns at least one line.
func Fold(s string, n int) []string {
	n = max(n, 2)
	var lines []string
	for width := Width(s); width > n; {
		head, tail, cells := cut(s, n)
		if head == "" {
			head, tail = split(s, n)
			cells = width - Width(tail)
		}
		lines = append(lines, head)
		s, width = tail, width-cells
	}
	return append(lines, s)
}
