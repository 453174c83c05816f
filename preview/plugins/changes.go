package plugins

import (
	"bytes"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
)

// Limits on what is said of changes; what is beyond them is counted.
const (
	maxText      = 256 << 10 // bytes of a text that is compared
	maxLines     = 400       // lines of one file that are kept
	maxSetLines  = 4000      // of all files
	maxProgram   = 512 << 20 // bytes of a program that is compared
	contextLines = 3
)

// teller says what changes in files, within the limits of a set.
type teller struct {
	left int // lines that may still be kept
}

// changes says what an update does to a file, or with nothing before it what a
// create brings.
func (t *teller) changes(path string, before, after []byte) []preview.Change {
	if bytes.Equal(before, after) {
		return nil
	}
	if built := buildChanges(before, after); built != nil {
		return built
	}
	was, wasText := readable(path, before)
	is, isText := readable(path, after)
	if !isText || before != nil && !wasText {
		return nil
	}
	if isYAMLPlugin(path) && before != nil {
		if fields := pluginChanges(before, after); len(fields) > 0 {
			return fields
		}
	}
	if was == is { // but for what is masked
		return []preview.Change{{Path: "text", Op: diff.OpChange, From: preview.Masked, To: diff.MaskedChanged}}
	}
	return t.places(was, is)
}

// buildChanges compares what two Go programs were built from; nil where one of
// them does not say.
func buildChanges(before, after []byte) []preview.Change {
	if formatOf(before) == "" || formatOf(after) == "" || len(before) > maxProgram || len(after) > maxProgram {
		return nil
	}
	was, is := buildOf(before), buildOf(after)
	if was == nil || is == nil {
		return nil
	}
	return diff.Values(buildValues(was), buildValues(is))
}

// pluginChanges compares the fields of two plugins of Optimus: their image,
// their questions, their defaults. Where only the form differs there are none.
func pluginChanges(before, after []byte) []preview.Change {
	was, err := document(before)
	if err != nil {
		return nil
	}
	is, err := document(after)
	if err != nil {
		return nil
	}
	before1, secretsWas := mask(was)
	after1, secretsIs := mask(is)
	out := diff.Values(before1, after1)
	for path, value := range secretsIs {
		if old, there := secretsWas[path]; there && !reflect.DeepEqual(old, value) {
			out = append(out, preview.Change{Path: path, Op: diff.OpChange, From: preview.Masked, To: diff.MaskedChanged})
		}
	}
	sortChanges(out)
	return out
}

// places are the parts of two texts that differ, each with lines around it.
func (t *teller) places(was, is string) []preview.Change {
	var out []preview.Change
	kept := 0
	hunks := diff.Hunks(was, is, contextLines)
	for i, hunk := range hunks {
		if n := len(hunk.Lines); kept+n > maxLines || n > t.left {
			if was == "" && kept == 0 { // one place: its beginning
				hunk.Lines = hunk.Lines[:min(maxLines, t.left)]
				out = append(out, placeOf(hunk))
			}
			return append(out, preview.Change{Path: "more", Op: diff.OpChange, From: "", To: fmt.Sprintf("%d of %d changed places are not shown whole; compare the files themselves", len(hunks)-i, len(hunks))})
		}
		kept, t.left = kept+len(hunk.Lines), t.left-len(hunk.Lines)
		out = append(out, placeOf(hunk))
	}
	return out
}

// placeOf is one hunk: the lines as they were and as they would be.
func placeOf(h diff.Hunk) preview.Change {
	var from, to []string
	first, last, now := 0, 0, false
	for _, l := range h.Lines {
		if l.Op != diff.LineInsert {
			from = append(from, l.Text)
		}
		if l.Op != diff.LineDelete {
			to = append(to, l.Text)
		}
		now = now || l.To > 0
	}
	for _, l := range h.Lines {
		number := l.To
		if !now {
			number = l.From
		}
		if number > 0 && first == 0 {
			first = number
		}
		last = max(last, number)
	}
	c := preview.Change{Op: diff.OpChange, Path: "lines " + strconv.Itoa(first) + "-" + strconv.Itoa(last)}
	c.From, c.To = joinLines(from), joinLines(to)
	switch {
	case len(from) == 0:
		c.Op, c.From = diff.OpAdd, nil
	case len(to) == 0:
		c.Op, c.To = diff.OpRemove, nil
	}
	return c
}

func joinLines(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// readable is the text of a file as people may see it, with sensitive values
// masked; false for what is no text, or too long.
func readable(path string, data []byte) (string, bool) {
	if len(data) > maxText || formatOf(data) != "" || bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data) {
		return "", false
	}
	if strings.HasSuffix(path, ".yaml") || strings.HasSuffix(path, ".yml") || strings.HasSuffix(path, ".json") {
		if body, err := document(data); err == nil {
			if masked, secrets := mask(body); len(secrets) > 0 {
				return diff.Manifest(masked), true
			}
			return string(data), true
		}
	}
	return maskLines(string(data)), true
}

// document is the one map of a YAML or JSON text.
func document(data []byte) (map[string]any, error) {
	docs, err := preview.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("it is not YAML: %s", clip(err.Error()))
	}
	if len(docs) != 1 {
		return nil, fmt.Errorf("it holds %d documents where one is due", len(docs))
	}
	body, ok := docs[0].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("it is %s where a map is due", kindOf(docs[0]))
	}
	return body, nil
}
