package preview

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// Decode decodes every YAML or JSON document of a file into maps with string keys,
// slices, strings, booleans, int64, uint64 and float64. Scalars have the meaning
// that the API server's decoder gives them (YAML 1.1 booleans, timestamps as
// text). Duplicate keys, keys that are not strings, numbers that are not finite,
// and documents that expand beyond the size limits are errors with a line number.
// Empty documents are dropped.
func Decode(data []byte) ([]any, error) {
	var values []any
	if err := eachDocument(data, false, func(doc Document) { values = append(values, doc.Value) }); err != nil {
		return nil, err
	}
	return values, nil
}

// DecodeJSON reads one JSON value under the rules of [Decode].
func DecodeJSON(data []byte) (any, error) { return DecodeJSONUpTo(data, MaxDocumentBytes) }

// DecodeJSONUpTo is [DecodeJSON] with a limit for what this program wrote itself.
func DecodeJSONUpTo(data []byte, most int) (any, error) {
	if len(data) > most {
		return nil, tooLargeFile(len(data), most)
	}
	docs, err := decodeJSONStream(data, 1, false)
	if err != nil {
		return nil, err
	}
	if len(docs) != 1 {
		return nil, fmt.Errorf("%d JSON values where one was expected", len(docs))
	}
	return docs[0].Value, nil
}

type yamlDecoder struct {
	nodes, aliases int
}

func (d *yamlDecoder) value(n *yaml.Node, depth int) (any, error) {
	d.nodes++
	if d.nodes > maxNodes {
		return nil, fmt.Errorf("line %d: expands to more than %d values", n.Line, maxNodes)
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("line %d: nested deeper than %d levels", n.Line, maxDepth)
	}
	switch n.Kind {
	case 0:
		return nil, nil
	case yaml.DocumentNode:
		if len(n.Content) == 0 {
			return nil, nil
		}
		return d.value(n.Content[0], depth)
	case yaml.AliasNode:
		d.aliases++
		if d.aliases > maxAliases {
			return nil, fmt.Errorf("line %d: more than %d aliases", n.Line, maxAliases)
		}
		return d.value(n.Alias, depth+1)
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for _, item := range n.Content {
			v, err := d.value(item, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case yaml.MappingNode:
		return d.mapping(n, depth)
	case yaml.ScalarNode:
		return scalar(n)
	}
	return nil, fmt.Errorf("line %d: a YAML node of an unknown kind", n.Line)
}

func (d *yamlDecoder) mapping(n *yaml.Node, depth int) (map[string]any, error) {
	out := make(map[string]any, len(n.Content)/2)
	var merges []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		keyNode, valueNode := n.Content[i], n.Content[i+1]
		if keyNode.Kind == yaml.ScalarNode && keyNode.ShortTag() == "!!merge" {
			merges = append(merges, valueNode)
			continue
		}
		key, err := d.key(keyNode)
		if err != nil {
			return nil, err
		}
		if _, dup := out[key]; dup {
			return nil, fmt.Errorf("line %d: key %q is set twice", keyNode.Line, key)
		}
		v, err := d.value(valueNode, depth+1)
		if err != nil {
			return nil, err
		}
		out[key] = v
	}
	for _, m := range merges {
		if err := d.merge(out, m, depth); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (d *yamlDecoder) key(n *yaml.Node) (string, error) {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.ScalarNode {
		return "", fmt.Errorf("line %d: a key that is not a string", n.Line)
	}
	v, err := scalar(n)
	if err != nil {
		return "", err
	}
	key, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("line %d: key %s is not a string; quote it", n.Line, n.Value)
	}
	return key, nil
}

// merge adds the keys of a YAML 1.1 merge value ("<<") that are not set in the
// mapping itself.
func (d *yamlDecoder) merge(into map[string]any, n *yaml.Node, depth int) error {
	v, err := d.value(n, depth+1)
	if err != nil {
		return err
	}
	sources, isList := v.([]any)
	if !isList {
		sources = []any{v}
	}
	for _, source := range sources {
		m, ok := source.(map[string]any)
		if !ok {
			return fmt.Errorf("line %d: a merge key needs a mapping", n.Line)
		}
		for key, item := range m {
			if _, set := into[key]; !set {
				into[key] = item
			}
		}
	}
	return nil
}

func scalar(n *yaml.Node) (any, error) {
	plain := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
	switch tag := n.ShortTag(); tag {
	case "!!null":
		return nil, nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true"), nil
	case "!!int":
		return integer(n)
	case "!!float":
		return floating(n)
	case "!!str", "!!timestamp":
		if plain && n.Tag != "!!str" || plain && n.Style&yaml.TaggedStyle == 0 {
			if b, ok := yaml11Bool(n.Value); ok {
				return b, nil
			}
		}
		return n.Value, nil
	default:
		return nil, fmt.Errorf("line %d: tag %s has no place in a manifest", n.Line, truncate(tag, 40))
	}
}

// yaml11Bool returns the value of a word that the API machinery's YAML 1.1
// decoder reads as a boolean and YAML 1.2 reads as text.
func yaml11Bool(s string) (value, ok bool) {
	switch s {
	case "y", "Y", "yes", "Yes", "YES", "on", "On", "ON":
		return true, true
	case "n", "N", "no", "No", "NO", "off", "Off", "OFF":
		return false, true
	}
	return false, false
}

func integer(n *yaml.Node) (any, error) {
	text := strings.ReplaceAll(n.Value, "_", "")
	if i, err := strconv.ParseInt(text, 0, 64); err == nil {
		return i, nil
	}
	if u, err := strconv.ParseUint(strings.TrimPrefix(text, "+"), 0, 64); err == nil {
		return u, nil
	}
	return nil, fmt.Errorf("line %d: the integer %s does not fit in 64 bits", n.Line, truncate(n.Value, 40))
}

func floating(n *yaml.Node) (any, error) {
	if strings.Trim(n.Value, "+-_0123456789") == "" {
		return integer(n) // the parser falls back to a double for what does not fit
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(n.Value, "_", ""), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fmt.Errorf("line %d: %s is not a finite number", n.Line, truncate(n.Value, 40))
	}
	return number(f), nil
}

// number returns a float64 without fraction as an integer, as a round trip through
// JSON does.
func number(f float64) any {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return int64(f)
	}
	return f
}

// decodeJSONStream decodes concatenated JSON values; line is the first line of the data.
// For manifests it counts the objects while it decodes.
func decodeJSONStream(data []byte, line int, manifests bool) ([]Document, error) {
	lenient := []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)} // names are checked here
	decoder := &jsonDecoder{Decoder: jsontext.NewDecoder(bytes.NewBuffer(data), lenient...), manifests: manifests}
	var docs []Document
	for counted := 0; ; {
		begin := int(decoder.InputOffset())
		begin += len(data[begin:]) - len(bytes.TrimLeft(data[begin:], " \t\r\n"))
		line += bytes.Count(data[counted:begin], []byte("\n"))
		counted = begin
		v, err := decoder.value(0)
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			return nil, err
		}
		if v != nil {
			docs = append(docs, Document{v, LineIndex{line: line}})
		}
		if manifests && len(docs) > MaxObjects {
			return nil, &limitError{tooManyObjects()}
		}
	}
}

// limitError is the error for data beyond a size limit. No other decoder is then tried.
type limitError struct{ error }

func (c *limitError) Unwrap() error { return c.error }

type jsonDecoder struct {
	*jsontext.Decoder
	manifests bool
}

// token reads the next token. The error is io.EOF only at the end of the last value.
func (d *jsonDecoder) token() (jsontext.Token, error) {
	token, err := d.ReadToken()
	if bad, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		err = fmt.Errorf("offset %d: %w", bad.ByteOffset, bad.Err)
	}
	return token, err
}

func (d *jsonDecoder) value(depth int) (any, error) {
	token, err := d.token()
	if err != nil {
		return nil, err
	}
	return d.valueOf(token, depth)
}

// valueOf returns the value that a token begins.
func (d *jsonDecoder) valueOf(token jsontext.Token, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("offset %d: nested deeper than %d levels", d.InputOffset(), maxDepth)
	}
	switch token.Kind() {
	case jsontext.KindBeginObject:
		return d.mapping(depth)
	case jsontext.KindBeginArray:
		return d.list(depth)
	case jsontext.KindString:
		return token.String(), nil
	case jsontext.KindNumber:
		return jsonNumber(token.String())
	case jsontext.KindTrue, jsontext.KindFalse:
		return token.Bool(), nil
	}
	return nil, nil // null
}

func (d *jsonDecoder) list(depth int) (any, error) {
	list := []any{}
	for {
		token, err := d.token()
		if err != nil || token.Kind() == jsontext.KindEndArray {
			return list, err
		}
		v, err := d.valueOf(token, depth+1)
		if err != nil {
			return nil, err
		}
		if list = append(list, v); d.manifests && depth == 1 && len(list) > MaxObjects {
			return nil, &limitError{tooManyObjects()} // the items of a List
		}
	}
}

func (d *jsonDecoder) mapping(depth int) (any, error) {
	m := map[string]any{}
	for begin := d.InputOffset(); ; {
		if size := d.InputOffset() - begin; d.manifests && depth > 0 && size > maxManifestBytes { // a List may be larger
			return nil, &limitError{tooLargeObject("", int(size))}
		}
		token, err := d.token()
		if err != nil || token.Kind() == jsontext.KindEndObject {
			return m, err
		}
		key := token.String()
		if _, dup := m[key]; dup {
			return nil, fmt.Errorf("offset %d: key %q is set twice", d.InputOffset(), truncate(key, 80))
		}
		if m[key], err = d.value(depth + 1); err != nil {
			return nil, err
		}
	}
}

func jsonNumber(text string) (any, error) {
	if !strings.ContainsAny(text, ".eE") {
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			return i, nil
		}
		if u, err := strconv.ParseUint(text, 10, 64); err == nil {
			return u, nil
		}
		return nil, fmt.Errorf("the integer %s does not fit in 64 bits", truncate(text, 40))
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) {
		return nil, fmt.Errorf("%s is not a finite number", truncate(text, 40))
	}
	return number(f), nil
}
