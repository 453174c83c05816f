package plugins

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/fields"
)

// Limits on the listed changes; further ones are counted.
const (
	maxText    = 256 << 10 // bytes of a text that is compared
	maxProgram = 512 << 20 // bytes of a program that is compared
)

// changeLister compares the files of a plugin set with the installed ones. It
// limits the changed lines of all files together.
type changeLister struct{ lines diff.LineDiffs }

// changes returns how a file changes from before to after; before is nil for a new file.
// It is nil if the bytes are equal or cannot be compared, such as an image's.
func (t *changeLister) changes(path string, before, after []byte) []preview.Change {
	if bytes.Equal(before, after) {
		return nil
	}
	if built := buildChanges(before, after); built != nil {
		return built
	}
	was, wasText := readableText(path, before)
	is, isText := readableText(path, after)
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
	return t.lines.Diff(was, is)
}

// buildChanges returns how the build information of two Go programs differs; nil if one
// of the files has none.
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

// pluginChanges returns how two YAML files of Optimus plugins differ, field by field;
// nil if one of them is not YAML.
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

// readableText returns the text of a file with sensitive values masked; false for binary
// files and files of more than 256 KiB.
func readableText(path string, data []byte) (string, bool) {
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

// document returns the map in a YAML or JSON text; anything but one map is an error.
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
		return nil, fmt.Errorf("it is %s where a map is due", fields.Kind(docs[0]))
	}
	return body, nil
}
