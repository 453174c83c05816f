package fields

import (
	"fmt"
	"slices"
	"strings"
)

// maxItems is the most items of a list; more are an error.
const maxItems = 1000

// Kind returns the type of a value in words, for messages.
func Kind(v any) string {
	switch v.(type) {
	case nil:
		return "nothing"
	case map[string]any:
		return "a map"
	case []any:
		return "a list"
	case string:
		return "text"
	case bool:
		return "true or false"
	}
	return "a number"
}

// failKind records that the field has the wrong type; kind is the type that it should
// have, in words.
func (f Field) failKind(kind string) { f.Fail("it is %s where %s is due", Kind(f.Value), kind) }

// Text returns the field as a string, "" if it is absent. Any other type is recorded as
// an error.
func (f Field) Text() string {
	f.Know()
	switch s := f.Value.(type) {
	case nil:
		return ""
	case string:
		return s
	}
	f.failKind("text")
	return ""
}

// Need is [Field.Text], and records an error if the field is absent or empty.
func (f Field) Need() string {
	s := f.Text()
	if s == "" && !f.r.Failed() {
		f.Fail("it is missing")
	}
	return s
}

// Flag returns the field as a boolean, false if it is absent. Any other type is
// recorded as an error.
func (f Field) Flag() bool {
	f.Know()
	switch b := f.Value.(type) {
	case nil:
		return false
	case bool:
		return b
	}
	f.failKind("true or false")
	return false
}

// OneOf is [Field.Text], and records an error if the string is not one of known.
func (f Field) OneOf(known ...string) string {
	s := f.Text()
	if s != "" && !slices.Contains(known, s) {
		f.Fail("%q is not supported; supported are: %s", shorten(s), strings.Join(known, ", "))
	}
	return s
}

// Mapping returns the field as a map, nil if it is absent, and marks everything below
// it as read. Any other type is recorded as an error.
func (f Field) Mapping() map[string]any {
	f.Know()
	switch m := f.Value.(type) {
	case nil:
		return nil
	case map[string]any:
		return m
	}
	f.failKind("a map")
	return nil
}

// IsMap reports whether the field is a map. A value of any other type is recorded as an
// error.
func (f Field) IsMap() bool {
	_, ok := f.Value.(map[string]any)
	if !ok && f.Set() {
		f.failKind("a map")
	}
	return ok
}

// TextMap returns the field as a map of strings, nil if it is absent. Any other type is
// recorded as an error.
func (f Field) TextMap() map[string]string {
	m := f.Mapping()
	if m == nil {
		return nil
	}
	out := make(map[string]string, len(m))
	for key, value := range m {
		s, ok := value.(string)
		if !ok {
			f.Fail("%s is %s where text is due", shorten(key), Kind(value))
			return nil
		}
		out[key] = s
	}
	return out
}

// Items returns the items of a list, nil if the field is absent. Any other type, and
// more than maxItems items, are recorded as an error.
func (f Field) Items() []Field {
	list, ok := f.Value.([]any)
	switch {
	case f.Value == nil:
		return nil
	case !ok:
		f.failKind("a list")
		return nil
	case len(list) > maxItems:
		f.Fail("it has %d items; at most %d are read", len(list), maxItems)
		return nil
	case len(list) == 0:
		f.Know()
	}
	out := make([]Field, 0, len(list))
	for i, item := range list {
		out = append(out, Field{f.r, fmt.Sprintf("%s[%d]", f.Path, i), item})
	}
	return out
}

// Maps returns the items of a list of maps. Other items are recorded as errors and left
// out.
func (f Field) Maps() []Field {
	return slices.DeleteFunc(f.Items(), func(item Field) bool {
		_, isMap := item.Value.(map[string]any)
		if !isMap {
			item.failKind("a map")
		}
		return !isMap
	})
}

// Texts returns the items of a list of strings. Other items are recorded as errors.
func (f Field) Texts() []string {
	var out []string
	for _, item := range f.Items() {
		out = append(out, item.Need())
	}
	return out
}
