package report

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

const (
	maxValue     = 400  // cells of one value, apart from what changed in it
	maxChanged   = 1000 // cells of what changed in a value
	contextCells = 32   // around what changed, where the rest is cut
	maxDiffLines = 40   // of one value of several lines
)

// changeLinesAt returns the lines about a changed field, indented by indent.
func changeLinesAt(indent string, c preview.Change, l layout) []string {
	later := indent + "    "
	name := line(c.Path) + ":"
	c = c.Readable()
	from, fromOK := c.From.(string)
	to, toOK := c.To.(string)
	ofText := !strings.HasPrefix(c.Path, ".") && (fromOK || c.From == nil) && (toOK || c.To == nil) // lines of a file, no field
	switch {
	case (ofText || fromOK && toOK) && strings.Contains(strings.TrimSpace(from+to), "\n"):
		return append([]string{indent + "~ " + name}, fold(textDiff(from, to, later), maxDiffLines, later)...)
	case c.Op == diff.OpAdd:
		return l.exact(indent+"+ "+name, later, wholeValue(c.To))
	case c.Op == diff.OpRemove:
		return l.exact(indent+"- "+name, later, wholeValue(c.From))
	}
	was, is := changedValues(c, maxValue)
	return l.exact(indent+"~ "+name, later, was+" -> "+is)
}

// textDiff returns the changed lines of a text as a diff, with two lines around them.
// They are not wrapped, because indentation is content.
func textDiff(from, to, indent string) []string {
	var out []string
	for _, hunk := range diff.Hunks(from, to, 2) {
		if len(out) > 0 {
			out = append(out, indent+"…")
		}
		for _, changed := range hunk.Lines {
			out = append(out, indent+string(changed.Op)+" "+changedLine(changed))
		}
	}
	return out
}

// changedLine returns a line of a diff, of which the changed part is not cut at
// [maxValue].
func changedLine(l diff.Line) string {
	changed := diff.Span{End: len(l.Text)}
	if n := len(l.Spans); n > 0 {
		changed = diff.Span{Start: l.Spans[0].Start, End: l.Spans[n-1].End}
	} else if l.Op == diff.LineEqual {
		changed = diff.Span{}
	}
	return around(l.Text, changed, maxValue)
}

// wholeValue returns a value that is new or removed, so that all of it is a change.
func wholeValue(v any) string {
	text := valueText(v)
	return around(text, diff.Span{End: len(text)}, maxValue)
}

// changedValues returns both values of a changed field, each cut to about n cells around
// what is not the same in both.
func changedValues(c preview.Change, n int) (was, is string) {
	was, is = valueText(c.From), valueText(c.To)
	inWas, inIs := diff.Middle(was, is)
	return around(was, inWas, n), around(is, inIs, n)
}

// around returns a text cut to about n cells before and after its changed part, and that
// part to [maxChanged]: where a text is cut must not hide what is reviewed.
func around(text string, changed diff.Span, n int) string {
	width := textsafe.Width(line(text))
	if width <= n {
		return line(text)
	}
	start, end := max(0, changed.Start-contextCells), min(len(text), max(changed.End+contextCells, changed.Start-contextCells+n))
	for start > 0 && !utf8.RuneStart(text[start]) {
		start--
	}
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end++
	}
	shown, rest := line(text[start:end]), ""
	if start > 0 {
		shown = "…" + shown
	}
	if shown = textsafe.Truncate(shown, max(n, maxChanged)); end < len(text) && !strings.HasSuffix(shown, "…") {
		shown += "…"
	}
	if start > 0 || strings.HasSuffix(shown, "…") {
		rest = " (" + strconv.Itoa(width) + " characters)"
	}
	return shown + rest
}

// valueText returns a value as JSON, which distinguishes "1" from 1.
func valueText(v any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return "(not shown: " + err.Error() + ")"
	}
	switch s := v.(type) {
	case preview.Caption:
		return line(string(s))
	case string:
		if s == preview.Masked || s == diff.MaskedChanged {
			return s
		}
	}
	return strings.TrimSuffix(out.String(), "\n")
}
