package review

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

// Everything that the question is about can be scrolled to, and is made once.
func TestTheFactsOfTheQuestionAreScrolledAndMadeOnce(t *testing.T) {
	b := tuitest.NewPlan(t, preview.RequestInstall)
	for i := range 30 {
		b.Plan.Images = append(b.Plan.Images, preview.Image{Reference: fmt.Sprintf("registry.example.com/image-%02d@%s", i, tuitest.DigestOf(fmt.Sprint(i))), Pinned: true})
	}
	m, c := reviewOf(t, b.Seal(), 80, 24)
	tuitest.Drive(m, c, "a", "tab")
	if m.screen != screenConfirm || tuitest.Shows(m, "image-29") {
		t.Fatalf("the last image is on screen, or there is no question:\n%s", strings.Join(tuitest.ScreenOf(m), "\n"))
	}
	made := m.confirm.facts.Lines
	for range len(made) {
		tuitest.Drive(m, c, "down")
	}
	if !tuitest.Shows(m, "image-29") {
		t.Errorf("the last image is never shown:\n%s", strings.Join(tuitest.ScreenOf(m), "\n"))
	}
	if &made[0] != &m.confirm.facts.Lines[0] {
		t.Error("the facts were made again for a key")
	}
	tuitest.Drive(m, c, "tab")
	if slices.ContainsFunc(tuitest.ScreenOf(m), func(line string) bool { return strings.Contains(line, "image-") }) {
		t.Error("tab does not lead back to the short facts")
	}
}

// Beside the question stands what every tag is today, as far as there is room;
// the others are counted, and all are on the other page.
func TestTheQuestionShowsWhatTagsAreToday(t *testing.T) {
	p := tuitest.CleanPlan(t)
	p.Images = nil
	for i := range 7 {
		p.Images = append(p.Images, preview.Image{Reference: fmt.Sprintf("quay.io/demo/part%d:v1", i), Digest: tuitest.DigestOf(fmt.Sprint("part", i))})
	}
	for _, tc := range []struct {
		height, shown int
	}{{50, 3}, {36, 3}, {29, 1}, {24, 0}} {
		m, c := reviewOf(t, p, 120, tc.height)
		tuitest.Drive(m, c, "a")
		screen := strings.Join(tuitest.ScreenOf(m), "\n")
		if n := strings.Count(screen, "its digest today"); n != tc.shown {
			t.Errorf("%d lines high: %d images by tag are shown, want %d:\n%s", tc.height, n, tc.shown, screen)
		}
		for i := range tc.shown {
			if !strings.Contains(screen, p.Images[i].Digest) {
				t.Errorf("%d lines high: the digest of image %d is not there in full", tc.height, i)
			}
		}
		if want := fmt.Sprintf("… %d more by tag, tab to see all in full", 7-tc.shown); tc.shown > 0 && !strings.Contains(screen, want) {
			t.Errorf("%d lines high: nobody says %q:\n%s", tc.height, want, screen)
		}
	}
}

func TestHelpOnTheQuestionTypesNothing(t *testing.T) {
	p := tuitest.CleanPlan(t)
	m, c := reviewOf(t, p, 80, 24)
	tuitest.Drive(m, c, "a", "?")
	if screen := strings.Join(tuitest.ScreenOf(m), "\n"); !strings.Contains(screen, "approve, once the answer is typed") {
		t.Errorf("? shows no help:\n%s", screen)
	}
	tuitest.Drive(m, c, "y", "enter") // they are keys of the help
	if m.outcome.Kind == Approved || m.confirm.input.Value != "" {
		t.Errorf("the help took an answer: %q", m.confirm.input.Value)
	}
	tuitest.Drive(m, c, "esc", "y", "enter")
	if m.outcome.Kind != Approved {
		t.Error("the question takes no answer after the help")
	}
}
