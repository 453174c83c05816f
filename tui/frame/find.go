package frame

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// maxProgram is the largest size of a compiled regular expression. The time of
// a match grows in proportion to that size and to the text.
const maxProgram = 500

// Finder compiles what was typed into a search: a text, or a regular expression
// after "re:". It is nil for an empty query; a wrong expression is an error.
func Finder(query string) (widget.Find, error) {
	expr, isExpr := strings.CutPrefix(query, "re:")
	lower := strings.ToLower(query) == query
	switch {
	case isExpr:
	case query == "":
		return nil, nil
	case lower && IsASCII(query):
		return func(text string) [][]int { return allIndexes(query, text, FoldIndex) }, nil
	case lower:
		expr = "(?i)" + regexp.QuoteMeta(query)
	default:
		return func(text string) [][]int { return allIndexes(query, text, strings.Index) }, nil
	}
	parsed, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("not a regular expression: %w", err)
	}
	if program, err := syntax.Compile(parsed.Simplify()); err != nil || len(program.Inst) > maxProgram {
		return nil, errors.New("this regular expression is too large: use fewer or smaller repetitions")
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("not a regular expression: %w", err)
	}
	return func(text string) [][]int { return re.FindAllStringIndex(text, -1) }, nil
}

// IsASCII reports whether a text has nothing but ASCII characters.
func IsASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// allIndexes returns start and end of each place of a query in a text; index
// finds the first one.
func allIndexes(query, text string, index func(text, query string) int) [][]int {
	var out [][]int
	for at := 0; ; {
		i := index(text[at:], query)
		if i < 0 {
			return out
		}
		out = append(out, []int{at + i, at + i + len(query)})
		at += i + len(query)
	}
}

// FoldIndex returns the first index of a query, in small ASCII letters, in a
// text whose case is ignored; -1 if there is none.
func FoldIndex(text, query string) int {
	for i := 0; i+len(query) <= len(text); i++ {
		k := 0
		for k < len(query) && lowerASCII(text[i+k]) == query[k] {
			k++
		}
		if k == len(query) {
			return i
		}
	}
	return -1
}

func lowerASCII(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + ('a' - 'A')
	}
	return c
}
