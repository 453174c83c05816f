package ref

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// fields is an object being read. It knows which of its fields were read and
// which are without effect on what is installed; every other one that is set
// is an error, so that nothing is left out in silence.
type fields struct {
	object  string // KIND NAME, for messages
	root    map[string]any
	whole   map[string]bool // paths read or known, with all below them
	partly  map[string]bool // paths that lead to them
	wrong   []string
	ignored []ignoredField
}

// ignoredField is a field that does not change what is installed.
type ignoredField struct{ path, why string }

func newFields(object string, root map[string]any, ignored []ignoredField) *fields {
	f := &fields{object: object, root: root, whole: map[string]bool{}, partly: map[string]bool{}, ignored: ignored}
	for _, path := range []string{"apiVersion", "kind", "metadata", "status"} {
		f.know(path)
	}
	for _, field := range ignored {
		f.know(field.path)
	}
	return f
}

// know marks a path as dealt with.
func (f *fields) know(path string) {
	f.whole[path] = true
	for at := strings.LastIndexAny(path, ".["); at >= 0; at = strings.LastIndexAny(path, ".[") {
		path = path[:at]
		f.partly[path] = true
	}
}

// err names all that is wrong with the object: first what cannot be read, then
// what is not supported.
func (f *fields) err() error {
	if len(f.wrong) > 0 {
		return fmt.Errorf("%s: %s", f.object, strings.Join(f.wrong, "; "))
	}
	var unread []string
	f.unread("", f.root, &unread)
	switch len(unread) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("%s: the field %s is not supported, and it may change what is installed; take it out to go on", f.object, unread[0])
	}
	const most = 20
	if n := len(unread); n > most {
		unread = append(unread[:most:most], fmt.Sprintf("and %d more", n-most))
	}
	return fmt.Errorf("%s: the fields %s are not supported, and they may change what is installed; take them out to go on", f.object, strings.Join(unread, ", "))
}

// unread lists the fields that are set and that nobody read.
func (f *fields) unread(path string, v any, into *[]string) {
	switch {
	case f.whole[path] || isUnset(v):
		return
	case path != "" && !f.partly[path]:
		*into = append(*into, path)
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			f.unread(below(path, key), v[key], into)
		}
	case []any:
		for i, item := range v {
			f.unread(fmt.Sprintf("%s[%d]", path, i), item, into)
		}
	}
}

// isUnset reports whether a field says what its absence says.
func isUnset(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

func below(path, key string) string {
	key = clip(key)
	if path == "" {
		return key
	}
	return path + "." + key
}

// field is one value within an object, possibly absent.
type field struct {
	f     *fields
	path  string
	value any
}

// at returns the field below a path of keys from the object's root.
func (f *fields) at(path string) field {
	return field{f: f, value: f.root}.at(path)
}

// at returns the field below a path of keys.
func (v field) at(path string) field {
	for key := range strings.SplitSeq(path, ".") {
		m, _ := v.value.(map[string]any)
		v = field{f: v.f, path: below(v.path, key), value: m[key]}
	}
	return v
}

func (v field) set() bool { return v.value != nil }

// fail records what is wrong with a field.
func (v field) fail(format string, args ...any) {
	v.f.know(v.path)
	v.f.wrong = append(v.f.wrong, v.path+": "+fmt.Sprintf(format, args...))
}

// text reads a string, "" when it is absent.
func (v field) text() string {
	v.f.know(v.path)
	switch s := v.value.(type) {
	case nil:
		return ""
	case string:
		return s
	}
	v.fail("want a string")
	return ""
}

// need reads a string that must be there.
func (v field) need() string {
	s := v.text()
	if s == "" && len(v.f.wrong) == 0 {
		v.fail("it is missing")
	}
	return s
}

func (v field) flag() bool {
	v.f.know(v.path)
	switch b := v.value.(type) {
	case nil:
		return false
	case bool:
		return b
	}
	v.fail("want true or false")
	return false
}

// oneOf reads a string that is absent or one of a few.
func (v field) oneOf(known ...string) string {
	s := v.text()
	if s != "" && !slices.Contains(known, s) {
		v.fail("%q is not supported; supported are: %s", clip(s), strings.Join(known, ", "))
	}
	return s
}

// texts reads a list of strings.
func (v field) texts() []string {
	var out []string
	for _, item := range v.items() {
		out = append(out, item.need())
	}
	return out
}

const maxItems = 1000

// items returns the members of a list.
func (v field) items() []field {
	if v.value == nil {
		return nil
	}
	list, ok := v.value.([]any)
	switch {
	case !ok:
		v.fail("want a list")
		return nil
	case len(list) > maxItems:
		v.fail("%d items; at most %d are read", len(list), maxItems)
		return nil
	}
	out := make([]field, 0, len(list))
	for i, item := range list {
		out = append(out, field{f: v.f, path: fmt.Sprintf("%s[%d]", v.path, i), value: item})
	}
	return out
}

// mapping reads a map with all that is in it.
func (v field) mapping() map[string]any {
	v.f.know(v.path)
	switch m := v.value.(type) {
	case nil:
		return nil
	case map[string]any:
		return m
	}
	v.fail("want a mapping")
	return nil
}

// stringMap reads a map of strings.
func (v field) stringMap() map[string]string {
	m := v.mapping()
	if m == nil {
		return nil
	}
	out := make(map[string]string, len(m))
	for key, value := range m {
		s, ok := value.(string)
		if !ok {
			v.fail("want a mapping of strings")
			return nil
		}
		out[key] = s
	}
	return out
}
