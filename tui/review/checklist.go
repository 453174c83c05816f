package review

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
)

// item is one entry of the checklist: a group of findings, with the label that
// every form gives it, which is never input.
type item = verdict.Group

func sectionOf(it item) section { return section{it.Severity(), it.Earlier()} }

// section is a part of the lists of findings.
type section struct {
	severity preview.Severity
	earlier  bool // accepted with an earlier revision
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

	phrases map[int][2]string // of items, as they were first made
	before  map[int]bool      // critical items that were reviewed in an earlier session
}

func newChecklist(p *preview.Plan, m marks) *checklist {
	b := &checklist{marks: m, items: verdict.Groups(p.Findings, p.Access.Accounts), phrases: map[int][2]string{}, before: map[int]bool{}}
	b.count()
	return b
}

// count notes where sections are and which items were looked at.
func (b *checklist) count() {
	b.order, b.seen, b.ends, b.seenIn = make([]int, len(b.items)), make([]bool, len(b.items)), map[section][2]int{}, map[section]int{}
	var last section
	for i, it := range b.items {
		b.order[i] = i
		s := sectionOf(it)
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
	return !slices.ContainsFunc(it.Findings, func(f *preview.Finding) bool { return !b.marks[markKey(f)] })
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
	for _, f := range b.items[i].Findings {
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
		b.seenIn[sectionOf(b.items[i])]++
	} else {
		b.seenIn[sectionOf(b.items[i])]--
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
		if b.items[i].Severity() == preview.Critical {
			return i
		}
		if other < 0 && b.items[i].Severity() != preview.Info {
			other = i
		}
	}
	return other
}

// find returns the index of the item with a label, -1 when there is none.
func (b *checklist) find(label string) int {
	for _, s := range sections() {
		at := b.ofSeverity(s.severity)
		rest, ok := strings.CutPrefix(label, verdict.Letter(s.severity))
		n, err := strconv.Atoi(rest)
		if ok && err == nil && n > 0 && n <= len(at) && b.items[at[n-1]].Label() == label {
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
		for _, f := range it.Findings {
			if f.Severity == preview.Critical || f.Severity == preview.NotKnown {
				out = append(out, record.Acceptance{ID: f.ID, Fingerprint: f.Fingerprint})
			}
		}
	}
	return out
}

// countResets counts the marked must-look findings of an earlier plan whose mark
// does not hold in this one.
func (b *checklist) countResets(before *checklist) (reset, marked int) {
	now := map[string]bool{}
	for _, i := range b.ofSeverity(preview.Critical) {
		for _, f := range b.items[i].Findings {
			now[markKey(f)] = true
		}
	}
	for _, i := range before.ofSeverity(preview.Critical) {
		if !before.isReviewed(i) {
			continue
		}
		marked++
		for _, f := range before.items[i].Findings {
			if !now[markKey(f)] {
				reset++
				break
			}
		}
	}
	return reset, marked
}

// objectKey binds a mark to an object, as it would be and as it is.
func objectKey(o *preview.Object) string {
	return "object\x00" + o.ID + "\x00" + o.Digest + "\x00" + o.Live.Fingerprint
}
