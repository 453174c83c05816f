package registryv1

import (
	"fmt"
	"strconv"
)

// reader reads typed values from decoded maps. A value of another type becomes a
// problem with its path. Keys are matched exactly, unlike in encoding/json, which also
// accepts "Rules" for "rules".
type reader struct {
	at string // heads every error: the file, or the object
	problems
}

func (r *reader) wrong(path, want string, got any) {
	r.add("%s: %s is %s, not %s", r.at, path, typeName(got), want)
}

func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case int64, uint64, int:
		return "an integer"
	case float64:
		return "a number"
	case []any:
		return "a list"
	case map[string]any:
		return "a mapping"
	}
	return fmt.Sprintf("%T", v)
}

// take returns m[key] as a T, the zero value if it is missing or null. want names the
// type for the problem that any other value is.
func take[T any](r *reader, m map[string]any, path, key, want string) T {
	v, ok := m[key].(T)
	if !ok && m[key] != nil {
		r.wrong(path, want, m[key])
	}
	return v
}

func (r *reader) str(m map[string]any, path, key string) string {
	return take[string](r, m, path, key, "a string")
}

func (r *reader) boolean(m map[string]any, path, key string) bool {
	return take[bool](r, m, path, key, "a boolean")
}

func (r *reader) integer(m map[string]any, path, key string) int64 {
	return take[int64](r, m, path, key, "an integer")
}

func (r *reader) mapping(m map[string]any, path, key string) map[string]any {
	return take[map[string]any](r, m, path, key, "a mapping")
}

func (r *reader) list(m map[string]any, path, key string) []any {
	list := take[[]any](r, m, path, key, "a list")
	if len(list) > maxEntries {
		r.add("%s: %s has %d entries, more than %d", r.at, path, len(list), maxEntries)
		return nil
	}
	return list
}

// strings returns a list of strings: nil if it is missing, empty if it is empty.
func (r *reader) strings(m map[string]any, path, key string) []string {
	list := r.list(m, path, key)
	if list == nil {
		return nil
	}
	out := make([]string, 0, len(list))
	for i, item := range list {
		s, ok := item.(string)
		if !ok {
			r.wrong(index(path, i), "a string", item)
		}
		out = append(out, s)
	}
	return out
}

// stringMap returns a map of strings, never nil.
func (r *reader) stringMap(m map[string]any, path, key string) map[string]string {
	out := map[string]string{}
	for k, v := range r.mapping(m, path, key) {
		s, ok := v.(string)
		if !ok && v != nil {
			r.wrong(path+"["+strconv.Quote(k)+"]", "a string", v)
		}
		out[k] = s
	}
	return out
}

// each calls visit for every map in a list.
func (r *reader) each(m map[string]any, path, key string, visit func(item map[string]any, path string)) {
	for i, item := range r.list(m, path, key) {
		body, ok := item.(map[string]any)
		if !ok {
			r.wrong(index(path, i), "a mapping", item)
			continue
		}
		visit(body, index(path, i))
	}
}

func index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }
