package k8s

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"
)

// fieldTree are the fields of an object that a caller uses, by name. A field without its
// own tree is used whole.
type fieldTree map[string]fieldTree

// identifying are the fields that all objects of a list have, whatever the caller uses.
var identifying = [...]string{"metadata.name", "metadata.namespace", "metadata.uid", "metadata.labels"}

// newFieldTree returns the fields with these paths, and those that identify an object;
// nil for no path, which stands for the whole object.
func newFieldTree(paths []string) fieldTree {
	if len(paths) == 0 {
		return nil
	}
	root := fieldTree{}
	for _, path := range identifying {
		root.add(path)
	}
	for _, path := range paths {
		root.add(path)
	}
	return root
}

// add adds the field with a path, its names separated by dots.
func (f fieldTree) add(path string) {
	name, rest, nested := strings.Cut(path, ".")
	if !nested {
		f[name] = nil
		return
	}
	below, known := f[name]
	if known && below == nil {
		return // used whole
	}
	if !known {
		below = fieldTree{}
		f[name] = below
	}
	below.add(rest)
}

// onlyMetadata reports whether nothing but metadata is used.
func (f fieldTree) onlyMetadata() bool { return len(f) == 1 && f["metadata"] != nil }

// reduce appends to out the JSON object in data with nothing but these fields. Other
// fields are not decoded, which would take most of the time and memory of a list: the
// managedFields of an object are often larger than the fields used.
func (f fieldTree) reduce(out, data []byte) ([]byte, error) {
	out = append(out, '{')
	first := true
	err := eachMember(data, func(key, value []byte) error {
		below, used := f[string(key)]
		if !used {
			return nil
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(append(append(out, '"'), key...), '"', ':')
		if below == nil || value[0] != '{' {
			out = append(out, value...)
			return nil
		}
		var err error
		out, err = below.reduce(out, value)
		return err
	})
	return append(out, '}'), err
}

var errNotJSON = errors.New("it is not valid JSON")

// eachMember calls each with the members of the JSON object in data. A key is as it is
// written, without its quotes; the names of fields need no escapes.
func eachMember(data []byte, each func(key, value []byte) error) error {
	return eachElement(data, '{', func(rest []byte) ([]byte, error) {
		key, rest, ok := cutValue(rest)
		if !ok || key[0] != '"' {
			return nil, errNotJSON
		}
		rest = trimSpace(rest)
		if len(rest) == 0 || rest[0] != ':' {
			return nil, errNotJSON
		}
		value, rest, ok := cutValue(trimSpace(rest[1:]))
		if !ok {
			return nil, errNotJSON
		}
		return rest, each(key[1:len(key)-1], value)
	})
}

// eachItem calls each with the items of the JSON list in data.
func eachItem(data []byte, each func(item []byte) error) error {
	return eachElement(data, '[', func(rest []byte) ([]byte, error) {
		item, rest, ok := cutValue(rest)
		if !ok {
			return nil, errNotJSON
		}
		return rest, each(item)
	})
}

// eachElement calls next with what follows the opening bracket and each comma of the
// JSON list or object in data; next returns what follows its element.
func eachElement(data []byte, opening byte, next func(rest []byte) ([]byte, error)) error {
	data = trimSpace(data)
	if len(data) == 0 || data[0] != opening {
		return errNotJSON
	}
	closing := opening + 2 // of both brackets, in ASCII
	rest := trimSpace(data[1:])
	for i := 0; ; i++ {
		switch {
		case len(rest) == 0:
			return errNotJSON
		case rest[0] == closing && len(trimSpace(rest[1:])) == 0:
			return nil
		case i > 0 && rest[0] != ',', rest[0] == closing:
			return errNotJSON
		case i > 0:
			rest = trimSpace(rest[1:])
		}
		var err error
		if rest, err = next(rest); err != nil {
			return err
		}
		rest = trimSpace(rest)
	}
}

// cutValue cuts the JSON value at the beginning of data from what follows it. The value
// is not checked beyond its brackets and quotes: the decoder checks the fields that are
// used.
func cutValue(data []byte) (value, rest []byte, ok bool) {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			end := closingQuote(data[i+1:])
			if end < 0 {
				return nil, nil, false
			}
			i += 1 + end
			if depth == 0 {
				return data[:i+1], data[i+1:], true
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return data[:i], data[i:], i > 0
			}
			if depth--; depth == 0 {
				return data[:i+1], data[i+1:], true
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return data[:i], data[i:], i > 0
			}
		}
	}
	return data, nil, depth == 0 && len(data) > 0
}

// closingQuote returns where the JSON string ends that data continues, -1 if it does not.
func closingQuote(data []byte) int {
	for at := 0; ; {
		end := bytes.IndexByte(data[at:], '"')
		if end < 0 {
			return -1
		}
		escape := bytes.IndexByte(data[at:at+end], '\\')
		if escape < 0 {
			return at + end
		}
		if at += escape + 2; at > len(data) {
			return -1
		}
	}
}

func trimSpace(data []byte) []byte { return bytes.TrimLeft(data, " \t\r\n") }

// listMeta is the metadata of a list.
type listMeta struct {
	Continue           string `json:"continue"`
	RemainingItemCount int    `json:"remainingItemCount"`
	ResourceVersion    string `json:"resourceVersion"`
}

// splitList returns the metadata and the items of the JSON list in data.
func splitList(data []byte) (meta listMeta, items [][]byte, err error) {
	err = eachMember(data, func(key, value []byte) error {
		switch {
		case string(key) == "metadata":
			return json.Unmarshal(value, &meta)
		case string(key) == "items" && string(value) != "null":
			return eachItem(value, func(item []byte) error {
				items = append(items, item)
				return nil
			})
		}
		return nil
	})
	return meta, items, err
}

// sharedTexts are short texts that the objects of a page have in common: thousands of
// one kind have mostly the same names of fields, verbs and resources.
type sharedTexts map[string]string

// The most texts that are shared, and the most bytes of each.
const (
	maxShared      = 4096
	maxSharedBytes = 64
)

func (t sharedTexts) text(s string) string {
	if !utf8.ValidString(s) {
		s = string([]rune(s)) // as JSON has it
	}
	if len(s) > maxSharedBytes {
		return s
	}
	known, ok := t[s]
	if !ok {
		known = s
		if len(t) < maxShared {
			t[s] = s
		}
	}
	return known
}

// shareIn returns an equal object that shares its short texts with other objects: each
// is held once.
func (t sharedTexts) shareIn(object map[string]any) map[string]any {
	out := make(map[string]any, len(object))
	for key, value := range object {
		out[t.text(key)] = t.share(value)
	}
	return out
}

func (t sharedTexts) share(value any) any {
	switch v := value.(type) {
	case string:
		return t.text(v)
	case map[string]any:
		return t.shareIn(v)
	case []any:
		for i := range v {
			v[i] = t.share(v[i])
		}
	}
	return value
}
