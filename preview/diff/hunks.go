package diff

import (
	"strings"
)

// LineOp says what happens to a line in a diff: it is kept, deleted or inserted.
type LineOp string

// The line operations.
const (
	LineEqual  LineOp = " "
	LineDelete LineOp = "-"
	LineInsert LineOp = "+"
)

// Line is one line of a diff. From and To are its numbers in the old and the new text,
// counted from 1; 0 if it is not in that text. Spans are the parts that differ from the
// line that it replaces; empty if the whole line differs.
type Line struct {
	Op       LineOp
	Text     string
	From, To int
	Spans    []Span
}

// Span is a part of a line, as byte offsets into its text.
type Span struct {
	Start, End int
}

// Hunk is a sequence of changed lines with some unchanged lines around it.
type Hunk struct {
	Lines []Line
}

// Hunks returns the line diff of two texts as hunks, with context unchanged lines
// around each change; nil if the texts are equal. The result depends on the texts alone
// and takes limited time: long passages without similarity are shown as replaced.
func Hunks(before, after string, context int) []Hunk {
	lines := Lines(before, after)
	markSpans(lines)
	return group(lines, max(context, 0))
}

// Lines returns the line diff of two texts with all unchanged lines. Deleted lines
// precede the lines that replace them. Spans are left empty, because [Spans] takes
// longer for a long text.
func Lines(before, after string) []Line {
	return diffLines(splitLines(before), splitLines(after))
}

func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// group divides a diff into hunks, with context unchanged lines around each change.
func group(lines []Line, context int) []Hunk {
	var hunks []Hunk
	start, end := -1, 0
	for i, line := range lines {
		if line.Op == LineEqual {
			continue
		}
		if start >= 0 && i-context > end {
			hunks = append(hunks, Hunk{Lines: lines[start:end]})
			start = -1
		}
		if start < 0 {
			start = max(i-context, end)
		}
		end = min(i+1+context, len(lines))
	}
	if start >= 0 {
		hunks = append(hunks, Hunk{Lines: lines[start:end]})
	}
	return hunks
}
