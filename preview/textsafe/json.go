package textsafe

import (
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON returns encoded JSON with every character that [Printable] refuses and
// encoding/json does not escape (DEL, C1, bidirectional, zero-width, private …) as \u
// escape. It decodes to the same values. Invalid UTF-8, which is not JSON, becomes
// \ufffd.
func JSON(data []byte) []byte {
	if !needsEscape(data) {
		return data
	}
	out := make([]byte, 0, len(data)+len(data)/8)
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r < 0x20 || Printable(r) && (r != utf8.RuneError || size > 1):
			out = append(out, data[i:i+size]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		i += size
	}
	return out
}

func needsEscape(data []byte) bool {
	for _, c := range data {
		if c >= 0x7f {
			return true
		}
	}
	return false
}
