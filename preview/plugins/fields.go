package plugins

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// reading is one config being read. Every field that nobody asked for is named
// at the end, so that nothing is left out in silence.
type reading struct {
	root  map[string]any
	known map[string]bool // paths that were read, or whose value plays no part
	wrong []string
}

func newReading(root map[string]any) *reading { return &reading{root: root, known: map[string]bool{}} }

// ignore marks fields that do not change what is installed.
func (r *reading) ignore(paths ...string) {
	for _, path := range paths {
		r.known[path] = true
	}
}

// err says what cannot be read, the first of it, else what is not known.
func (r *reading) err() error {
	if len(r.wrong) > 0 {
		return fmt.Errorf("%s", r.wrong[0])
	}
	var unread []string
	r.unread("", r.root, &unread)
	if len(unread) == 0 {
		return nil
	}
	const most = 10
	if n := len(unread); n > most {
		unread = append(unread[:most:most], fmt.Sprintf("and %d more", n-most))
	}
	return fmt.Errorf("not known here, and it may change what is installed: %s; take it out to go on", strings.Join(unread, ", "))
}

func (r *reading) unread(path string, v any, into *[]string) {
	if r.known[path] || v == nil {
		return
	}
	below := slices.ContainsFunc(slices.Collect(maps.Keys(r.known)), func(known string) bool {
		return path == "" || strings.HasPrefix(known, path+".") || strings.HasPrefix(known, path+"[")
	})
	if !below && path != "" {
		*into = append(*into, path)
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			r.unread(join(path, key), v[key], into)
		}
	case []any:
		for i, item := range v {
			r.unread(fmt.Sprintf("%s[%d]", path, i), item, into)
		}
	}
}

func join(path, key string) string {
	if key = clip(key); path == "" {
		return key
	}
	return path + "." + key
}

// clip makes a word from outside fit into a sentence.
func clip(s string) string { return textsafe.Truncate(textsafe.Line(s), 120) }

// field is one value of a config, possibly absent.
type field struct {
	r     *reading
	path  string
	value any
}

func (r *reading) at(path string) field { return field{r: r, value: r.root}.at(path) }

// at returns the field below a path of keys.
func (f field) at(path string) field {
	for key := range strings.SplitSeq(path, ".") {
		m, _ := f.value.(map[string]any)
		f = field{f.r, join(f.path, key), m[key]}
	}
	return f
}

func (f field) set() bool { return f.value != nil }

func (f field) fail(format string, args ...any) {
	f.r.known[f.path] = true
	f.r.wrong = append(f.r.wrong, f.path+": "+fmt.Sprintf(format, args...))
}

func (f field) text() string {
	f.r.known[f.path] = true
	switch s := f.value.(type) {
	case nil:
		return ""
	case string:
		return s
	}
	f.fail("it is %s where text is due", kindOf(f.value))
	return ""
}

func (f field) need() string {
	s := f.text()
	if s == "" {
		f.fail("it is missing")
	}
	return s
}

// mapping reads a map with all that is in it.
func (f field) mapping() map[string]any {
	f.r.known[f.path] = true
	switch m := f.value.(type) {
	case nil:
		return nil
	case map[string]any:
		return m
	}
	f.fail("it is %s where a map is due", kindOf(f.value))
	return nil
}

// isMap reports whether a field is a map, and says so when it is anything else
// but absent.
func (f field) isMap() bool {
	_, ok := f.value.(map[string]any)
	if !ok && f.set() {
		f.fail("it is %s where a map is due", kindOf(f.value))
	}
	return ok
}

// maxItems bounds every list of a config.
const maxItems = 1000

// items returns the members of a list, which have to be maps where maps is set.
func (f field) items(maps bool) []field {
	list, ok := f.value.([]any)
	switch {
	case f.value == nil:
		return nil
	case !ok:
		f.fail("it is %s where a list is due", kindOf(f.value))
		return nil
	case len(list) > maxItems:
		f.fail("it has %d items; at most %d are read", len(list), maxItems)
		return nil
	}
	f.r.known[f.path] = len(list) == 0
	var out []field
	for i, item := range list {
		member := field{f.r, fmt.Sprintf("%s[%d]", f.path, i), item}
		if _, isMap := item.(map[string]any); maps && !isMap {
			member.fail("it is %s where a map is due", kindOf(item))
			continue
		}
		out = append(out, member)
	}
	return out
}

// texts reads a map of texts.
func (f field) texts() map[string]string {
	out := map[string]string{}
	for key, v := range f.mapping() {
		s, ok := v.(string)
		if !ok {
			f.fail("%s is %s where text is due", clip(key), kindOf(v))
			return nil
		}
		out[key] = s
	}
	return out
}

func kindOf(v any) string {
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

func (f field) flag() bool {
	f.r.known[f.path] = true
	switch b := f.value.(type) {
	case nil:
		return false
	case bool:
		return b
	}
	f.fail("it is %s where true or false is due", kindOf(f.value))
	return false
}
