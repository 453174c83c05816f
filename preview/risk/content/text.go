package content

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// marks are what a text has that holds an item: names of fields, or the escapes
// by which YAML and JSON hide them.
var marks = []string{"image", "ontainer", "host", "rivileged", "capabilities", "verbs", "roleRef", "apiVersion", `\u`, `\x`, `\U`}

// text looks into a text that may hold objects.
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

// inText walks through a value that a text holds, which no kind gives a meaning.
func (s *search) inText(v any, path string, depth int) {
	own, plain := s.own, s.plain
	s.own, s.plain = nil, false
	s.value(v, path, depth)
	s.own, s.plain = own, plain
}

// minText is shorter than any text that holds an item.
const minText = 24

// lastApplied is what kubectl notes of the object itself, samples what OLM offers to
// users as examples, on each Deployment of an operator too.
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

// unpack returns what a text is in base64, gzip or a data URL.
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
	compact := strings.NewReplacer("\r", "", "\n", "", "=", "", "-", "+", "_", "/").Replace(text)
	data, err := base64.RawStdEncoding.DecodeString(compact)
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

func gunzip(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, maxText+1))
}

// documents returns the values that a text holds: of the whole, else of each of
// its documents, of what a template makes, and of what a script writes.
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
	actionLine = regexp.MustCompile(`(?m)^[ \t]*(?:-[ \t]*)?(?:\{\{[^{}]*\}\}[ \t]*)+\r?$`)
	action     = regexp.MustCompile(`\{\{[^{}]*\}\}`)
	hereMark   = regexp.MustCompile(`<<-?[ \t]*["'\\]?([A-Za-z_][A-Za-z0-9_]*)["']?`)
)

// untemplated returns a template as it is when each condition holds: lines of
// nothing but actions are left out, other actions are a word.
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
