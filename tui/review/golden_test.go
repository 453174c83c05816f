package review

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

// golden compares a frame of a model with its golden files.
func golden(t *testing.T, name string, m tea.Model, width, height int) {
	t.Helper()
	tuitest.Golden(t, name, m, func(opts theme.Options) string { return contentIn(m, opts) }, width, height)
}

// frameIn is what a model shows in a theme, without blanks at the ends of lines.
func frameIn(m tea.Model, opts theme.Options) string {
	return tuitest.WithoutTrailingBlanks(contentIn(m, opts))
}

// checkHarmless checks every variant of a frame of a model.
func checkHarmless(t *testing.T, where string, m tea.Model, size [2]int) {
	t.Helper()
	tuitest.Harmless(t, where, m, func(opts theme.Options) string { return contentIn(m, opts) }, size)
}

// contentIn is what a model shows in a theme.
func contentIn(m tea.Model, opts theme.Options) string {
	switch m := m.(type) {
	case *review:
		defer func(before theme.Theme) { m.theme = before }(m.theme)
		m.theme = theme.New(opts)
	}
	return m.View().Content
}
