package fields

import (
	"fmt"
	"slices"
	"strings"
)

// maxItems bounds every list of a document.
const maxItems = 1000

// Kind names what a value is, for messages.
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

// failKind records that a value has the wrong type.
func (f Field) failKind(kind string) { f.Fail("it is %s where %s is due", Kind(f.Value), kind) }

// Text returns a string, "" if the field is absent.
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

// Need returns a string, and records an error if the field is absent.
func (f Field) Need() string {
	s := f.Text()
	if s == "" && !f.r.Failed() {
		f.Fail("it is missing")
	}
	return s
}

// Flag returns a boolean, false if the field is absent.
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

// OneOf returns a string, empty if the field is absent. A string that is not in
// the list is recorded as an error.
func (f Field) OneOf(known ...string) string {
	s := f.Text()
	if s != "" && !slices.Contains(known, s) {
		f.Fail("%q is not supported; supported are: %s", shorten(s), strings.Join(known, ", "))
	}
	return s
}

// Mapping returns a map, with everything below it marked as read.
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

// IsMap reports whether a field is a map. Any other value is recorded as an error.
func (f Field) IsMap() bool {
	_, ok := f.Value.(map[string]any)
	if !ok && f.Set() {
		f.failKind("a map")
	}
	return ok
}

// TextMap reads a map of texts, nil when it is absent.
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

// Items returns the members of a list.
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

// Maps returns the items of a list of maps; other items are recorded as errors and
// left out.
func (f Field) Maps() []Field {
	return slices.DeleteFunc(f.Items(), func(item Field) bool {
		_, isMap := item.Value.(map[string]any)
		if !isMap {
			item.failKind("a map")
		}
		return !isMap
	})
}

// Texts reads a list of texts.
func (f Field) Texts() []string {
	var out []string
	for _, item := range f.Items() {
		out = append(out, item.Need())
	}
	return out
}
