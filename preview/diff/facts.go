package diff

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// FactChange is a fact of a plan that differs from the reviewed one. The values are
// text for display; sensitive ones are masked.
type FactChange struct {
	Path, Reviewed, Now string
}

func (m FactChange) String() string {
	return fmt.Sprintf("%s: reviewed %s, now %s", m.Path, ShortOrNone(m.Reviewed), ShortOrNone(m.Now))
}

// ShortOrNone shortens a value for a sentence, and returns "(none)" if it is
// empty.
func ShortOrNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return preview.Shorten(s, 120)
}

// FactChanges returns the fields that differ in JSON between two values of this
// program's types, sorted by path. List items with the field id or object are matched by
// that.
func FactChanges(a, b any) []FactChange {
	x, errX := generic(a)
	y, errY := generic(b)
	if errX != nil || errY != nil {
		return []FactChange{{Path: "a value that has no JSON form"}}
	}
	var out []FactChange
	compareLeaves("", x, y, &out)
	return out
}

// Text returns a value as JSON, empty for nil.
func Text(v any) string {
	if v == nil {
		return ""
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(data)
}

func generic(v any) (any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return preview.DecodeJSONUpTo(data, preview.MaxPlanBytes)
}

func compareLeaves(path string, a, b any, out *[]FactChange) {
	if x, ok := a.(map[string]any); ok {
		if y, ok := b.(map[string]any); ok {
			for _, key := range unionKeys(x, y) {
				at := key
				if path != "" {
					at = path + "." + key
				}
				compareLeaves(at, x[key], y[key], out)
			}
			return
		}
	}
	if x, ok := a.([]any); ok {
		if y, ok := b.([]any); ok {
			compareItems(path, indexItems(x), indexItems(y), out)
			return
		}
	}
	if Text(a) != Text(b) {
		*out = append(*out, FactChange{Path: path, Reviewed: Text(a), Now: Text(b)})
	}
}

func compareItems(path string, a, b map[string]any, out *[]FactChange) {
	for _, key := range unionKeys(a, b) {
		compareLeaves(path+"["+key+"]", a[key], b[key], out)
	}
}

// indexItems returns list items by the field id or object, grants by subject and
// permission, and others by index.
func indexItems(items []any) map[string]any {
	out := make(map[string]any, len(items))
	for i, item := range items {
		key := fmt.Sprintf("%05d", i)
		if m, ok := item.(map[string]any); ok {
			for _, field := range []string{"id", "object"} {
				if id := preview.String(m, field); id != "" {
					key = id
				}
			}
			if m["subject"] != nil && m["verbs"] != nil {
				key = grantIdentity(m)
			}
		}
		if _, taken := out[key]; taken {
			key += "#" + strconv.Itoa(i)
		}
		out[key] = item
	}
	return out
}

// grantIdentity returns the permission of a [preview.Grant], without how it changes and
// whence it comes: who, where, and verbs on resources.
func grantIdentity(grant map[string]any) string {
	who := preview.Map(grant, "subject")
	words := []string{preview.String(who, "kind")}
	add := func(separator string, values ...string) {
		if text := strings.Join(slices.DeleteFunc(values, func(s string) bool { return s == "" }), separator); text != "" {
			words = append(words, text)
		}
	}
	add("/", preview.String(who, "namespace"), preview.String(who, "name"))
	add("", preview.String(grant, "namespace"))
	for _, field := range []string{"verbs", "resources", "apiGroups", "resourceNames", "nonResourceURLs"} {
		var values []string
		for _, item := range preview.List(grant, field) {
			values = append(values, fmt.Sprint(item))
		}
		add(",", values...)
	}
	return strings.Join(words, " ")
}

func unionKeys(a, b map[string]any) []string {
	var keys []string
	for k := range a {
		keys = append(keys, k)
	}
	for k := range b {
		if _, both := a[k]; !both {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}
