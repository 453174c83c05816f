package diff

import (
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Field is the position of a value in a manifest: its first line, counted from 1, and
// its path as in [preview.Change].
type Field struct {
	Line int
	Path string
}

// Fields returns the positions of the values in a manifest, sorted by line. Of several
// values that begin on one line, it returns the innermost. Text that is not one YAML
// document has none.
func Fields(manifest string) []Field {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(manifest), &document); err != nil || len(document.Content) == 0 {
		return nil
	}
	var fields fieldWalk
	fields.value("", "", document.Content[0])
	return fields
}

// FieldAt returns the path of the last value that begins on a line or before it; empty
// if there is none.
func FieldAt(fields []Field, line int) string {
	at, found := slices.BinarySearchFunc(fields, line, func(f Field, line int) int { return f.Line - line })
	if !found {
		at--
	}
	if at < 0 || at >= len(fields) {
		return ""
	}
	return fields[at].Path
}

type fieldWalk []Field

func (w *fieldWalk) begins(line int, path string) {
	if n := len(*w); n > 0 && (*w)[n-1].Line == line {
		(*w)[n-1].Path = path
		return
	}
	*w = append(*w, Field{line, path})
}

func (w *fieldWalk) value(path, field string, n *yaml.Node) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i].Value
			below := path + preview.PathKey(key)
			w.begins(n.Content[i].Line, below)
			w.value(below, key, n.Content[i+1])
		}
	case yaml.SequenceNode:
		for i, name := range itemNames(field, n.Content) {
			below := path + "[" + name + "]"
			w.begins(n.Content[i].Line, below)
			w.value(below, "", n.Content[i])
		}
	}
}

// itemNames returns the names of a list's items as paths have them within brackets.
func itemNames(field string, items []*yaml.Node) []string {
	nodes := make([]node, len(items))
	for i, item := range items {
		var raw any
		// Only the scalars of an item can tell it apart from others.
		if item.Kind == yaml.MappingNode {
			scalars := map[string]any{}
			for k := 0; k+1 < len(item.Content); k += 2 {
				if item.Content[k+1].Kind == yaml.ScalarNode && item.Content[k+1].Decode(&raw) == nil {
					scalars[item.Content[k].Value] = raw
				}
			}
			raw = scalars
		}
		nodes[i] = node{raw: raw}
	}
	key, names := listKey(field, nodes, nil), make([]string, len(items))
	for i := range items {
		names[i] = strconv.Itoa(i)
		if key != "" {
			names[i] = itemName(key, nodes[i], i)
		}
	}
	return names
}
