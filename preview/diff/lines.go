package diff

import (
	"slices"
	"sort"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// maxMyers is the most lines of a range without anchors that are compared by the exact
// algorithm, whose time grows with the square.
const maxMyers = 4000

// differ computes a line diff. Equal lines have the same number, an index into table.
type differ struct {
	table []string
	out   []Line
	from  int
	to    int
}

// diffLines returns every line of both texts with its LineOp, deletions before the
// insertions that replace them.
func diffLines(before, after []string) []Line {
	d := &differ{}
	ids := map[string]int32{}
	a, b := d.intern(ids, before), d.intern(ids, after)
	d.out = make([]Line, 0, max(len(a), len(b)))
	d.stretch(a, b)
	return d.out
}

func (d *differ) intern(ids map[string]int32, lines []string) []int32 {
	out := make([]int32, len(lines))
	for i, line := range lines {
		id, ok := ids[line]
		if !ok {
			id = int32(len(d.table))
			ids[line] = id
			d.table = append(d.table, line)
		}
		out[i] = id
	}
	return out
}

// stretch compares two ranges of lines by patience diff: lines that occur once in each
// range are anchors, and the ranges between them are compared in turn.
func (d *differ) stretch(a, b []int32) {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	d.equal(a[:n])
	a, b = a[n:], b[n:]
	n = 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	tail := a[len(a)-n:]
	a, b = a[:len(a)-n], b[:len(b)-n]

	anchors := commonOnce(a, b)
	switch {
	case len(anchors) > 0:
		i, j := 0, 0
		for _, at := range anchors {
			d.stretch(a[i:at.a], b[j:at.b])
			d.equal(a[at.a : at.a+1])
			i, j = at.a+1, at.b+1
		}
		d.stretch(a[i:], b[j:])
	case len(a) > 0 && len(b) > 0 && len(a)+len(b) <= maxMyers:
		d.myers(a, b)
	default:
		d.remove(a)
		d.insert(b)
	}
	d.equal(tail)
}

type anchor struct{ a, b int }

// commonOnce returns the longest sequence of lines that occur exactly once in each
// range and are in the same order.
func commonOnce(a, b []int32) []anchor {
	type seen struct{ inA, inB, a, b int }
	lines := make(map[int32]*seen, len(a))
	for i, id := range a {
		s := lines[id]
		if s == nil {
			s = &seen{}
			lines[id] = s
		}
		s.inA, s.a = s.inA+1, i
	}
	for j, id := range b {
		if s := lines[id]; s != nil {
			s.inB, s.b = s.inB+1, j
		}
	}
	var candidates []anchor
	for i, id := range a {
		if s := lines[id]; s.inA == 1 && s.inB == 1 {
			candidates = append(candidates, anchor{i, s.b})
		}
	}
	return longestIncreasing(candidates)
}

// longestIncreasing returns the longest subsequence of candidates, sorted by a, with
// increasing b (patience sorting).
func longestIncreasing(candidates []anchor) []anchor {
	var tails []int // index into candidates of the smallest end of each length
	previous := make([]int, len(candidates))
	for i, c := range candidates {
		n := sort.Search(len(tails), func(k int) bool { return candidates[tails[k]].b >= c.b })
		previous[i] = -1
		if n > 0 {
			previous[i] = tails[n-1]
		}
		if n == len(tails) {
			tails = append(tails, i)
		} else {
			tails[n] = i
		}
	}
	if len(tails) == 0 {
		return nil
	}
	var out []anchor
	for i := tails[len(tails)-1]; i >= 0; i = previous[i] {
		out = append(out, candidates[i])
	}
	slices.Reverse(out)
	return out
}

// myers adds the shortest diff of two short ranges, by the library for texts, with each
// line as a rune.
func (d *differ) myers(a, b []int32) {
	local := map[int32]rune{}
	runes := func(ids []int32) []rune {
		out := make([]rune, len(ids))
		for i, id := range ids {
			r, ok := local[id]
			if !ok {
				r = rune(len(local) + 1)
				local[id] = r
			}
			out[i] = r
		}
		return out
	}
	i, j := 0, 0
	for _, part := range newDiff().DiffMainRunes(runes(a), runes(b), false) {
		n := len([]rune(part.Text))
		switch part.Type {
		case diffmatchpatch.DiffEqual:
			d.equal(a[i : i+n])
			i, j = i+n, j+n
		case diffmatchpatch.DiffDelete:
			d.remove(a[i : i+n])
			i += n
		case diffmatchpatch.DiffInsert:
			d.insert(b[j : j+n])
			j += n
		}
	}
}

// newDiff returns the diff algorithm without time limit, as results must not depend on
// the machine. Callers limit the input.
func newDiff() *diffmatchpatch.DiffMatchPatch {
	dmp := diffmatchpatch.New()
	dmp.DiffTimeout = 0
	return dmp
}

func (d *differ) equal(ids []int32) {
	for _, id := range ids {
		d.from++
		d.to++
		d.out = append(d.out, Line{Op: LineEqual, Text: d.table[id], From: d.from, To: d.to})
	}
}

func (d *differ) remove(ids []int32) {
	for _, id := range ids {
		d.from++
		d.out = append(d.out, Line{Op: LineDelete, Text: d.table[id], From: d.from})
	}
}

func (d *differ) insert(ids []int32) {
	for _, id := range ids {
		d.to++
		d.out = append(d.out, Line{Op: LineInsert, Text: d.table[id], To: d.to})
	}
}
