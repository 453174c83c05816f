package code

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// expand replaces $(NAME) by the value of a variable, as the kubelet does in commands.
func expand(text string, variables map[string]string) string {
	if !strings.Contains(text, "$(") || len(variables) == 0 {
		return text
	}
	return kubeletVariable.ReplaceAllStringFunc(text, func(m string) string {
		if value, ok := variables[m[2:len(m)-1]]; ok && len(value) < maxValue {
			return value
		}
		return m
	})
}

// maxValue is the length in bytes from which on the value of a variable is not put in.
const maxValue = 4096

var (
	kubeletVariable = lazyregexp.New(`\$\([A-Za-z_][A-Za-z0-9_.-]*\)`)
	continued       = lazyregexp.New(`\\\r?\n[ \t]*`)
	ansiQuoted      = lazyregexp.New(`\$'((?:[^'\\]|\\.)*)'`)
	hexRun          = lazyregexp.New(`(?:\\x[0-9a-fA-F]{2})+`)
	octalRun        = lazyregexp.New(`(?:\\0?[0-7]{3}){2,}`)
	unicodeRun      = lazyregexp.New(`(?:\\u[0-9a-fA-F]{4})+`)
	fieldSeparator  = lazyregexp.New(`\$\{IFS[^}]*\}|\$IFS(?:\$\d)?`)
	nothing         = lazyregexp.New(`\$\{?[@*!]\}?|\$\{[A-Za-z_]\w*:[+-]\}|\$\(\s*\)|` + "``")
	braces          = lazyregexp.New(`(^|[\s;&|("'])\{([^{}\s]+,[^{}\s]*)\}`)
	assignment      = lazyregexp.New(`(?m)(?:^|[\s;&(])([A-Za-z_]\w*)=("[^"\n]*"|'[^'\n]*'|[^\s;&|"'()<>]*)`)
	reference       = lazyregexp.New(`\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))`)
	echoed          = lazyregexp.New(`(?:\$\(|` + "`" + `)\s*(?:echo|printf)\s+(?:-[neE]+\s+)?([^()|;` + "`" + `\n]+?)\s*(?:\)|` + "`" + `)`)
	echoDecoded     = lazyregexp.New(`(?:\$\(|` + "`" + `)\s*(?:echo|printf)\s+(?:-[neE]+\s+)?["']?([A-Za-z0-9+/=_-]{2,})["']?\s*\|\s*(base64\s+(?:-d|-D|--decode)|rev|xxd\s+-r\s+-p)\s*(?:\)|` + "`" + `)`)
)

// spell returns a text as a shell would read it: without quotes, escapes and empty
// expansions, and with variables and the output of echo put in.
func spell(text string, variables map[string]string) string {
	if !strings.ContainsAny(text, "\\'\"$`{") {
		return text
	}
	if strings.Contains(text, `\`) {
		text = continued.ReplaceAllString(text, " ")
		text = ansiQuoted.ReplaceAllStringFunc(text, func(m string) string { return unescape(m[2 : len(m)-1]) })
		text = unescape(text)
	}
	if strings.Contains(text, "$") || strings.Contains(text, "`") {
		if strings.Contains(text, "echo") || strings.Contains(text, "printf") {
			text = echoDecoded.ReplaceAllStringFunc(text, echoOf)
			text = echoed.ReplaceAllString(text, "$1")
		}
		text = fieldSeparator.ReplaceAllString(text, " ")
		text = values(text, variables)
		text = fieldSeparator.ReplaceAllString(text, " ")
		text = nothing.ReplaceAllString(text, "")
	}
	if strings.Contains(text, "{") {
		text = braces.ReplaceAllStringFunc(text, func(m string) string {
			open := strings.IndexByte(m, '{')
			return m[:open] + strings.ReplaceAll(m[open+1:len(m)-1], ",", " ")
		})
	}
	var out strings.Builder
	out.Grow(len(text))
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\'' || c == '"':
		case c == '\\' && i+1 < len(text) && text[i+1] != '\n' && text[i+1] != '\\':
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}

// unescape replaces escapes such as \x41 by the characters that they stand for.
func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	text = hexRun.ReplaceAllStringFunc(text, func(m string) string {
		b, err := hex.DecodeString(strings.ReplaceAll(m, `\x`, ""))
		if err != nil {
			return m
		}
		return string(b)
	})
	text = unicodeRun.ReplaceAllStringFunc(text, func(m string) string {
		var out strings.Builder
		for _, part := range strings.Split(m, `\u`)[1:] {
			if n, err := strconv.ParseUint(part, 16, 16); err == nil {
				out.WriteRune(rune(n))
			}
		}
		return out.String()
	})
	return octalRun.ReplaceAllStringFunc(text, func(m string) string {
		var out strings.Builder
		for _, part := range strings.Split(m, `\`)[1:] {
			if n, err := strconv.ParseUint(part, 8, 16); err == nil && n < utf8.RuneSelf {
				out.WriteByte(byte(n))
			}
		}
		return out.String()
	})
}

// echoOf returns the output of a command substitution that decodes a literal, such as
// $(echo ... | base64 -d).
func echoOf(m string) string {
	found := echoDecoded.FindStringSubmatch(m)
	switch {
	case strings.HasPrefix(found[2], "rev"):
		runes := []rune(found[1])
		slices.Reverse(runes)
		return string(runes)
	case strings.HasPrefix(found[2], "xxd"):
		if b, err := hex.DecodeString(found[1]); err == nil {
			return string(b)
		}
	default:
		if b, ok := fromBase64(found[1]); ok {
			return string(b)
		}
	}
	return m
}

// values replaces variables by their values, as the text sets them or the container's
// environment (given) does.
func values(text string, given map[string]string) string {
	if !strings.Contains(text, "$") {
		return text
	}
	set := map[string]string{}
	for name, value := range given {
		if len(value) < maxValue {
			set[name] = value
		}
	}
	for _, m := range assignment.FindAllStringSubmatch(text, 200) {
		set[m[1]] = strings.Trim(m[2], `"'`)
	}
	if len(set) == 0 {
		return text
	}
	room := len(text) + 1<<16
	for range 3 {
		before := text
		grown := 0
		text = reference.ReplaceAllStringFunc(text, func(m string) string {
			value, ok := set[strings.Trim(m, "${}")]
			if grown += len(value); !ok || grown > room {
				return m
			}
			return value
		})
		if text == before {
			break
		}
	}
	return text
}

// blob is the decoded content of base64 or hexadecimal digits in a text.
type blob struct {
	source  string // the encoded text
	text    string // the decoded text, or
	program string // the format of a decoded program, such as ELF
}

const (
	maxBlobs   = 500
	maxDecoded = 4 << 20
)

// decoded returns the decoded content of all base64 and hexadecimal digits in a text.
// Consecutive lines of only such digits are taken as one.
func decoded(text string) []blob {
	var out []blob
	left := maxDecoded
	for _, run := range runs(text) {
		clean := strings.Join(strings.Fields(run), "")
		if data, err := hex.DecodeString(clean); err == nil {
			out = appendBlob(out, run, data, &left)
		} else if data, ok := fromBase64(clean); ok {
			out = appendBlob(out, run, data, &left)
		}
	}
	return out
}

// minRun is the length below which base64 is not decoded, as no command is that short.
const minRun = 20

// runs returns the sequences of base64 digits in a text, hexadecimal ones included.
func runs(text string) []string {
	var out []string
	start := -1
	for i := 0; i <= len(text); i++ {
		if i < len(text) && base64Digit(text[i]) {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 && i-start >= minRun {
			if next := continuation(text, i); next > i {
				i = next - 1
				continue
			}
			out = append(out, text[start:i])
		}
		start = -1
	}
	return out
}

// continuation returns the offset of the next line if it continues a sequence of base64
// digits, else i.
func continuation(text string, i int) int {
	if i >= len(text) || text[i] != '\n' && text[i] != '\r' {
		return i
	}
	next := i
	for next < len(text) && strings.IndexByte(" \t\r\n", text[next]) >= 0 {
		next++
	}
	for end := next; end < len(text); end++ {
		if text[end] == '\n' || text[end] == '\r' {
			break
		}
		if !base64Digit(text[end]) && text[end] != '=' {
			return i
		}
	}
	return next
}

func base64Digit(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '-' || c == '_'
}

func appendBlob(out []blob, source string, data []byte, left *int) []blob {
	if len(out) >= maxBlobs || *left <= 0 {
		return out
	}
	data = unpacked(data, *left)
	*left -= len(data)
	if format := Program(data); format != "" {
		return append(out, blob{source: source, program: format})
	}
	if text, ok := readable(data); ok {
		return append(out, blob{source: source, text: text})
	}
	return out
}

func fromBase64(run string) ([]byte, bool) {
	clean := strings.Map(func(r rune) rune {
		switch r {
		case '\n', '\r', '\t', ' ', '=':
			return -1
		case '-':
			return '+'
		case '_':
			return '/'
		}
		return r
	}, run)
	data, err := base64.RawStdEncoding.DecodeString(clean[:len(clean)-btoi(len(clean)%4 == 1)])
	return data, err == nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// unpacked returns gzip data uncompressed, at most limit bytes, and other data as it
// is.
func unpacked(data []byte, limit int) []byte {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return data
	}
	plain, _ := io.ReadAll(io.LimitReader(r, int64(limit))) // what can be read of it
	return plain
}

// Program returns the format of executable data, such as ELF; empty for other data.
func Program(data []byte) string {
	for _, format := range []struct{ name, magic string }{
		{"ELF", "\x7fELF"}, {"WebAssembly", "\x00asm"}, {"Mach-O", "\xcf\xfa\xed\xfe"}, {"Java class", "\xca\xfe\xba\xbe"},
	} {
		if bytes.HasPrefix(data, []byte(format.magic)) {
			return format.name
		}
	}
	if bytes.HasPrefix(data, []byte("MZ")) && bytes.Contains(data[:min(len(data), 1024)], []byte("PE\x00\x00")) {
		return "Windows program"
	}
	return ""
}

// readable returns data as text; ok is false if it is not nearly all printable. UTF-16,
// which PowerShell uses, is converted.
func readable(data []byte) (string, bool) {
	if len(data) >= 8 && data[1] == 0 && data[3] == 0 && data[5] == 0 {
		var narrow []byte
		for i := 0; i < len(data); i += 2 {
			narrow = append(narrow, data[i])
		}
		data = narrow
	}
	odd := 0
	for _, c := range data {
		if c < 0x20 && c != '\n' && c != '\t' && c != '\r' && c != 0x1b || c == 0x7f {
			odd++
		}
	}
	return string(data), len(data) >= 8 && odd*20 <= len(data) && utf8.Valid(data)
}
