package tui

import (
	"testing"

	"github.com/kubectl-operator/kubectl-operator/tui/theme"
)

// goldenFollow compares a frame of a model with its golden files.
func goldenFollow(t *testing.T, name string, m *follow, width, height int) {
	t.Helper()
	goldenFrame(t, name, m, func(opts theme.Options) string { return contentFollow(m, opts) }, width, height)
}

// checkHarmlessFollow checks every variant of a frame of a model.
func checkHarmlessFollow(t *testing.T, where string, m *follow, size [2]int) {
	t.Helper()
	harmlessFrame(t, where, m, func(opts theme.Options) string { return contentFollow(m, opts) }, size)
}

// contentFollow is what a model shows in a theme.
func contentFollow(m *follow, opts theme.Options) string {
	defer func(before theme.Theme) { m.theme = before }(m.theme)
	m.theme = theme.New(opts)
	return m.View().Content
}
