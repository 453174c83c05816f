package diff

import (
	"strings"
)

// LineOp says what happens to a line.
type LineOp string

// The line operations.
const (
	LineEqual  LineOp = " "
	LineDelete LineOp = "-"
	LineInsert LineOp = "+"
)

// Line is one line of a diff. From and To are its line numbers, counted from
// 1, in the old and the new text; 0 where it does not occur. Spans are the
// parts that differ from the line it replaces, none when all of it does.
type Line struct {
	Op       LineOp
	Text     string
	From, To int
	Spans    []Span
}

// Span is a part of a line, as byte offsets into its Text.
type Span struct {
	Start, End int
}

// Hunk is a run of changed lines with the lines around them.
type Hunk struct {
	Lines []Line
}

// Hunks returns the line diff of two texts with the given number of equal
// lines around each change. It returns none when the texts are equal. The same
// texts always give the same hunks, in bounded time: where two stretches
// resemble each other nowhere, one replaces the other as a whole.
func Hunks(before, after string, context int) []Hunk {
	lines := Lines(before, after)
	markSpans(lines)
	return group(lines, max(context, 0))
}

// Lines returns the line diff of two texts, equal lines included. Deleted lines
// come right before those that replace them. Spans are left to [Spans], which
// takes longer for a long text than the lines do.
func Lines(before, after string) []Line {
	return diffLines(splitLines(before), splitLines(after))
}

func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// group cuts a whole diff into hunks.
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
