package k8s

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// wrongType matches the merge library's message about a value of a wrong type. The value
// follows in Go syntax.
var wrongType = lazyregexp.New(`(?s)^expected (string|boolean|map|list|numeric \(int or float\)|any scalar), got `)

// goValue matches the end of such a line in the answer of an API server. The value is not
// shown, because it can come from a Secret.
var goValue = lazyregexp.New(`(?m)(\bexpected [^,\n]+), got &.*$`)

// wantedTypes names the types of [wrongType] as people do.
var wantedTypes = map[string]string{
	"string": "a string", "boolean": "true or false", "map": "a map", "list": "a list",
	"numeric (int or float)": "a number", "any scalar": "a string, a number, true or false",
}

// misfitText returns why an object does not fit the schema of its kind, from the error
// of the merge library: a piece for each field, with its path, sorted because the library
// names them in any order. For a value of a wrong type it says what is wanted, and what is
// there.
func misfitText(body map[string]any, err error) string {
	var all typed.ValidationErrors
	switch {
	case strings.Contains(err.Error(), "no type found matching"): // in package managedfields
		return "no Kubernetes of today serves " + preview.String(body, "kind") + " of " + preview.String(body, "apiVersion")
	case !errors.As(err, &all):
		return orderedErrors(err.Error())
	}
	lines := make([]string, 0, len(all))
	for _, one := range all {
		lines = append(lines, fieldMisfit(body, one))
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), preview.EvidenceMark)
}

// orderedErrors returns a message of the merge library, which has a line for each error in
// any order, on one line and in one order.
func orderedErrors(message string) string {
	before, list, found := strings.Cut(strings.TrimSpace(message), "errors:\n")
	if !found {
		return message
	}
	var lines []string
	for line := range strings.Lines(list) {
		lines = append(lines, strings.TrimSpace(line))
	}
	slices.Sort(lines)
	return before + strings.Join(slices.Compact(lines), preview.EvidenceMark)
}

func fieldMisfit(body map[string]any, err typed.ValidationError) string {
	match := wrongType.FindStringSubmatch(err.ErrorMessage)
	if match == nil {
		return err.Error()
	}
	path := err.Path
	if path == "" {
		path = "the object"
	}
	text := path + " must be " + wantedTypes[match[1]]
	found := valuesAt(body, err.Path)
	if len(found) == 0 {
		return text
	}
	return text + ", and is " + describeValue(found[0], preview.RefOf(body).Kind == "Secret")
}

// describeValue returns a value with its type, as it stands in a sentence. The values
// of a Secret are not shown.
func describeValue(v any, secret bool) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case map[string]any:
		return "a map"
	case []any:
		return "a list"
	case string:
		if secret {
			return "a string"
		}
		return fmt.Sprintf("the string %q", preview.Shorten(v, 60))
	case bool:
		if secret {
			return "true or false"
		}
		return fmt.Sprint(v)
	}
	if secret {
		return "a number"
	}
	return fmt.Sprintf("the number %v", v)
}

// valuesAt returns the values at a path as the merge library writes it: .KEY for a key of
// a map, which may have dots itself, and [N] or [KEY=VALUE,...] for the items of a list.
// A path can lead to several, because keys of items may be left to their defaults.
func valuesAt(v any, path string) []any {
	if path == "" {
		return []any{v}
	}
	var out []any
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) { // the same sentence each time
			rest, ok := strings.CutPrefix(path, "."+key)
			if ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
				out = append(out, valuesAt(v[key], rest)...)
			}
		}
	case []any:
		for i, child := range v {
			if rest, ok := strings.CutPrefix(path, fmt.Sprintf("[%d]", i)); ok {
				out = append(out, valuesAt(child, rest)...)
			} else if item, isMap := child.(map[string]any); isMap {
				if rest, ok := cutKeys(item, path); ok {
					out = append(out, valuesAt(child, rest)...)
				}
			}
		}
	}
	return out
}

// removeAt takes the values at a path, as in [valuesAt], out of maps, and reports whether
// there were any. With an item of a list the list goes: the rest must have its keys.
func removeAt(v any, path string) (removed bool) {
	removed, _ = removeBelow(v, path)
	return removed
}

// removeBelow is [removeAt]; self says that v is to be taken out of its parent.
func removeBelow(v any, path string) (removed, self bool) {
	if path == "" {
		return false, true
	}
	switch v := v.(type) {
	case map[string]any:
		for key, child := range v {
			rest, ok := strings.CutPrefix(path, "."+key)
			if !ok || rest != "" && rest[0] != '.' && rest[0] != '[' {
				continue
			}
			below, whole := removeBelow(child, rest)
			if whole {
				delete(v, key)
			}
			removed = removed || below || whole
		}
	case []any:
		for i, child := range v {
			rest, ok := strings.CutPrefix(path, fmt.Sprintf("[%d]", i))
			if item, isMap := child.(map[string]any); !ok && isMap {
				rest, ok = cutKeys(item, path)
			}
			if ok {
				below, whole := removeBelow(child, rest)
				removed, self = removed || below, self || whole
			}
		}
	}
	return removed, self
}

// itemKeys matches the keys of a list's item in a path, and each of them.
var (
	itemKeys = lazyregexp.New(`^\[\w+=(?:"(?:[^"\\]|\\.)*"|[^,\]"]*)(?:,\w+=(?:"(?:[^"\\]|\\.)*"|[^,\]"]*))*\]`)
	itemKey  = lazyregexp.New(`(\w+)=("(?:[^"\\]|\\.)*"|[^,\]"]*)`)
)

// cutKeys returns the rest of a path that begins with the keys of an item of a list, and
// whether the item has them. A key that the item lacks has its default.
func cutKeys(item map[string]any, path string) (rest string, ok bool) {
	keys := itemKeys.FindString(path)
	if keys == "" {
		return "", false
	}
	for _, key := range itemKey.FindAllStringSubmatch(keys, -1) {
		if v, has := item[key[1]]; has && value.ToString(value.NewValueInterface(v)) != key[2] {
			return "", false
		}
	}
	return path[len(keys):], true
}
