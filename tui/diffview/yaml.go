package diffview

import (
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// literal matches YAML scalars that are not strings: numbers, true, false,
// null, {} and [].
var literal = lazyregexp.New(`^(?:-?[0-9]+(?:\.[0-9]+)?|true|false|null|~|\{\}|\[\])$`)

// yamlSpans splits a line of YAML into the name of a field and its value, each
// with its colour. begins says that a field begins in the line; a line inside a
// block of text only looks as if one did.
func yamlSpans(text string, begins bool) widget.Line {
	value := strings.TrimLeft(text, " ")
	for strings.HasPrefix(value, "- ") {
		value = strings.TrimLeft(value[2:], " ")
	}
	line := widget.Line{widget.Text(theme.Plain, text[:len(text)-len(value)])}
	if !begins {
		return append(line, widget.Text(theme.Plain, value))
	}
	if name := fieldName(value); name != "" {
		line = append(line, widget.Text(theme.Field, name), widget.Text(theme.Plain, value[len(name):len(name)+1]))
		value = value[len(name)+1:]
		blank := len(value) - len(strings.TrimLeft(value, " "))
		line, value = append(line, widget.Text(theme.Plain, value[:blank])), value[blank:]
	}
	return append(line, widget.Text(valueRole(value), value))
}

// fieldName returns the field name at the beginning of a line, before its
// colon; empty if there is none. A quoted name may contain colons.
func fieldName(text string) string {
	from := 0
	if text != "" && (text[0] == '"' || text[0] == '\'') {
		end := strings.Index(text[1:], text[:1]+":")
		if end < 0 {
			return ""
		}
		from = end + 2
	}
	for i := from; i < len(text); i++ {
		if text[i] == ':' && (i+1 == len(text) || text[i+1] == ' ') {
			return text[:i]
		}
	}
	return ""
}

func valueRole(value string) theme.Role {
	switch {
	case value == "":
		return theme.Plain
	case value[0] == '"' || value[0] == '\'':
		return theme.String
	case literal.MatchString(value):
		return theme.Literal
	}
	return theme.Plain
}
