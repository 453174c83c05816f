package review

import (
	"testing"

	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

// golden compares a frame of a model with its golden files.
func golden(t *testing.T, name string, m *review, width, height int) {
	t.Helper()
	tuitest.Golden(t, name, m, tuitest.ContentIn(m, &m.Theme), width, height)
}

// checkHarmless checks every variant of a frame of a model.
func checkHarmless(t *testing.T, where string, m *review, size [2]int) {
	t.Helper()
	tuitest.Harmless(t, where, m, tuitest.ContentIn(m, &m.Theme), size)
}
