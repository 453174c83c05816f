package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Everything that the question is about can be scrolled to, and is made once.
func TestTheFactsOfTheQuestionAreScrolledAndMadeOnce(t *testing.T) {
	b := newPlan(t, preview.RequestInstall)
	for i := range 30 {
		b.p.Images = append(b.p.Images, preview.Image{Reference: fmt.Sprintf("registry.example.com/image-%02d@%s", i, digestOf(fmt.Sprint(i))), Pinned: true})
	}
	m, c := reviewOf(t, b.seal(), 80, 24)
	drive(m, c, "a", "tab")
	if m.screen != screenConfirm || shows(m, "image-29") {
		t.Fatalf("the last image is on screen, or there is no question:\n%s", strings.Join(screenOf(m), "\n"))
	}
	made := m.confirm.head.Lines
	for range len(made) {
		drive(m, c, "down")
	}
	if !shows(m, "image-29") {
		t.Errorf("the last image is never shown:\n%s", strings.Join(screenOf(m), "\n"))
	}
	if &made[0] != &m.confirm.head.Lines[0] {
		t.Error("the facts were made again for a key")
	}
	drive(m, c, "tab")
	if slices.ContainsFunc(screenOf(m), func(line string) bool { return strings.Contains(line, "image-") }) {
		t.Error("tab does not lead back to the short facts")
	}
}
