package review

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

// keptBy opens a review of a plan whose marks are kept in a map.
func keptBy(t *testing.T, p *preview.Plan, kept map[string][]string) (*review, *tuitest.Clock) {
	t.Helper()
	c := tuitest.NewClock()
	m := newReview(t.Context(), Options{
		Plan: p, Recheck: recheckSame(p), Gate: openGate, Now: c.Now, Title: "install mongodb",
		Marks: MarkStore{
			Load: func(digest string) []string { return kept[digest] },
			Save: func(digest string, marks []string) error { kept[digest] = marks; return nil },
		},
	})
	tuitest.Drive(m, c, tea.WindowSizeMsg{Width: 120, Height: 36})
	return m, c
}

// Marks are there again in the next session, and approve nothing: what is critical
// has to be reviewed in the session that approves.
func TestMarksSurviveQuittingAndApproveNothing(t *testing.T) {
	kept := map[string][]string{}
	p := tuitest.FreshPlan(t)
	m, c := keptBy(t, p, kept)
	tuitest.Drive(m, c, "n", "n", "n", "n", "space", "4", "&", "k", "i", "n", "d", "0", "3", "enter", "end", "space")
	object := m.activeTab().selected().Object
	if m.Checklist.Remaining() != 0 || object == "" || !tuitest.Shows(m, "ok kind03.mongodb.com") {
		t.Fatalf("%d critical left, the object is %q:\n%s", m.Checklist.Remaining(), object, strings.Join(tuitest.ScreenOf(m), "\n"))
	}
	if err := m.kept.save(m.Plan, m.Checklist); err != nil || len(kept[p.Digest]) != 5 {
		t.Fatalf("kept %q, %v", kept, err)
	}

	m, c = keptBy(t, tuitest.FreshPlan(t), kept)
	warning := m.Checklist.OfSeverity(preview.Warning)[0]
	if !m.Checklist.IsReviewed(warning) {
		t.Error("the mark of the warning is gone")
	}
	if left := m.Checklist.Remaining(); left != 3 {
		t.Errorf("%d critical findings are left to review, want all 3", left)
	}
	tuitest.Drive(m, c, "a")
	if m.screen != screenReview {
		t.Error("marks of an earlier session lead to the question")
	}
	if !tuitest.Shows(m, "reviewed in an earlier session") {
		t.Errorf("it is not said that it was reviewed before:\n%s", strings.Join(tuitest.ScreenOf(m), "\n"))
	}
	tuitest.Drive(m, c, "4", "&", "k", "i", "n", "d", "0", "3", "enter", "end")
	if m.activeTab().selected().Object != object || !tuitest.Shows(m, "ok kind03.mongodb.com") {
		t.Errorf("the mark of the object is gone:\n%s", strings.Join(tuitest.ScreenOf(m), "\n"))
	}
	tuitest.Drive(m, c, "space")
	before := slices.Clone(kept[p.Digest])
	if err := m.kept.save(m.Plan, m.Checklist); err != nil || len(kept[p.Digest]) != 4 || len(before) != 5 {
		t.Errorf("without the object %q is kept, %v", kept[p.Digest], err)
	}
}

// Marks of another plan, or that are no marks, change nothing.
func TestMarksOfOtherPlansChangeNothing(t *testing.T) {
	p := tuitest.FreshPlan(t)
	m, _ := keptBy(t, p, map[string][]string{tuitest.DigestOf("another"): {tabs.FindingKey(&p.Findings[0])}, p.Digest: {"", "x", "object\x00", strings.Repeat("y", 1<<20)}})
	if m.Checklist.Remaining() != 3 || len(m.Checklist.Marks) != 0 {
		t.Errorf("%d left, marks %v", m.Checklist.Remaining(), m.Checklist.Marks)
	}
}
