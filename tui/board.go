package tui

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// foldOver findings of one rule and severity become one item.
const foldOver = 3

// item is what a person looks at: one finding, or several of one rule.
type item struct {
	label    string // C1, W2, U1, I3: of this screen only, never input
	findings []preview.Finding
}

func (it item) first() preview.Finding     { return it.findings[0] }
func (it item) severity() preview.Severity { return it.findings[0].Severity }

// section is a part of the lists of findings.
type section struct {
	severity preview.Severity
	earlier  bool // accepted with an earlier revision
}

func (it item) section() section {
	return section{it.severity(), it.severity() == preview.Warning && it.first().AcceptedIn > 0}
}

// sections are all of them, in the order of the lists and of the board.
func sections() []section {
	return []section{{severity: preview.Critical}, {severity: preview.Warning}, {preview.Warning, true}, {severity: preview.NotKnown}, {severity: preview.Info}}
}

func (s section) title() string {
	if s.earlier {
		return "ACCEPTED EARLIER"
	}
	return sectionTitle(s.severity)
}

// marks remembers what was looked at, by [markKey]. It outlives a plan.
type marks map[string]bool

// markKey binds a mark to rule, object and evidence: other evidence is
// another thing to look at.
func markKey(f preview.Finding) string {
	return f.Rule + "\x00" + f.Object + "\x00" + f.Fingerprint
}

// board is the findings of a plan in the order they are looked at.
type board struct {
	items  []item
	marks  marks
	by     map[preview.Severity][]int
	labels map[string]int
	seen   []bool // by item; kept beside the marks so that no frame counts them
	seenIn map[section]int
}

func newBoard(findings []preview.Finding, m marks) *board {
	b := &board{marks: m}
	byRank := slices.Clone(findings)
	slices.SortStableFunc(byRank, func(x, y preview.Finding) int {
		return cmp.Or(x.Severity.Rank()-y.Severity.Rank(), preview.FalseFirst(x.AcceptedIn > 0, y.AcceptedIn > 0))
	})
	count := map[string]int{}
	kind := func(f preview.Finding) string { return fmt.Sprint(f.Severity, f.AcceptedIn > 0, "/", f.Rule) }
	for _, f := range byRank {
		count[kind(f)]++
	}
	folded := map[string]int{}
	numbers := map[string]int{}
	for _, f := range byRank {
		if at, ok := folded[kind(f)]; ok {
			b.items[at].findings = append(b.items[at].findings, f)
			continue
		}
		if count[kind(f)] > foldOver {
			folded[kind(f)] = len(b.items)
		}
		letter := letterOf(f.Severity)
		numbers[letter]++
		label := fmt.Sprintf("%s%d", letter, numbers[letter])
		b.items = append(b.items, item{label: label, findings: []preview.Finding{f}})
	}
	b.count()
	return b
}

// count notes where items are and which were looked at.
func (b *board) count() {
	b.by, b.labels, b.seen, b.seenIn = map[preview.Severity][]int{}, map[string]int{}, make([]bool, len(b.items)), map[section]int{}
	for i, it := range b.items {
		s := it.severity()
		b.by[s], b.labels[it.label] = append(b.by[s], i), i
		b.seen[i] = !slices.ContainsFunc(it.findings, func(f preview.Finding) bool { return !b.marks[markKey(f)] })
		if b.seen[i] {
			b.seenIn[it.section()]++
		}
	}
}

func letterOf(s preview.Severity) string {
	switch s {
	case preview.Critical:
		return "C"
	case preview.Warning:
		return "W"
	case preview.NotKnown:
		return "U"
	}
	return "I"
}

// of returns the indexes of the items of a severity.
func (b *board) of(s preview.Severity) []int { return b.by[s] }

// in returns the indexes of the items of a section.
func (b *board) in(s section) []int {
	var out []int
	for _, i := range b.by[s.severity] {
		if b.items[i].section() == s {
			out = append(out, i)
		}
	}
	return out
}

// looked reports whether every finding of an item was looked at.
func (b *board) looked(i int) bool { return b.seen[i] }

// mark sets or removes an item's marks.
func (b *board) mark(i int, looked bool) {
	for _, f := range b.items[i].findings {
		if looked {
			b.marks[markKey(f)] = true
		} else {
			delete(b.marks, markKey(f))
		}
	}
	if b.seen[i] == looked {
		return
	}
	b.seen[i] = looked
	if looked {
		b.seenIn[b.items[i].section()]++
	} else {
		b.seenIn[b.items[i].section()]--
	}
}

// left is the number of must-look items not looked at yet.
func (b *board) left() int {
	return len(b.of(preview.Critical)) - b.seenIn[section{severity: preview.Critical}]
}

// next returns the item not looked at that follows from in a direction,
// around the end; must-look items come before all others. It is -1 when
// nothing is left.
func (b *board) next(from, step int) int {
	n := len(b.items)
	other := -1
	for k := 1; k <= n; k++ {
		i := ((from+step*k)%n + n) % n
		if b.looked(i) {
			continue
		}
		if b.items[i].severity() == preview.Critical {
			return i
		}
		if other < 0 && b.items[i].severity() != preview.Info {
			other = i
		}
	}
	return other
}

// find returns the index of the item with a label, -1 when there is none.
func (b *board) find(label string) int {
	if i, ok := b.labels[label]; ok {
		return i
	}
	return -1
}

// accepted names the findings an approval covers one by one: what must be
// looked at, and what could not be read, which CONFIRM lists.
func (b *board) accepted() []install.Acceptance {
	out := []install.Acceptance{}
	for _, it := range b.items {
		if s := it.severity(); s != preview.Critical && s != preview.NotKnown {
			continue
		}
		for _, f := range it.findings {
			out = append(out, install.Acceptance{ID: f.ID, Fingerprint: f.Fingerprint})
		}
	}
	return out
}

// resets counts the marked must-look findings of an earlier plan whose mark
// does not hold in this one.
func (b *board) resets(before *board) (reset, marked int) {
	now := map[string]bool{}
	for _, i := range b.of(preview.Critical) {
		for _, f := range b.items[i].findings {
			now[markKey(f)] = true
		}
	}
	for _, i := range before.of(preview.Critical) {
		if !before.looked(i) {
			continue
		}
		marked++
		for _, f := range before.items[i].findings {
			if !now[markKey(f)] {
				reset++
				break
			}
		}
	}
	return reset, marked
}
