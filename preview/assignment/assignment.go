// Package assignment sets single values of a package as --set, --set-string, --set-json
// and --set-file of Helm do, with Helm's own parser. Input that the parser would drop
// silently, or panic on, is an error here.
package assignment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"helm.sh/helm/v4/pkg/strvals"
)

// maxIndices bounds what the indices of all assignments to one set of values add up to,
// because a list has room for all items below its highest index. Helm bounds each one.
const maxIndices = 1 << 20

// errForm is returned for what is no assignment.
var errForm = errors.New("want KEY=VALUE, KEY a dotted path")

// Values are values that assignments change. Numbers are as in Helm: a whole number of
// --set is an int64; see [preview.FileNumbers] for files.
type Values struct {
	Map     map[string]any
	indices int
}

// Set makes the assignments of KEY=VALUE,KEY=VALUE. A value is true, false, null, a whole
// number, a list {a,b} of these, or else text.
func (v *Values) Set(text string) error { return v.each(text, strvals.ParseInto) }

// SetString makes the assignments of KEY=TEXT,KEY=TEXT.
func (v *Values) SetString(text string) error { return v.each(text, strvals.ParseIntoString) }

// All makes assignments as [Values.Set] does, and then text assignments.
func (v *Values) All(set, texts []string) error {
	for _, text := range set {
		if err := v.Set(text); err != nil {
			return fmt.Errorf("%s: %w", keyOf(text), err)
		}
	}
	for _, text := range texts {
		if err := v.SetString(text); err != nil {
			return fmt.Errorf("%s: %w", keyOf(text), err)
		}
	}
	return nil
}

// keyOf returns the key of an assignment for messages: its value may be secret.
func keyOf(text string) string {
	key, _, _ := cutKey(text)
	return fmt.Sprintf("%.100q", key)
}

// SetLiteral assigns a text as it is to a key.
func (v *Values) SetLiteral(key, text string) error {
	special := strings.NewReplacer(`\`, `\\`, `,`, `\,`, `{`, `\{`, `}`, `\}`)
	return v.SetString(key + "=" + special.Replace(text))
}

// SetFile makes the assignments of KEY=FILE,KEY=FILE, where read returns the content of a
// file, which becomes a text.
func (v *Values) SetFile(text string, read func(file string) ([]byte, error)) error {
	return v.each(text, func(one string, into map[string]any) error {
		return strvals.ParseIntoFile(one, into, func(file []rune) (any, error) {
			data, err := read(string(file))
			return string(data), err
		})
	})
}

// SetJSON makes the assignments of KEY=JSON, or merges a JSON object into the values.
func (v *Values) SetJSON(text string) error {
	if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, "{") {
		var object map[string]any
		if err := json.Unmarshal([]byte(trimmed), &object); err != nil {
			return err
		}
		Merge(v.Map, object)
		return nil
	}
	key, _, _ := cutKey(text)
	if err := v.check(key); err != nil {
		return err
	}
	return strvals.ParseJSON(text, v.Map)
}

// each calls assign with the assignments of text one by one.
func (v *Values) each(text string, assign func(one string, into map[string]any) error) error {
	if text == "" {
		return errForm
	}
	for text != "" {
		key, rest, ok := cutKey(text)
		if !ok {
			return errForm
		}
		if err := v.check(key); err != nil {
			return err
		}
		length := len(key) + 1 + valueLength(rest)
		if err := assign(text[:length], v.Map); err != nil {
			return err
		}
		text = strings.TrimPrefix(text[length:], ",")
	}
	return nil
}

// cutKey returns what is before the first = that no backslash escapes, and what is behind.
func cutKey(text string) (key, rest string, ok bool) {
	at := unescaped(text, "=")
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+1:], true
}

// valueLength returns the length of the value with which text begins: a list {a,b}, or
// the text before a comma.
func valueLength(text string) int {
	end, closing := ",", 0
	if strings.HasPrefix(text, "{") {
		end, closing = "}", 1
	}
	if at := unescaped(text, end); at >= 0 {
		return at + closing
	}
	return len(text)
}

// unescaped returns the first index of one of some characters that no backslash escapes,
// -1 if there is none.
func unescaped(text, characters string) int {
	for at := 0; at < len(text); at++ {
		switch {
		case text[at] == '\\':
			at++
		case strings.IndexByte(characters, text[at]) >= 0:
			return at
		}
	}
	return -1
}

// check returns an error for a key that the parser would drop, or whose path leads into
// a value of another type, and for indices that take too much memory.
func (v *Values) check(key string) error {
	steps, err := stepsOf(key)
	if err != nil {
		return err
	}
	for _, step := range steps {
		v.indices += max(step.index, 0)
	}
	if v.indices > maxIndices {
		return fmt.Errorf("the indices of all lists add up to more than %d; give the lists in a file", maxIndices)
	}
	return v.fits(steps)
}

// fits returns an error if the values have something else where a path needs a mapping
// or a list. Helm replaces only an item of a list that is no mapping.
func (v *Values) fits(steps []step) error {
	at := any(v.Map)
	for i, step := range steps {
		below, known := any(nil), false
		switch values := at.(type) {
		case map[string]any:
			if step.isIndex {
				return fmt.Errorf("%s is a mapping in the values before it, and no list", pathOf(steps[:i]))
			}
			below, known = values[step.name]
		case []any:
			if step.isIndex && step.index >= 0 && step.index < len(values) {
				below = values[step.index]
				known = below != nil
			}
			if !step.isIndex && !steps[i-1].isIndex {
				return fmt.Errorf("%s is a list in the values before it, and no mapping", pathOf(steps[:i]))
			}
		default:
			if step.isIndex || !steps[i-1].isIndex {
				return fmt.Errorf("%s is neither mapping nor list in the values before it; give it as a whole", pathOf(steps[:i]))
			}
		}
		if !known {
			return nil
		}
		at = below
	}
	return nil
}

// step is one part of a key: a name, or the index of a list.
type step struct {
	name    string
	index   int
	isIndex bool
}

// stepsOf returns the parts of a key.
func stepsOf(key string) ([]step, error) {
	var out []step
	for rest := key; ; {
		end := unescaped(rest, ".[")
		name := rest
		if end >= 0 {
			name = rest[:end]
		}
		if name == "" {
			return nil, errForm
		}
		out = append(out, step{name: unescape(name)})
		if end < 0 {
			return out, nil
		}
		rest = rest[end:]
		for strings.HasPrefix(rest, "[") {
			text, behind, closed := strings.Cut(rest[1:], "]")
			index, err := strconv.Atoi(text)
			if !closed || err != nil {
				return nil, fmt.Errorf("[%.20s is no index", rest[1:])
			}
			out, rest = append(out, step{index: index, isIndex: true}), behind
		}
		if rest == "" {
			return out, nil
		}
		if rest[0] != '.' {
			return nil, errForm
		}
		rest = rest[1:]
	}
}

func unescape(name string) string {
	var out strings.Builder
	for at := 0; at < len(name); at++ {
		if name[at] == '\\' && at+1 < len(name) {
			at++
		}
		out.WriteByte(name[at])
	}
	return out.String()
}

// pathOf returns the key of steps as it was written, without escapes.
func pathOf(steps []step) string {
	var out bytes.Buffer
	for i, s := range steps {
		switch {
		case s.isIndex:
			fmt.Fprintf(&out, "[%d]", s.index)
		case i > 0:
			out.WriteString("." + s.name)
		default:
			out.WriteString(s.name)
		}
	}
	return out.String()
}

// Merge merges values into others: mappings are merged, and all other values of from
// replace values of into.
func Merge(into, from map[string]any) {
	for key, value := range from {
		below, isMap := value.(map[string]any)
		if existing, ok := into[key].(map[string]any); ok && isMap {
			Merge(existing, below)
			continue
		}
		into[key] = value
	}
}
