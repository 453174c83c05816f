package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// peekJSON returns the first JSON object in data, with its schema, package and name in
// any letter case. It only looks for strings and brackets, because most documents are
// never used and the others are decoded later.
func peekJSON(data []byte) (document, error) {
	if data[0] != '{' {
		return document{}, errors.New("something else than a JSON object")
	}
	var d document
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
				return document{}, errMore
			}
			token := data[at : at+size]
			at += size - 1
			if depth != 1 {
				continue
			}
			if wantKey {
				field, wantKey = d.field(token[1:size-1]), false
				continue
			}
			if field != nil {
				if bytes.IndexByte(token, '\\') < 0 && utf8.Valid(token) {
					*field = string(token[1 : size-1])
				} else if err := json.Unmarshal(token, field); err != nil {
					return document{}, err
				}
				field = nil
			}
		}
	}
	return document{}, errMore
}

// field returns where to store the value of a key: of schema, package and name a field
// of d, of any other key nil.
func (d *document) field(name []byte) *string {
	switch {
	case len(name) == 6 && bytes.EqualFold(name, []byte("schema")):
		return &d.schema
	case len(name) == 7 && bytes.EqualFold(name, []byte("package")):
		return &d.pkg
	case len(name) == 4 && bytes.EqualFold(name, []byte("name")):
		return &d.name
	}
	return nil
}

// stringEnd returns the length in bytes of the JSON string at the beginning of data,
// including its quotes; 0 if it does not end.
func stringEnd(data []byte) int {
	for at := 1; at < len(data); {
		quote := bytes.IndexByte(data[at:], '"')
		if quote < 0 {
			return 0
		}
		end := at + quote
		escapes := 0
		for end-escapes > at && data[end-escapes-1] == '\\' {
			escapes++
		}
		at = end + 1
		if escapes%2 == 0 {
			return at
		}
	}
	return 0
}

// isBlank reports whether YAML text has only document markers, directives and comments.
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

// peekYAML reads schema, package and name of a YAML document without decoding it. It
// returns false unless each is a plain or simply quoted word on its own line.
func peekYAML(chunk []byte) (document, bool) {
	d := document{raw: chunk}
	for line := range bytes.Lines(chunk) {
		if len(line) == 0 || !isLetter(line[0]) {
			if line[0] == '{' || line[0] == '[' || line[0] == '"' || line[0] == '\'' || line[0] == '?' {
				return d, false
			}
			continue
		}
		key, value, found := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte(":"))
		if !found {
			return d, false
		}
		field := d.field(key)
		if field == nil {
			continue
		}
		word, ok := simpleScalar(string(value))
		if !ok || *field != "" {
			return d, false
		}
		*field = word
	}
	return d, d.schema != ""
}

// simpleScalar returns the string that a YAML scalar stands for; false if that could
// differ between YAML versions.
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

// decodeFields decodes a document into its top-level fields. The keys schema, package
// and name are recognised in any letter case, and are errors if they occur twice.
func decodeFields(raw []byte) (map[string]any, error) {
	docs, err := preview.Decode(raw)
	if err != nil {
		return nil, err
	}
	if len(docs) == 0 {
		return nil, errNoDocument
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
