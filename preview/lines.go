package preview

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Document is one document of a file, with the lines of its values.
type Document struct {
	Value any
	Lines LineIndex
}

// LocatedObject is one object of a document, with the lines of its values.
type LocatedObject struct {
	Body  map[string]any
	Lines LineIndex
}

// LineIndex maps the values of a document to their lines in the file, counted from 1.
// The zero LineIndex returns 0 for all.
type LineIndex struct {
	node *yaml.Node // nil if only the first line is known, as for JSON
	line int
}

// ItemLine is the line of an item of one of an object's lists in the file that the object
// comes from, counted from 1. Name is the item's field name, if it has one.
type ItemLine struct {
	Name string
	Line int
}

// At returns the first line of the value at a path; path elements are string keys and
// int indexes. For a value in a map it is the line of the value's key. If the path does
// not exist, it is the line of its longest existing part.
func (l LineIndex) At(path ...any) int { return l.Below(path...).line }

// Below returns the lines of the value at a path, as At finds it.
func (l LineIndex) Below(path ...any) LineIndex {
	for _, step := range path {
		next, ok := l.step(step)
		if !ok {
			break
		}
		l = next
	}
	return l
}

func (l LineIndex) step(step any) (LineIndex, bool) {
	n := l.node
	for n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n == nil {
		return LineIndex{}, false
	}
	switch step := step.(type) {
	case int:
		if n.Kind == yaml.SequenceNode && step >= 0 && step < len(n.Content) {
			return LineIndex{n.Content[step], n.Content[step].Line}, true
		}
	case string:
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == step {
				return LineIndex{n.Content[i+1], n.Content[i].Line}, true
			}
		}
	}
	return LineIndex{}, false
}

// Objects returns the objects of a document as [Flatten] does, each with its line.
func (d Document) Objects() ([]LocatedObject, error) {
	return flatten(d.Value, d.Lines, 0)
}

// DecodeDocuments decodes manifests as [Decode] does, with the positions of the
// documents, and errs for more or larger objects than a package may have.
func DecodeDocuments(data []byte) ([]Document, error) {
	var docs []Document
	err := eachDocument(data, true, func(doc Document) { docs = append(docs, doc) })
	if err != nil {
		return nil, err
	}
	return docs, nil
}

// eachDocument decodes documents under the rules of [Decode] and visits them one
// by one. After an error, earlier documents have been visited.
func eachDocument(data []byte, manifests bool, visit func(Document)) error {
	if len(data) > MaxDocumentBytes {
		return tooLargeFile(len(data), MaxDocumentBytes)
	}
	if trimmed := bytes.TrimLeft(data, " \t\r\n\ufeff"); len(trimmed) > 0 && trimmed[0] == '{' {
		docs, err := decodeJSONStream(trimmed, 1+bytes.Count(data[:len(data)-len(trimmed)], []byte("\n")), manifests)
		var over *limitError
		switch {
		case errors.As(err, &over):
			return err
		case err == nil:
			for _, doc := range docs {
				visit(doc)
			}
			return nil
		}
		// A flow mapping looks like JSON and need not be: YAML decides.
	}
	if manifests {
		if err := checkShape(data); err != nil {
			return err
		}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	state := &yamlDecoder{}
	for {
		var node yaml.Node
		err := decoder.Decode(&node)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
		}
		v, err := state.value(&node, 0)
		if err != nil {
			return err
		}
		if v != nil {
			root := node.Content[0]
			visit(Document{v, LineIndex{root, root.Line}})
		}
	}
}
