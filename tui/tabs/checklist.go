package tabs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
)

// item is one item of the checklist: a group of findings with its label, such
// as C1, which is the same in every report. The label never comes from content.
type item = verdict.Group

func sectionOf(it item) Section { return Section{it.Severity(), it.Earlier()} }

// Section is the findings of one severity in a list, apart from those that were
// accepted with an earlier revision.
type Section struct {
	Severity preview.Severity
	Earlier  bool // accepted with an earlier revision
}

// sections returns all sections, in the order of the lists and of the checklist.
func sections() []Section {
	return []Section{{Severity: preview.Critical}, {Severity: preview.Warning}, {preview.Warning, true}, {Severity: preview.NotKnown}, {Severity: preview.Info}}
}

func (s Section) title() string {
	if s.Earlier {
		return "ACCEPTED EARLIER"
	}
	return frame.SectionTitle(s.Severity)
}

// Marks are what the user has marked as reviewed, by [FindingKey] or
// [ObjectKey]. They are kept when another plan is shown.
type Marks map[string]bool

// FindingKey returns the key of a finding's mark: rule, object and evidence.
// With other evidence, the mark does not count.
func FindingKey(f *preview.Finding) string {
	return f.Rule + "\x00" + f.Object + "\x00" + f.Fingerprint
}

// Checklist holds the findings of a plan in the order in which they are reviewed. It
// makes their texts only when they are asked for, because the first frame waits for it.
type Checklist struct {
	Items  []item
	Marks  Marks
	order  []int // the positions of all items; sections are parts of it
	ends   map[Section][2]int
	seen   []bool // by item; kept beside the marks so that no frame counts them
	seenIn map[Section]int

	phrases map[int][2]string // of items, as they were first made
	Before  map[int]bool      // items that gate and were reviewed in an earlier session
}

func newChecklist(p *preview.Plan, m Marks) *Checklist {
	b := &Checklist{Marks: m, Items: verdict.Groups(p.Findings, p.Access.Accounts), phrases: map[int][2]string{}, Before: map[int]bool{}}
	b.count()
	return b
}

// count notes where each section begins and ends, and which items are marked.
func (b *Checklist) count() {
	b.order, b.seen, b.ends, b.seenIn = make([]int, len(b.Items)), make([]bool, len(b.Items)), map[Section][2]int{}, map[Section]int{}
	var last Section
	for i, it := range b.Items {
		b.order[i] = i
		s := sectionOf(it)
		if i == 0 || s != last { // sections follow one another
			b.ends[last] = [2]int{b.ends[last][0], i}
			b.ends[s], last = [2]int{i, len(b.Items)}, s
		}
		if len(b.Marks) > 0 && b.marked(it) {
			b.seen[i] = true
			b.seenIn[s]++
		}
	}
}

// marked reports whether all findings of an item have marks.
func (b *Checklist) marked(it item) bool {
	return !slices.ContainsFunc(it.Findings, func(f *preview.Finding) bool { return !b.Marks[FindingKey(f)] })
}

// OfSeverity returns the indexes of the items of that severity.
func (b *Checklist) OfSeverity(s preview.Severity) []int {
	first, earlier := b.InSection(Section{Severity: s}), b.InSection(Section{s, true})
	switch {
	case len(first) == 0:
		return earlier
	case len(earlier) == 0:
		return first
	}
	return b.order[first[0] : earlier[len(earlier)-1]+1]
}

// InSection returns the indexes of the items of a section.
func (b *Checklist) InSection(s Section) []int {
	ends := b.ends[s]
	return b.order[ends[0]:ends[1]:ends[1]]
}

// IsReviewed reports whether all findings of item i are marked as reviewed.
func (b *Checklist) IsReviewed(i int) bool { return b.seen[i] }

// Mark sets or removes the marks of an item's findings.
func (b *Checklist) Mark(i int, looked bool) {
	for _, f := range b.Items[i].Findings {
		if looked {
			b.Marks[FindingKey(f)] = true
		} else {
			delete(b.Marks, FindingKey(f))
		}
	}
	if b.seen[i] == looked {
		return
	}
	b.seen[i] = looked
	if looked {
		b.seenIn[sectionOf(b.Items[i])]++
	} else {
		b.seenIn[sectionOf(b.Items[i])]--
	}
}

// Remaining returns how many items are not reviewed yet that gate: critical ones and
// unknown ones. They must be.
func (b *Checklist) Remaining() int {
	return b.remainingOf(preview.Critical) + b.remainingOf(preview.NotKnown)
}

func (b *Checklist) remainingOf(s preview.Severity) int {
	return len(b.InSection(Section{Severity: s})) - b.seenIn[Section{Severity: s}]
}

// RemainingText says how many items of which severities must still be reviewed, such as
// "2 critical and 1 unknown".
func (b *Checklist) RemainingText() string {
	var parts []string
	for _, s := range []preview.Severity{preview.Critical, preview.NotKnown} {
		if n := b.remainingOf(s); n > 0 || s == preview.Critical && b.Remaining() == 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	return strings.Join(parts, " and ")
}

// Stats counts what is left to review and the warnings, in few words.
func (b *Checklist) Stats() string {
	text := fmt.Sprintf("crit %d", b.remainingOf(preview.Critical))
	if n := b.remainingOf(preview.NotKnown); n > 0 {
		text += fmt.Sprintf(" unk %d", n)
	}
	return text + fmt.Sprintf(" warn %d", len(b.OfSeverity(preview.Warning)))
}

// Gating returns the indexes of the items that gate, in the order of the checklist.
func (b *Checklist) Gating() []int {
	return slices.Concat(b.OfSeverity(preview.Critical), b.OfSeverity(preview.NotKnown))
}

// Next returns the next item after from (step 1), or before it (-1), that is
// not reviewed, and from one end on at the other. Items that gate come before
// all others. It is -1 if all are reviewed.
func (b *Checklist) Next(from, step int) int {
	n := len(b.Items)
	other := -1
	for k := 1; k <= n; k++ {
		i := ((from+step*k)%n + n) % n
		if b.IsReviewed(i) {
			continue
		}
		if b.Items[i].Severity().Gates() {
			return i
		}
		if other < 0 && b.Items[i].Severity() != preview.Info {
			other = i
		}
	}
	return other
}

// Find returns the index of the item with that label, -1 if there is none.
func (b *Checklist) Find(label string) int {
	for _, s := range sections() {
		at := b.OfSeverity(s.Severity)
		rest, ok := strings.CutPrefix(label, verdict.Letter(s.Severity))
		n, err := strconv.Atoi(rest)
		if ok && err == nil && n > 0 && n <= len(at) && b.Items[at[n-1]].Label() == label {
			return at[n-1]
		}
	}
	return -1
}

// Accepted returns the findings that an approval accepts one by one: those that gate.
func (b *Checklist) Accepted() []record.Acceptance {
	out := []record.Acceptance{}
	for _, it := range b.Items {
		for _, f := range it.Findings {
			if f.Severity.Gates() {
				out = append(out, record.Acceptance{ID: f.ID, Fingerprint: f.Fingerprint})
			}
		}
	}
	return out
}

// CountResets returns how many findings that gate of the plan before were
// marked, and how many of those marks do not count in this plan (reset).
func (b *Checklist) CountResets(before *Checklist) (reset, marked int) {
	now := map[string]bool{}
	for _, i := range b.Gating() {
		for _, f := range b.Items[i].Findings {
			now[FindingKey(f)] = true
		}
	}
	for _, i := range before.Gating() {
		if !before.IsReviewed(i) {
			continue
		}
		marked++
		for _, f := range before.Items[i].Findings {
			if !now[FindingKey(f)] {
				reset++
				break
			}
		}
	}
	return reset, marked
}

// ObjectKey returns the key of an object's mark: its id, its planned and its
// live state.
func ObjectKey(o *preview.Object) string {
	return "object\x00" + o.ID + "\x00" + o.Digest + "\x00" + o.Live.Fingerprint
}
