// Package words is the phrasebook: it puts the typed facts of a plan into sentences for
// people. What the program decides never depends on them.
package words

import "strings"

// Joined returns the parts that are not empty, with a separator between them.
func Joined(separator string, parts ...string) string {
	var used []string
	for _, part := range parts {
		if part != "" {
			used = append(used, part)
		}
	}
	return strings.Join(used, separator)
}

// Prefixed returns a text after a prefix; empty if the text is.
func Prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// Enclosed returns a text in parentheses; empty without one.
func Enclosed(text string) string {
	if text == "" {
		return ""
	}
	return "(" + text + ")"
}
