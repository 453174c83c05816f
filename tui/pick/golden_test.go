package pick

import (
	"testing"

	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

// golden compares a frame of a model with its golden files.
func golden(t *testing.T, name string, m *pickScreen, width, height int) {
	t.Helper()
	tuitest.Golden(t, name, m, tuitest.ContentIn(m, &m.theme), width, height)
}

// checkHarmless checks every variant of a frame of a model.
func checkHarmless(t *testing.T, where string, m *pickScreen, size [2]int) {
	t.Helper()
	tuitest.Harmless(t, where, m, tuitest.ContentIn(m, &m.theme), size)
}
