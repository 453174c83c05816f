package review

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

func TestASearchIsEditedLikeAnyLineOfText(t *testing.T) {
	m, c := reviewOf(t, tuitest.FreshPlan(t), 80, 24)
	tuitest.Drive(m, c, "/")
	tuitest.Drive(m, c, tuitest.Typed("mongo db")...)
	tuitest.Drive(m, c, tea.KeyPressMsg{Code: 'w', Mod: tea.ModCtrl}, "home", "x")
	if got := m.search.input.Value(); got != "xmongo " {
		t.Fatalf("after ctrl+w, home and x the query is %q", got)
	}
	if at := m.View().Cursor; at == nil || at.X != len(" /x") || at.Y != 23 {
		t.Errorf("the cursor is at %v", at)
	}
	tuitest.Drive(m, c, tea.KeyPressMsg{Code: 'u', Mod: tea.ModCtrl}, tea.PasteMsg{Content: "ope\x1b[2J\nrator"})
	if got := m.search.input.Value(); got != "ope[2J ratormongo " {
		t.Errorf("after ctrl+u and a paste the query is %q", got)
	}
}

func TestAPasteApprovesNothing(t *testing.T) {
	m, c := reviewOf(t, tuitest.CleanPlan(t), 80, 24)
	tuitest.Drive(m, c, "a", tea.PasteMsg{Content: "y\n"}, tea.PasteMsg{Content: "y"})
	if m.screen != screenConfirm || m.confirm.input.Value != "" {
		t.Errorf("the screen is %d and the answer %q", m.screen, m.confirm.input.Value)
	}
}
