package content

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// marks are texts of which every text with an item has at least one: names of fields,
// or escapes that could hide them in YAML and JSON.
var marks = []string{"image", "ontainer", "host", "rivileged", "capabilities", "verbs", "roleRef", "apiVersion", `\u`, `\x`, `\U`}

// text searches a text for objects, decoded from base64, gzip, YAML or JSON. depth is
// the number of texts that it lies in.
func (s *search) text(text, path string, depth int) {
	if len(text) < minText || strings.HasSuffix(path, lastApplied) || strings.HasSuffix(path, samples) {
		return
	}
	if plain, packed := unpack(text); packed {
		if depth < maxTexts {
			s.text(plain, path, depth+1)
		} else {
			s.skip(path)
		}
		return
	}
	if !hasMark(text) || !strings.ContainsAny(text, ":=") {
		return
	}
	if len(text) > maxText || len(text) > s.bytes || depth >= maxTexts {
		s.skip(path)
		return
	}
	s.bytes -= len(text)
	for i, v := range documents(text) {
		switch v.(type) {
		case map[string]any, []any:
			at := path
			if i > 0 {
				at += "#" + strconv.Itoa(i+1)
			}
			s.inText(v, at, depth+1)
		}
	}
}

// inText searches a value that was decoded from a text. The kind of the object around
// the text has no meaning for the value.
func (s *search) inText(v any, path string, depth int) {
	own, plain := s.own, s.plain
	s.own, s.plain = nil, false
	s.value(v, path, depth)
	s.own, s.plain = own, plain
}

// minText is the length in bytes below which a text holds no item.
const minText = 24

// lastApplied and samples end the paths of annotations that are not searched: kubectl's
// copy of the object itself, and OLM's example objects, which every Deployment of an
// operator has too.
const (
	lastApplied = `annotations["kubectl.kubernetes.io/last-applied-configuration"]`
	samples     = "annotations.alm-examples"
)

func hasMark(text string) bool {
	for _, mark := range marks {
		if strings.Contains(text, mark) {
			return true
		}
	}
	return false
}

// unpack returns a text decoded from base64, gzip or a data URL; packed is false if it
// is none of them.
func unpack(text string) (plain string, packed bool) {
	if rest, ok := strings.CutPrefix(text, "data:"); ok {
		head, body, found := strings.Cut(rest, ",")
		if found && !strings.ContainsAny(head, " \n{") {
			if strings.HasSuffix(head, ";base64") {
				return decode64(body)
			}
			plain, err := url.PathUnescape(body)
			return plain, err == nil
		}
	}
	return decode64(text)
}

func decode64(text string) (string, bool) {
	for i := 0; i < len(text); i++ {
		c := text[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("+/=-_\r\n", c) >= 0) {
			return "", false
		}
	}
	data, err := base64.RawStdEncoding.DecodeString(standard64.Replace(text))
	if err != nil {
		return "", false
	}
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		if data, err = gunzip(data); err != nil {
			return "", false
		}
	}
	return string(data), utf8.Valid(data) && len(data) >= minText
}

// standard64 leaves of any form of base64 the characters of the standard one.
var standard64 = strings.NewReplacer("\r", "", "\n", "", "=", "", "-", "+", "_", "/")

func gunzip(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, maxText+1))
}

// documents returns the values in a text: in YAML or JSON as a whole, else in each YAML
// document, in templates, and in the here-documents of scripts.
func documents(text string) []any {
	if values, err := preview.Decode([]byte(text)); err == nil {
		return values
	}
	var out []any
	for _, part := range strings.Split("\n"+text, "\n---") {
		values, err := preview.Decode([]byte(part))
		if err != nil && strings.Contains(part, "{{") {
			values, err = preview.Decode([]byte(untemplated(part)))
		}
		if err == nil {
			out = append(out, values...)
		}
	}
	for _, here := range hereDocuments(text) {
		if values, err := preview.Decode([]byte(here)); err == nil {
			out = append(out, values...)
		}
	}
	return out
}

var (
	actionLine = lazyregexp.New(`(?m)^[ \t]*(?:-[ \t]*)?(?:\{\{[^{}]*\}\}[ \t]*)+\r?$`)
	action     = lazyregexp.New(`\{\{[^{}]*\}\}`)
	hereMark   = lazyregexp.New(`<<-?[ \t]*["'\\]?([A-Za-z_][A-Za-z0-9_]*)["']?`)
)

// untemplated returns a Go template as if every condition held: lines with nothing but
// actions are left out, and every other action becomes the word x.
func untemplated(text string) string {
	return action.ReplaceAllString(actionLine.ReplaceAllString(text, ""), "x")
}

// hereDocuments returns the here-documents of a shell script.
func hereDocuments(text string) []string {
	var out []string
	lines := strings.Split(text, "\n")
	end, begin := "", 0
	for i, line := range lines {
		if end != "" {
			if strings.TrimSpace(line) == end {
				out = append(out, strings.Join(lines[begin:i], "\n"))
				end = ""
			}
			continue
		}
		if m := hereMark.FindStringSubmatch(line); m != nil {
			end, begin = m[1], i+1
		}
	}
	return out
}
