package review

import (
	"slices"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

func TestALineThatCountsOnReplacesTheOneBefore(t *testing.T) {
	c := tuitest.NewClock()
	p := frame.NewProgressLog(c.T, false)
	for _, line := range []string{
		"resolving a", "resolving b",
		"downloading a: 1.0 of 9.0 MiB", "downloading a: 2.0 of 9.0 MiB", "downloading b: 2.0 of 9.0 MiB",
		"reading sha256:1", "reading sha256:2",
	} {
		p.Add(line, c.T)
	}
	want := []string{
		"resolving a", "resolving b", "downloading a: 2.0 of 9.0 MiB", "downloading b: 2.0 of 9.0 MiB",
		"reading sha256:1", "reading sha256:2",
	}
	var got []string
	for _, s := range p.Steps {
		got = append(got, s.Text)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
