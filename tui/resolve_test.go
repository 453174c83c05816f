package tui

import (
	"slices"
	"testing"
)

func TestALineThatCountsOnReplacesTheOneBefore(t *testing.T) {
	c := newClock()
	p := newProgressLog(c.now, false)
	for _, line := range []string{
		"resolving a", "resolving b",
		"downloading a: 1.0 of 9.0 MiB", "downloading a: 2.0 of 9.0 MiB", "downloading b: 2.0 of 9.0 MiB",
		"reading sha256:1", "reading sha256:2",
	} {
		p.add(line, c.now)
	}
	want := []string{
		"resolving a", "resolving b", "downloading a: 2.0 of 9.0 MiB", "downloading b: 2.0 of 9.0 MiB",
		"reading sha256:1", "reading sha256:2",
	}
	var got []string
	for _, s := range p.steps {
		got = append(got, s.text)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
