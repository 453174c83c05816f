package preview

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"sort"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Canonical returns the canonical JSON of a decoded value: RFC 8785, except that
// integers are written as their exact decimal digits, because the API
// distinguishes 9007199254740993 from 9007199254740992.
//
// The value may consist of maps with string keys, slices of any, strings,
// booleans, nil, int, int64, uint64 and finite float64. Anything else, and
// text that is not UTF-8, is an error.
func Canonical(v any) ([]byte, error) {
	var b bytes.Buffer
	if err := writeCanonical(&b, v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func writeCanonical(b *bytes.Buffer, v any) error {
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case string:
		return writeString(b, v)
	case int:
		b.WriteString(strconv.Itoa(v))
	case int64:
		b.WriteString(strconv.FormatInt(v, 10))
	case uint64:
		b.WriteString(strconv.FormatUint(v, 10))
	case float64:
		return writeFloat(b, v)
	case []any:
		return writeList(b, v)
	case map[string]any:
		return writeMap(b, v)
	default:
		return fmt.Errorf("canonical JSON: a value of type %T has no canonical form", v)
	}
	return nil
}

func writeList(b *bytes.Buffer, list []any) error {
	b.WriteByte('[')
	for i, item := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := writeCanonical(b, item); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

func writeMap(b *bytes.Buffer, m map[string]any) error {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool { return lessUTF16(keys[i], keys[j]) })
	b.WriteByte('{')
	for i, k := range keys {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := writeString(b, k); err != nil {
			return err
		}
		b.WriteByte(':')
		if err := writeCanonical(b, m[k]); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

// lessUTF16 orders keys by UTF-16 code units (RFC 8785 section 3.2.3). It
// differs from byte order only beyond the basic multilingual plane.
func lessUTF16(a, b string) bool {
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i] != b[i] {
			if a[i] < utf8.RuneSelf && b[i] < utf8.RuneSelf {
				return a[i] < b[i]
			}
			break
		}
		if a[i] >= utf8.RuneSelf {
			break
		}
	}
	x, y := utf16.Encode([]rune(a)), utf16.Encode([]rune(b))
	for i := 0; i < len(x) && i < len(y); i++ {
		if x[i] != y[i] {
			return x[i] < y[i]
		}
	}
	return len(x) < len(y)
}

// writeString writes a JSON string, escaping only what RFC 8785 section 3.2.2.2
// requires.
func writeString(b *bytes.Buffer, s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("canonical JSON: text is not valid UTF-8: %q", truncate(s, 40))
	}
	b.WriteByte('"')
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		b.WriteString(s[start:i])
		start = i + 1
		switch c {
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '\b':
			b.WriteString(`\b`)
		case '\t':
			b.WriteString(`\t`)
		case '\n':
			b.WriteString(`\n`)
		case '\f':
			b.WriteString(`\f`)
		case '\r':
			b.WriteString(`\r`)
		default:
			fmt.Fprintf(b, `\u%04x`, c)
		}
	}
	b.WriteString(s[start:])
	b.WriteByte('"')
	return nil
}

// writeFloat writes a number as ECMAScript's Number::toString does, which RFC 8785
// section 3.2.2.3 prescribes; encoding/json uses the same thresholds for
// exponents.
func writeFloat(b *bytes.Buffer, f float64) error {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Errorf("canonical JSON: %v is not a JSON number", f)
	}
	if f == 0 {
		b.WriteByte('0')
		return nil
	}
	text, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("canonical JSON: %w", err)
	}
	// ECMAScript writes 1e+21 where encoding/json does too, and 1e-7 for both.
	b.Write(text)
	return nil
}

// HashBytes returns "sha256:" and the hexadecimal sha256 of data.
func HashBytes(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Hash returns the sha256 of a value's canonical JSON.
func Hash(v any) (string, error) {
	data, err := Canonical(v)
	if err != nil {
		return "", err
	}
	return HashBytes(data), nil
}

// hashStruct hashes the JSON of a Go value. It is for types of this program, whose JSON
// field names must not change.
func hashStruct(v any) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("canonical JSON: %w", err)
	}
	generic, err := DecodeJSONUpTo(data, MaxPlanBytes)
	if err != nil {
		return "", err
	}
	return Hash(generic)
}

func truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + "…"
}
