package diff

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Limits on the lines that are returned of changed texts; changes beyond them are
// counted.
const (
	maxLines     = 400  // of one text
	maxAllLines  = 4000 // of all texts together
	contextLines = 3
)

// LineDiffs makes line diffs of several texts, up to maxAllLines lines.
type LineDiffs struct{ left int }

// NewLineDiffs returns a LineDiffs that has used none of its lines.
func NewLineDiffs() LineDiffs { return LineDiffs{left: maxAllLines} }

// Diff returns the hunks that differ between two texts, as changes with unchanged lines
// around them. If the old text is empty, the new text is one hunk.
func (p *LineDiffs) Diff(was, is string) []preview.Change {
	var out []preview.Change
	kept := 0
	hunks := Hunks(was, is, contextLines)
	for i, hunk := range hunks {
		if n := len(hunk.Lines); kept+n > maxLines || n > p.left {
			if was == "" && kept == 0 { // one place: its beginning
				hunk.Lines = hunk.Lines[:min(maxLines, p.left)]
				out = append(out, hunkChange(hunk))
			}
			return append(out, preview.Change{Path: "more", Op: OpChange, From: "", To: fmt.Sprintf("%d of %d changed places are not shown whole; compare the files themselves", len(hunks)-i, len(hunks))})
		}
		kept, p.left = kept+len(hunk.Lines), p.left-len(hunk.Lines)
		out = append(out, hunkChange(hunk))
	}
	return out
}

// hunkChange returns a hunk as a change from its old lines to its new ones. The path is
// the range of lines.
func hunkChange(h Hunk) preview.Change {
	var from, to []string
	first, last, now := 0, 0, false
	for _, l := range h.Lines {
		if l.Op != LineInsert {
			from = append(from, l.Text)
		}
		if l.Op != LineDelete {
			to = append(to, l.Text)
		}
		now = now || l.To > 0
	}
	for _, l := range h.Lines {
		number := l.To
		if !now {
			number = l.From
		}
		if number > 0 && first == 0 {
			first = number
		}
		last = max(last, number)
	}
	c := preview.Change{Op: OpChange, Path: "lines " + strconv.Itoa(first) + "-" + strconv.Itoa(last)}
	c.From, c.To = textOf(from), textOf(to)
	switch {
	case len(from) == 0:
		c.Op, c.From = OpAdd, nil
	case len(to) == 0:
		c.Op, c.To = OpRemove, nil
	}
	return c
}

func textOf(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}
