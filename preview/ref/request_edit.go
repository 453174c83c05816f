package ref

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

var errNotPlain = errors.New("it is written in a way that cannot be edited; write it plainly, one key to a line")

// write applies the edit to text below a YAML node: it replaces the value at the edit's
// path, or inserts the keys of the path that are missing.
func (e edit) write(text []byte, node *yaml.Node) ([]byte, error) {
	for depth, step := range e.path {
		key, value := child(node, step)
		switch {
		case value == nil:
			name, ok := step.(string)
			if !ok {
				return nil, errNotPlain
			}
			return insert(text, node, name, nested(e.path[depth+1:], e.value))
		case depth == len(e.path)-1:
			out, err := replace(text, value, quoteLike(value, e.value))
			if err != nil || e.key == "" {
				return out, err
			}
			return replace(out, key, quoteLike(key, e.key))
		case isEmptyNode(value):
			return replace(text, value, flow(nested(e.path[depth+1:], e.value)))
		}
		node = value
	}
	return nil, errNotPlain
}

// child returns the key and value nodes that one step of a path, a key or an index,
// leads to; nil if there are none.
func child(node *yaml.Node, step any) (key, value *yaml.Node) {
	switch step := step.(type) {
	case int:
		if node.Kind == yaml.SequenceNode && step < len(node.Content) {
			return nil, node.Content[step]
		}
	case string:
		if node.Kind != yaml.MappingNode {
			return nil, nil
		}
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == step {
				return node.Content[i], node.Content[i+1]
			}
		}
	}
	return nil, nil
}

// isEmptyNode reports whether a node is {} or null, so that keys can be inserted.
func isEmptyNode(n *yaml.Node) bool {
	return n.Kind == yaml.MappingNode && len(n.Content) == 0 || n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// nested returns a value in maps nested by the keys of a path: a.b gives {a: {b:
// value}}.
func nested(path []any, value string) any {
	var v any = value
	for i := len(path) - 1; i >= 0; i-- {
		key, _ := path[i].(string)
		v = map[string]any{key: v}
	}
	return v
}

// flow returns a value on one line, as JSON, which is valid YAML.
func flow(v any) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(v) // maps and strings
	return strings.TrimRight(b.String(), "\n")
}

// insert returns text with a key and its value added before the first key of a mapping.
func insert(text []byte, node *yaml.Node, key string, value any) ([]byte, error) {
	if node.Kind != yaml.MappingNode {
		return nil, errNotPlain
	}
	if len(node.Content) == 0 {
		return replace(text, node, flow(map[string]any{key: value}))
	}
	first := node.Content[0]
	at, err := offset(text, first)
	if err != nil {
		return nil, err
	}
	var added string
	if node.Style&yaml.FlowStyle != 0 {
		added = flow(key) + ": " + flow(value) + ", "
	} else {
		indent := "\n" + strings.Repeat(" ", first.Column-1)
		added = block(key, value, indent) + indent
	}
	return splice(text, at, at, added), nil
}

// block returns a key and its nested values as YAML lines, one key per line. indent is
// a line break and the spaces before key.
func block(key string, value any, indent string) string {
	m, ok := value.(map[string]any)
	if !ok {
		text, _ := value.(string)
		return key + ": " + quoteLike(&yaml.Node{Kind: yaml.ScalarNode}, text)
	}
	out := key + ":"
	for below, v := range m {
		out += indent + "  " + block(below, v, indent+"  ")
	}
	return out
}

// replace returns text with a scalar node, an alias or an empty mapping replaced.
func replace(text []byte, node *yaml.Node, with string) ([]byte, error) {
	at, err := offset(text, node)
	if err != nil {
		return nil, err
	}
	rest := text[at:]
	var length int
	switch {
	case node.Kind == yaml.AliasNode:
		length = len("*") + len(node.Value)
	case node.Kind == yaml.MappingNode && bytes.HasPrefix(rest, []byte("{")): // an empty one
		length = bytes.IndexByte(rest, '}') + 1
	case node.Kind != yaml.ScalarNode:
		return nil, errNotPlain
	case node.Style&yaml.DoubleQuotedStyle != 0:
		length = quotedLength(rest, '"', '\\')
	case node.Style&yaml.SingleQuotedStyle != 0:
		length = quotedLength(rest, '\'', '\'')
	case node.Style&(yaml.LiteralStyle|yaml.FoldedStyle|yaml.TaggedStyle) == 0 && bytes.HasPrefix(rest, []byte(node.Value)):
		length = len(node.Value)
	}
	if length == 0 && node.Value != "" {
		return nil, errNotPlain
	}
	if length == 0 { // nothing stands there: "key:"
		with = " " + with
	}
	return splice(text, at, at+length, with), nil
}

// quotedLength returns the length in bytes of the quoted scalar at the beginning of
// text, including its quotes; 0 if it does not end.
func quotedLength(text []byte, quote, escape byte) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == escape && escape != quote, text[i] == quote && escape == quote && i+1 < len(text) && text[i+1] == quote:
			i++
		case text[i] == quote:
			return i + 1
		}
	}
	return 0
}

// quoteLike returns a scalar plain if node, which it replaces, is plain and YAML allows
// it, else in double quotes.
func quoteLike(node *yaml.Node, value string) string {
	var probe yaml.Node
	plain := node.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) == 0 && node.Kind == yaml.ScalarNode &&
		!strings.ContainsAny(value, "?,[]{}") // which may end a plain scalar on one line with others
	if err := yaml.Unmarshal([]byte("- "+value), &probe); plain && err == nil && len(probe.Content) == 1 {
		item := probe.Content[0]
		if item.Kind == yaml.SequenceNode && len(item.Content) == 1 && item.Content[0].ShortTag() == "!!str" && item.Content[0].Value == value {
			return value
		}
	}
	return flow(value)
}

// offset returns the position of a node in the text, in bytes. The node's line and
// column count from one, the column in characters.
func offset(text []byte, node *yaml.Node) (int, error) {
	at := 0
	for line := 1; line < node.Line; line++ {
		next := bytes.IndexByte(text[at:], '\n')
		if next < 0 {
			return 0, errNotPlain
		}
		at += next + 1
	}
	for column := 1; column < node.Column; column++ {
		if at >= len(text) || text[at] == '\n' {
			return 0, errNotPlain
		}
		_, size := utf8.DecodeRune(text[at:])
		at += size
	}
	return at, nil
}

func splice(text []byte, from, to int, with string) []byte {
	out := make([]byte, 0, len(text)+len(with))
	out = append(out, text[:from]...)
	out = append(out, with...)
	return append(out, text[to:]...)
}
