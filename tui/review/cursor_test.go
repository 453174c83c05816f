package review

import (
	"testing"

	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"

	tea "charm.land/bubbletea/v2"
)

func TestTheRealCursorStandsOnTheSelectedRowOfEveryTab(t *testing.T) {
	for _, size := range tuitest.Sizes {
		m, c := reviewOf(t, tuitest.FreshPlan(t), size[0], size[1])
		for _, tab := range []string{"1", "2", "3", "4", "5", "6"} {
			tuitest.Drive(m, c, tab)
			tuitest.OnSelectedRow(t, tuitest.SizeName(size)+" tab "+tab, m)
			tuitest.Drive(m, c, "down", "end")
			tuitest.OnSelectedRow(t, tuitest.SizeName(size)+" end of tab "+tab, m)
		}
		tuitest.Drive(m, c, "5", "home", "enter", "down")
		tuitest.OnSelectedRow(t, tuitest.SizeName(size)+" differences", m)

		set, c := reviewOf(t, setPlan(t), size[0], size[1])
		tuitest.Drive(set, c, "3", "down")
		tuitest.OnSelectedRow(t, tuitest.SizeName(size)+" files", set)
	}
}

func TestALightTerminalIsDrawnLikeADarkOne(t *testing.T) {
	review, c := reviewOf(t, tuitest.FreshPlan(t), 120, 36)
	tuitest.Drive(review, c, "2")
	confirm, c := reviewOf(t, tuitest.CleanPlan(t), 120, 36)
	tuitest.Drive(confirm, c, "a")
	for name, m := range map[string]tea.Model{"REVIEW": review, "CONFIRM": confirm} {
		tuitest.SameOnEveryBackground(t, name, m)
	}
}
