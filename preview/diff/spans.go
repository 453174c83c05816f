package diff

import (
	"unicode/utf8"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// Spans help a reader, and are left out for lines that are too long to read and for
// blocks of more lines than can be compared by eye.
const (
	maxSpanLine  = 2000 // bytes
	maxSpanBlock = 200  // lines
	// maxSpanWork is the most work for comparing two lines by characters, as the product
	// of the bytes in their differing middles: a millisecond. Larger middles are one
	// span.
	maxSpanWork = 1 << 15
)

// markSpans pairs the deleted lines of each block with the inserted lines that follow,
// in order, and sets the spans of each pair.
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

// Spans returns the parts of two lines that differ. Both are nil if less than a third
// of the longer line is common: then the whole line counts as changed.
func Spans(before, after string) (inBefore, inAfter []Span) {
	if max(len(before), len(after)) > maxSpanLine || !utf8.ValidString(before) || !utf8.ValidString(after) {
		return nil, nil
	}
	was, is := Middle(before, after)
	same := was.Start + len(before) - was.End
	from, to := before[was.Start:was.End], after[is.Start:is.End]
	if len(from)*len(to) > maxSpanWork {
		inBefore, inAfter = []Span{was}, []Span{is}
	} else {
		var within int
		inBefore, inAfter, within = letterSpans(from, to, was.Start)
		same += within
	}
	if same*3 < max(len(before), len(after)) {
		return nil, nil
	}
	return inBefore, inAfter
}

// Middle returns the parts of two texts that remain without their common beginning and
// end, in whole characters.
func Middle(before, after string) (inBefore, inAfter Span) {
	head := commonStart(before, after)
	tail := commonEnd(before[head:], after[head:])
	return Span{head, len(before) - tail}, Span{head, len(after) - tail}
}

// letterSpans compares two texts by characters. offset is added to the spans; same is
// the number of common bytes.
func letterSpans(before, after string, offset int) (inBefore, inAfter []Span, same int) {
	dmp := newDiff()
	i, j := offset, offset
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
	return inBefore, inAfter, same
}

// commonStart returns the number of bytes of the common beginning of two texts, in
// whole characters.
func commonStart(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(a) && !utf8.RuneStart(a[n]) || n > 0 && n < len(b) && !utf8.RuneStart(b[n]) {
		n--
	}
	return n
}

// commonEnd returns the number of bytes of the common end of two texts, in whole
// characters.
func commonEnd(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	for n > 0 && !utf8.RuneStart(a[len(a)-n]) {
		n--
	}
	return n
}
