package diff

import (
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// Spans are for eyes: they are left out where a line is longer than anybody
// reads, or where a block replaces more lines than can be set side by side.
const (
	maxSpanLine  = 2000 // bytes
	maxSpanBlock = 200  // lines
)

// markSpans pairs the deleted lines of each block with the inserted ones that
// follow them, in order, and marks within each pair what differs.
func markSpans(lines []Line) {
	for i := 0; i < len(lines); {
		deleted := run(lines[i:], LineDelete)
		inserted := run(lines[i+deleted:], LineInsert)
		if n := min(deleted, inserted); n > 0 && n <= maxSpanBlock {
			for k := range n {
				before, after := &lines[i+k], &lines[i+deleted+k]
				before.Spans, after.Spans = Spans(before.Text, after.Text)
			}
		}
		i += max(deleted+inserted, 1)
	}
}

func run(lines []Line, op LineOp) int {
	n := 0
	for n < len(lines) && lines[n].Op == op {
		n++
	}
	return n
}

// Spans returns the parts of two lines that differ. Both are empty when less
// than a third of the longer line stays: then the whole line is the change.
func Spans(before, after string) (inBefore, inAfter []Span) {
	if max(len(before), len(after)) > maxSpanLine || !utf8.ValidString(before) || !utf8.ValidString(after) {
		return nil, nil
	}
	dmp := newDiff()
	same, i, j := 0, 0, 0
	for _, part := range dmp.DiffCleanupSemantic(dmp.DiffMain(before, after, false)) {
		n := len(part.Text)
		switch part.Type {
		case diffmatchpatch.DiffEqual:
			same, i, j = same+n, i+n, j+n
		case diffmatchpatch.DiffDelete:
			inBefore = append(inBefore, Span{i, i + n})
			i += n
		case diffmatchpatch.DiffInsert:
			inAfter = append(inAfter, Span{j, j + n})
			j += n
		}
	}
	if same*3 < max(len(before), len(after)) {
		return nil, nil
	}
	return inBefore, inAfter
}
