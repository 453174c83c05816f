package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// splitDocuments returns the documents of a file: concatenated JSON objects, or
// YAML documents. Beside those that could be told apart it returns the first
// error about one that could not.
func splitDocuments(file string, data []byte) ([]document, error) {
	docs, err := splitAny(data)
	for i := range docs {
		docs[i].file = file
	}
	return docs, err
}

func splitAny(data []byte) ([]document, error) {
	first := bytes.TrimLeft(data, " \t\r\n\ufeff")
	if len(first) == 0 || first[0] != '{' {
		return splitYAML(data)
	}
	docs, err := splitJSON(first)
	if err != nil {
		// A flow mapping looks like JSON and need not be.
		if asYAML, yamlErr := splitYAML(data); yamlErr == nil {
			return asYAML, nil
		}
	}
	return docs, err
}

func splitJSON(data []byte) ([]document, error) {
	var docs []document
	for at := 0; ; {
		for at < len(data) && strings.IndexByte(" \t\r\n", data[at]) >= 0 {
			at++
		}
		if at == len(data) {
			return docs, nil
		}
		d, err := peekJSON(data[at:])
		// Without its keys it may be no JSON at all: the peek is not strict.
		if err == nil && (d.schema == "" || d.pkg+d.name == "") && !json.Valid(d.raw) {
			err = errors.New("something else than a JSON object")
		}
		if err != nil {
			return docs, fmt.Errorf("after %d bytes: %w", at, err)
		}
		docs = append(docs, d)
		at += len(d.raw)
	}
}

// peekJSON finds the end and the look-up keys, in whatever case, of the object
// that data begins with. It tells strings from brackets and no more: most
// documents are of packages nobody asks for, and the others are decoded.
func peekJSON(data []byte) (document, error) {
	if data[0] != '{' {
		return document{}, errors.New("something else than a JSON object")
	}
	var d document
	fields := map[string]*string{"schema": &d.schema, "package": &d.pkg, "name": &d.name}
	var field *string // whose value comes next
	depth, wantKey := 0, false
	for at := 0; at < len(data); at++ {
		switch data[at] {
		case '{', '[':
			depth++
			wantKey = depth == 1
			if depth > 1 && field != nil {
				return document{}, errors.New("one of the fields schema, package, name is not text")
			}
		case '}', ']':
			if depth--; depth == 0 {
				d.raw = data[:at+1]
				return d, nil
			}
		case ',':
			wantKey = depth == 1
		case '"':
			size := stringEnd(data[at:])
			if size == 0 {
				return document{}, io.ErrUnexpectedEOF
			}
			token := data[at : at+size]
			at += size - 1
			if depth != 1 {
				continue
			}
			if wantKey {
				field, wantKey = fields[strings.ToLower(string(token[1:size-1]))], false
				continue
			}
			if field != nil {
				if err := json.Unmarshal(token, field); err != nil {
					return document{}, err
				}
				field = nil
			}
		}
	}
	return document{}, io.ErrUnexpectedEOF
}

// stringEnd returns the length of the JSON string data begins with, or 0 when
// it does not end.
func stringEnd(data []byte) int {
	for at := 1; at < len(data); at++ {
		switch data[at] {
		case '\\':
			at++
		case '"':
			return at + 1
		}
	}
	return 0
}

// splitYAML cuts at document markers. A line that begins with "---" is one
// wherever it stands: YAML forbids it within any scalar (1.2.2, section 9.1.2).
func splitYAML(data []byte) ([]document, error) {
	var docs []document
	var first error
	for len(data) > 0 {
		var chunk []byte
		chunk, data = cutDocument(data)
		if isBlank(chunk) {
			continue
		}
		d, ok := peekYAML(chunk)
		if !ok {
			var err error
			if d, err = decodeMeta(chunk); err != nil {
				if first == nil {
					first = err
				}
				continue
			}
		}
		docs = append(docs, d)
	}
	return docs, first
}

// cutDocument returns the document at the start of data and what follows it.
func cutDocument(data []byte) (chunk, rest []byte) {
	for at := 0; ; {
		i := bytes.Index(data[at:], []byte("\n---"))
		if i < 0 {
			return data, nil
		}
		at += i + 1
		if end := at + 3; end == len(data) || strings.IndexByte(" \t\r\n", data[end]) >= 0 {
			return data[:at], data[at:]
		}
	}
}

// isBlank reports whether a chunk holds nothing but markers, directives and
// comments.
func isBlank(chunk []byte) bool {
	for line := range bytes.Lines(chunk) {
		line = bytes.TrimSpace(line)
		switch {
		case len(line) == 0, line[0] == '#', line[0] == '%':
		case string(line) == "---", string(line) == "...":
		default:
			return false
		}
	}
	return true
}

// peekYAML finds the look-up keys of a block mapping without decoding it. It
// gives up, and leaves it to the decoder, on anything but plain or simply
// quoted words on lines of their own.
func peekYAML(chunk []byte) (document, bool) {
	d := document{raw: chunk}
	fields := map[string]*string{"schema": &d.schema, "package": &d.pkg, "name": &d.name}
	for line := range bytes.Lines(chunk) {
		if len(line) == 0 || !isLetter(line[0]) {
			if line[0] == '{' || line[0] == '[' || line[0] == '"' || line[0] == '\'' || line[0] == '?' {
				return d, false
			}
			continue
		}
		key, value, found := strings.Cut(strings.TrimRight(string(line), "\r\n"), ":")
		if !found {
			return d, false
		}
		field := fields[strings.ToLower(key)]
		if field == nil {
			continue
		}
		word, ok := simpleScalar(value)
		if !ok || *field != "" {
			return d, false
		}
		*field = word
	}
	return d, d.schema != ""
}

// simpleScalar reads a value that means the same to every YAML reader.
func simpleScalar(value string) (string, bool) {
	value = strings.TrimSpace(value)
	if len(value) >= 2 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0] {
		value = value[1 : len(value)-1]
	} else if value != "" && (value[0] < 'A' || !isLetter(value[0])) {
		return "", false // numbers, anchors, flow collections, nothing
	}
	switch strings.ToLower(value) {
	case "", "null", "true", "false", "yes", "no", "on", "off", "y", "n":
		return "", false
	}
	for i := range len(value) {
		if c := value[i]; !isLetter(c) && (c < '0' || c > '9') && strings.IndexByte("-._", c) < 0 {
			return "", false
		}
	}
	return value, true
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func decodeMeta(chunk []byte) (document, error) {
	fields, err := decodeFields(chunk)
	if err != nil {
		return document{}, err
	}
	d := document{raw: chunk}
	for key, to := range map[string]*string{"schema": &d.schema, "package": &d.pkg, "name": &d.name} {
		if value, ok := fields[key]; ok && value != nil {
			if *to, ok = value.(string); !ok {
				return document{}, fmt.Errorf("field %s is not text", key)
			}
		}
	}
	return d, nil
}

// decodeFields decodes one document into its fields. The look-up keys are
// found in any case, and must not be there twice.
func decodeFields(raw []byte) (map[string]any, error) {
	docs, err := preview.Decode(raw)
	if err != nil {
		return nil, err
	}
	if len(docs) != 1 {
		return nil, fmt.Errorf("%d documents where one was expected", len(docs))
	}
	fields, ok := docs[0].(map[string]any)
	if !ok {
		return nil, errors.New("a document that is no mapping")
	}
	seen := map[string]bool{}
	out := make(map[string]any, len(fields))
	for key, value := range fields {
		switch lower := strings.ToLower(key); lower {
		case "schema", "package", "name":
			if seen[lower] {
				return nil, fmt.Errorf("field %s is there twice, in different case", lower)
			}
			seen[lower] = true
			key = lower
		}
		out[key] = value
	}
	return out, nil
}
