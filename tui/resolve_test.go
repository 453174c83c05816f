package tui

import (
	"slices"
	"testing"
)

func TestALineThatCountsOnReplacesTheOneBefore(t *testing.T) {
	p := newProgressLog()
	for _, line := range []string{
		"resolving a", "resolving b",
		"downloading a: 1.0 of 9.0 MiB", "downloading a: 2.0 of 9.0 MiB", "downloading b: 2.0 of 9.0 MiB",
		"reading sha256:1", "reading sha256:2",
	} {
		p.add(line)
	}
	want := []string{
		"resolving a", "resolving b", "downloading a: 2.0 of 9.0 MiB", "downloading b: 2.0 of 9.0 MiB",
		"reading sha256:1", "reading sha256:2",
	}
	if !slices.Equal(p.lines, want) {
		t.Errorf("got %q, want %q", p.lines, want)
	}
}
