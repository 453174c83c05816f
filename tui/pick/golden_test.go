package pick

import (
	"testing"

	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

// golden compares a frame of a model with its golden files.
func golden(t *testing.T, name string, m *pick, width, height int) {
	t.Helper()
	tuitest.Golden(t, name, m, func(opts theme.Options) string { return contentIn(m, opts) }, width, height)
}

// checkHarmless checks every variant of a frame of a model.
func checkHarmless(t *testing.T, where string, m *pick, size [2]int) {
	t.Helper()
	tuitest.Harmless(t, where, m, func(opts theme.Options) string { return contentIn(m, opts) }, size)
}

// contentIn is what a model shows in a theme.
func contentIn(m *pick, opts theme.Options) string {
	defer func(before theme.Theme) { m.theme = before }(m.theme)
	m.theme = theme.New(opts)
	return m.View().Content
}
