package widget

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
)

// Differences are the byte offsets where a text first differs from other texts, the last
// offset first. If two texts are cut and both show these places, they look different.
type Differences []int

// maxDifferences is the most differences that a row shows.
const maxDifferences = 4

// DifferencesFrom returns where a text first differs from each of the others.
// Equal ones are ignored.
func DifferencesFrom(text string, others ...string) Differences {
	var out Differences
	for _, other := range others {
		if other == text {
			continue
		}
		n := 0
		for n < len(text) && n < len(other) && text[n] == other[n] {
			n++
		}
		for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
			n--
		}
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	slices.Reverse(out)
	return out[:min(len(out), maxDifferences)]
}

// near is how many rows before and after a row its text is compared with,
// because similar rows are next to each other in most lists.
const near = 8

// DifferencesAmong compares the text of row at, of n rows, with the rows around it; of
// returns a row's text.
func DifferencesAmong(n, at int, of func(int) string) Differences {
	others := make([]string, 0, 2*near)
	for i := max(0, at-near); i < min(n, at+near+1); i++ {
		if i != at {
			others = append(others, of(i))
		}
	}
	return DifferencesFrom(of(at), others...)
}

// Split divides the differences into those in the first n bytes of the text and
// those in the rest, which then count from there.
func (d Differences) Split(n int) (before, after Differences) {
	for _, at := range d {
		if at < n {
			before = append(before, at)
		} else {
			after = append(after, at-n)
		}
	}
	return before, after
}

// Apart returns a text in a list as a span of exactly width cells. A text that is too
// long is cut in its middle, but the places where it differs from the rows next to it
// stay.
func Apart(role theme.Role, text string, differs Differences, width int) Span {
	safe := textsafe.Line(text)
	if textsafe.Width(safe) > width && width > 0 {
		cells := make([]int, 0, len(differs))
		for _, at := range differs {
			cells = append(cells, textsafe.Width(textsafe.Line(text[:at])))
		}
		safe = apart(safe, cells, width)
	}
	return Span{text: fit(safe, width), role: role}
}

// piece is a part of a text that is shown, from one cell up to another.
type piece struct{ from, to int }

// shown is how many cells are shown at least of each end of a text and of each
// difference.
const shown = 3

// apart cuts a harmless text to its ends and the cells of the differences. If
// those do not fit, the leftmost differences are left out.
func apart(safe string, differs []int, width int) string {
	all := textsafe.Width(safe)
	for {
		pieces := pieces(differs, all)
		free := width - (len(pieces) - 1)
		for _, p := range pieces {
			free -= p.to - p.from
		}
		if free < 0 && len(differs) > 0 {
			differs = differs[:len(differs)-1]
			continue
		}
		if free < 0 {
			return textsafe.Truncate(safe, width)
		}
		return paste(safe, grow(pieces, free))
	}
}

// pieces returns the ends of a text of all cells and the places where it differs, in
// order and without overlaps.
func pieces(differs []int, all int) []piece {
	list := []piece{{0, min(shown, all)}, {max(0, all-shown), all}}
	for _, at := range differs {
		if at < all {
			list = append(list, piece{at, min(at+shown, all)})
		}
	}
	slices.SortFunc(list, func(a, b piece) int { return a.from - b.from })
	return join(list)
}

// join merges pieces that touch, or with one cell between them, which the sign
// of a cut (…) would take.
func join(list []piece) []piece {
	out := list[:1]
	for _, p := range list[1:] {
		if last := &out[len(out)-1]; p.from <= last.to+1 {
			last.to = max(last.to, p.to)
			continue
		}
		out = append(out, p)
	}
	return out
}

// grow distributes free cells among pieces, one after the other: the last piece
// grows at its beginning, all others at their ends.
func grow(list []piece, free int) []piece {
	for i := 0; free > 0 && len(list) > 1; i = (i + 1) % len(list) {
		if i == len(list)-1 {
			list[i].from--
		} else {
			list[i].to++
		}
		free--
		before := len(list)
		for k := range len(list) - 1 {
			if list[k].to >= list[k+1].from {
				list[k].to = list[k+1].to
				list = slices.Delete(list, k+1, k+2)
				free++ // the sign of the cut
				break
			}
		}
		if len(list) != before {
			i = -1
		}
	}
	return list
}

// paste joins the pieces of a text with the sign of a cut (…).
func paste(safe string, list []piece) string {
	var b strings.Builder
	at := 0
	for i, p := range list {
		if i > 0 {
			b.WriteString("…")
		}
		safe = dropCells(safe, p.from-at)
		text, rest := takeCells(safe, p.to-p.from)
		b.WriteString(text)
		safe, at = rest, p.to
	}
	return b.String()
}

// takeCells divides a text after some cells. A wide character there, which
// would be halved, becomes a blank on both sides.
func takeCells(s string, cells int) (taken, rest string) {
	state, at, used := -1, 0, 0
	for used < cells && at < len(s) {
		cluster, _, width, next := uniseg.FirstGraphemeClusterInString(s[at:], state)
		if used+width > cells {
			return s[:at] + strings.Repeat(" ", cells-used), strings.Repeat(" ", used+width-cells) + s[at+len(cluster):]
		}
		at, used, state = at+len(cluster), used+width, next
	}
	return s[:at], s[at:]
}
