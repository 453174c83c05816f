package preview

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// FileNumbers returns values of a file with the numbers that Helm reads there: each is a
// float64; a template prints 4651090 as 4.65109e+06. Whole numbers of --set are int64.
func FileNumbers(values map[string]any) map[string]any {
	return withScalars(values, fileNumber)
}

func fileNumber(scalar any) any {
	switch n := scalar.(type) {
	case int64:
		return float64(n)
	case uint64:
		return float64(n)
	}
	return scalar
}

// WholeNumbers returns values where whole numbers are int64, as in manifests, for
// formats that make no difference between numbers of files and of --set.
func WholeNumbers(values map[string]any) map[string]any {
	const exact = 1 << 53
	return withScalars(values, func(scalar any) any {
		if n, ok := scalar.(float64); ok && n > -exact && n < exact && float64(int64(n)) == n {
			return int64(n)
		}
		return scalar
	})
}

// ExactJSON returns the JSON of a value where a whole float64 has a point, so that
// [DecodeExactJSON] returns the types of the numbers too.
func ExactJSON(v any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(withScalar(v, exactNumber)); err != nil {
		return nil, fmt.Errorf("JSON of values: %w", err)
	}
	return bytes.TrimSpace(out.Bytes()), nil
}

// DecodeExactJSON decodes what [ExactJSON] returned: a number without a point or an
// exponent is an int64, and any other a float64.
func DecodeExactJSON(data []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var out any
	if err := decoder.Decode(&out); err != nil {
		return nil, fmt.Errorf("JSON of values: %w", err)
	}
	return withScalar(out, func(scalar any) any {
		n, ok := scalar.(json.Number)
		if !ok {
			return scalar
		}
		if whole, err := n.Int64(); err == nil {
			return whole
		}
		f, _ := n.Float64() // infinite for what is too large, which no canonical form has
		return f
	}), nil
}

func exactNumber(scalar any) any {
	n, ok := scalar.(float64)
	if !ok {
		return scalar
	}
	text, err := json.Marshal(n)
	if err != nil || strings.ContainsAny(string(text), ".e") {
		return scalar
	}
	return json.RawMessage(string(text) + ".0")
}

// holdsInteger reports whether a value is an int64, or has one.
func holdsInteger(v any) bool {
	found := false
	withScalar(v, func(scalar any) any {
		_, is := scalar.(int64)
		found = found || is
		return scalar
	})
	return found
}

// withScalars returns a copy of values with each scalar replaced by what replace returns.
func withScalars(values map[string]any, replace func(any) any) map[string]any {
	if values == nil {
		return nil
	}
	out := make(map[string]any, len(values))
	for key, value := range values {
		out[key] = withScalar(value, replace)
	}
	return out
}

func withScalar(value any, replace func(any) any) any {
	switch value := value.(type) {
	case map[string]any:
		return withScalars(value, replace)
	case []any:
		out := make([]any, len(value))
		for i, item := range value {
			out[i] = withScalar(item, replace)
		}
		return out
	}
	return replace(value)
}
