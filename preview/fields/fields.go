// Package fields reads typed fields of a decoded YAML or JSON document and collects the
// errors. It records which fields were read, so that a field which is set and was not
// read is an error and never ignored.
package fields

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// Document is a YAML or JSON document whose fields are read one by one.
type Document struct {
	root   map[string]any
	whole  map[string]bool // paths that were read, with everything below them
	partly map[string]bool // paths above those
	wrong  []string        // errors
	// Defaults: unread fields are no error if they mean the same as a missing field:
	// false or empty.
	Defaults bool
}

// New returns a Document for reading the fields of root.
func New(root map[string]any) *Document {
	return &Document{root: root, whole: map[string]bool{}, partly: map[string]bool{}}
}

// Know marks paths, and everything below them, as read.
func (r *Document) Know(paths ...string) {
	for _, path := range paths {
		r.whole[path] = true
		for at := strings.LastIndexAny(path, ".["); at >= 0; at = strings.LastIndexAny(path, ".[") {
			path = path[:at]
			r.partly[path] = true
		}
	}
}

// Failed reports whether any error was recorded.
func (r *Document) Failed() bool { return len(r.wrong) > 0 }

// maxUnread is the most unread fields that an error names.
const maxUnread = 20

// Err returns an error with the first errors that were collected, at most most; without
// any, an error with the fields that were not read; else nil.
func (r *Document) Err(most int) error {
	if n := min(most, len(r.wrong)); n > 0 {
		return fmt.Errorf("%s", strings.Join(r.wrong[:n], "; "))
	}
	var unread []string
	r.unread("", r.root, &unread)
	switch len(unread) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("the field %s is not supported, and it may change what is installed; take it out to go on", unread[0])
	}
	if n := len(unread); n > maxUnread {
		unread = append(unread[:maxUnread:maxUnread], fmt.Sprintf("and %d more", n-maxUnread))
	}
	return fmt.Errorf("the fields %s are not supported, and they may change what is installed; take them out to go on", strings.Join(unread, ", "))
}

// unread appends the paths of fields that are set and were not read.
func (r *Document) unread(path string, v any, into *[]string) {
	switch {
	case r.whole[path] || v == nil || r.Defaults && isDefault(v):
		return
	case path != "" && !r.partly[path]:
		*into = append(*into, path)
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			r.unread(joinPath(path, key), v[key], into)
		}
	case []any:
		for i, item := range v {
			r.unread(fmt.Sprintf("%s[%d]", path, i), item, into)
		}
	}
}

// isDefault reports whether a value means the same as a missing field: false or empty.
func isDefault(v any) bool {
	switch v := v.(type) {
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

// maxKey is the most terminal cells of a key in a message.
const maxKey = 120

// shorten escapes a text from outside and cuts it to maxKey cells, for a message.
func shorten(word string) string { return textsafe.Clip(word, maxKey) }

func joinPath(path, key string) string {
	if key = shorten(key); path == "" {
		return key
	}
	return path + "." + key
}

// Root returns the whole document as a field.
func (r *Document) Root() Field { return Field{r: r, Value: r.root} }

// At returns the field at a path of keys, separated by dots, from the root.
func (r *Document) At(path string) Field { return r.Root().At(path) }

// Field is a value in a document; it may be absent.
type Field struct {
	r     *Document
	Path  string
	Value any // nil if it is absent
}

// At returns the field at a path of keys, separated by dots, below this one.
func (f Field) At(path string) Field {
	for key := range strings.SplitSeq(path, ".") {
		m, _ := f.Value.(map[string]any)
		f = Field{f.r, joinPath(f.Path, key), m[key]}
	}
	return f
}

// Document returns the document that the field belongs to.
func (f Field) Document() *Document { return f.r }

// Know marks a field, and everything below it, as read.
func (f Field) Know() { f.r.Know(f.Path) }

// Set reports whether the field has a value.
func (f Field) Set() bool { return f.Value != nil }

// Fail records an error about the field, and marks it as read.
func (f Field) Fail(format string, args ...any) {
	f.Know()
	f.r.wrong = append(f.r.wrong, f.Path+": "+fmt.Sprintf(format, args...))
}
