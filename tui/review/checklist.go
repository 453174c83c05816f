package review

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
)

// foldOver findings of one rule and severity become one item.
const foldOver = 3

// item is one entry of the checklist: one finding, or several of one rule.
type item struct {
	number   int // among those of its letter
	findings []*preview.Finding
}

func (it item) first() *preview.Finding    { return it.findings[0] }
func (it item) severity() preview.Severity { return it.findings[0].Severity }

// label is C1, W2, U1, I3: of this screen only, never input.
func (it item) label() string { return letterOf(it.severity()) + strconv.Itoa(it.number) }

// section is a part of the lists of findings.
type section struct {
	severity preview.Severity
	earlier  bool // accepted with an earlier revision
}

func (it item) section() section {
	return section{it.severity(), it.severity() == preview.Warning && it.first().AcceptedIn > 0}
}

// sections returns all sections, in the order of the lists and of the
// checklist.
func sections() []section {
	return []section{{severity: preview.Critical}, {severity: preview.Warning}, {preview.Warning, true}, {severity: preview.NotKnown}, {severity: preview.Info}}
}

func (s section) title() string {
	if s.earlier {
		return "ACCEPTED EARLIER"
	}
	return frame.SectionTitle(s.severity)
}

// marks remembers what was looked at, by [markKey]. It outlives a plan.
type marks map[string]bool

// markKey binds a mark to rule, object and evidence: other evidence is
// another thing to look at.
func markKey(f *preview.Finding) string {
	return f.Rule + "\x00" + f.Object + "\x00" + f.Fingerprint
}

// checklist holds the findings of a plan in the order they are reviewed. The
// first frame waits for it: it points into the plan and makes texts when asked.
type checklist struct {
	items  []item
	marks  marks
	order  []int // the positions of all items; sections are parts of it
	ends   map[section][2]int
	seen   []bool // by item; kept beside the marks so that no frame counts them
	seenIn map[section]int
}

// ruleGroup counts the findings of a rule in a section, and says which item they are.
type ruleGroup struct{ count, at int }

func newChecklist(findings []preview.Finding, m marks) *checklist {
	byRank := make([]*preview.Finding, len(findings))
	for i := range findings {
		byRank[i] = &findings[i]
	}
	order := func(x, y *preview.Finding) int {
		return cmp.Or(x.Severity.Rank()-y.Severity.Rank(), preview.FalseFirst(x.AcceptedIn > 0, y.AcceptedIn > 0))
	}
	if !slices.IsSortedFunc(byRank, order) { // plans come in order, but for what was accepted
		slices.SortStableFunc(byRank, order)
	}
	folds := make(map[string]*ruleGroup)
	of := make([]*ruleGroup, len(byRank))
	for i, f := range byRank {
		if i > 0 && (f.Severity != byRank[i-1].Severity || f.AcceptedIn > 0 != (byRank[i-1].AcceptedIn > 0)) {
			clear(folds)
		}
		if of[i] = folds[f.Rule]; of[i] == nil {
			of[i] = &ruleGroup{at: -1}
			folds[f.Rule] = of[i]
		}
		of[i].count++
	}
	b := &checklist{marks: m, items: make([]item, 0, len(byRank))}
	numbers := map[string]int{}
	for i, f := range byRank {
		if of[i].count > foldOver && of[i].at >= 0 {
			it := &b.items[of[i].at]
			it.findings = append(it.findings, f)
			continue
		}
		of[i].at = len(b.items)
		letter := letterOf(f.Severity)
		numbers[letter]++
		b.items = append(b.items, item{number: numbers[letter], findings: byRank[i : i+1 : i+1]})
	}
	b.count()
	return b
}

// count notes where sections are and which items were looked at.
func (b *checklist) count() {
	b.order, b.seen, b.ends, b.seenIn = make([]int, len(b.items)), make([]bool, len(b.items)), map[section][2]int{}, map[section]int{}
	var last section
	for i, it := range b.items {
		b.order[i] = i
		s := it.section()
		if i == 0 || s != last { // sections follow one another
			b.ends[last] = [2]int{b.ends[last][0], i}
			b.ends[s], last = [2]int{i, len(b.items)}, s
		}
		if len(b.marks) > 0 && b.marked(it) {
			b.seen[i] = true
			b.seenIn[s]++
		}
	}
}

// marked reports whether every finding of an item has its mark.
func (b *checklist) marked(it item) bool {
	return !slices.ContainsFunc(it.findings, func(f *preview.Finding) bool { return !b.marks[markKey(f)] })
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

// ofSeverity returns the indexes of the items of a severity.
func (b *checklist) ofSeverity(s preview.Severity) []int {
	first, earlier := b.inSection(section{severity: s}), b.inSection(section{s, true})
	switch {
	case len(first) == 0:
		return earlier
	case len(earlier) == 0:
		return first
	}
	return b.order[first[0] : earlier[len(earlier)-1]+1]
}

// inSection returns the indexes of the items of a section.
func (b *checklist) inSection(s section) []int {
	ends := b.ends[s]
	return b.order[ends[0]:ends[1]:ends[1]]
}

// isReviewed reports whether every finding of an item was looked at.
func (b *checklist) isReviewed(i int) bool { return b.seen[i] }

// mark sets or removes an item's marks.
func (b *checklist) mark(i int, looked bool) {
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

// remaining is the number of must-look items not looked at yet.
func (b *checklist) remaining() int {
	return len(b.ofSeverity(preview.Critical)) - b.seenIn[section{severity: preview.Critical}]
}

// next returns the item not looked at that follows from in a direction,
// around the end; must-look items come before all others. It is -1 when
// nothing is left.
func (b *checklist) next(from, step int) int {
	n := len(b.items)
	other := -1
	for k := 1; k <= n; k++ {
		i := ((from+step*k)%n + n) % n
		if b.isReviewed(i) {
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
func (b *checklist) find(label string) int {
	for _, s := range sections() {
		at := b.ofSeverity(s.severity)
		rest, ok := strings.CutPrefix(label, letterOf(s.severity))
		n, err := strconv.Atoi(rest)
		if ok && err == nil && n > 0 && n <= len(at) && b.items[at[n-1]].label() == label {
			return at[n-1]
		}
	}
	return -1
}

// accepted names the findings an approval covers one by one: what must be
// looked at, and what could not be read, which CONFIRM lists.
func (b *checklist) accepted() []record.Acceptance {
	out := []record.Acceptance{}
	for _, it := range b.items {
		if s := it.severity(); s != preview.Critical && s != preview.NotKnown {
			continue
		}
		for _, f := range it.findings {
			out = append(out, record.Acceptance{ID: f.ID, Fingerprint: f.Fingerprint})
		}
	}
	return out
}

// countResets counts the marked must-look findings of an earlier plan whose mark
// does not hold in this one.
func (b *checklist) countResets(before *checklist) (reset, marked int) {
	now := map[string]bool{}
	for _, i := range b.ofSeverity(preview.Critical) {
		for _, f := range b.items[i].findings {
			now[markKey(f)] = true
		}
	}
	for _, i := range before.ofSeverity(preview.Critical) {
		if !before.isReviewed(i) {
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
