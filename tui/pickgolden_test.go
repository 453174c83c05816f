package tui

import (
	"testing"

	"github.com/kubectl-operator/kubectl-operator/tui/theme"
)

// goldenPick compares a frame of a model with its golden files.
func goldenPick(t *testing.T, name string, m *pick, width, height int) {
	t.Helper()
	goldenFrame(t, name, m, func(opts theme.Options) string { return contentPick(m, opts) }, width, height)
}

// checkHarmlessPick checks every variant of a frame of a model.
func checkHarmlessPick(t *testing.T, where string, m *pick, size [2]int) {
	t.Helper()
	harmlessFrame(t, where, m, func(opts theme.Options) string { return contentPick(m, opts) }, size)
}

// contentPick is what a model shows in a theme.
func contentPick(m *pick, opts theme.Options) string {
	defer func(before theme.Theme) { m.theme = before }(m.theme)
	m.theme = theme.New(opts)
	return m.View().Content
}
