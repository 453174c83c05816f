package tui

import (
	"testing"

	tea "charm.land/bubbletea/v2"
)

func TestTheRealCursorStandsOnTheSelectedRowOfEveryTab(t *testing.T) {
	for _, size := range sizes {
		m, c := reviewOf(t, freshPlan(t), size[0], size[1])
		for _, tab := range []string{"1", "2", "3", "4", "5", "6"} {
			drive(m, c, tab)
			onSelectedRow(t, sizeName(size)+" tab "+tab, m)
			drive(m, c, "down", "end")
			onSelectedRow(t, sizeName(size)+" end of tab "+tab, m)
		}
		drive(m, c, "5", "home", "enter", "down")
		onSelectedRow(t, sizeName(size)+" differences", m)

		set, c := reviewOf(t, setPlan(t), size[0], size[1])
		drive(set, c, "3", "down")
		onSelectedRow(t, sizeName(size)+" files", set)
	}
}

func TestALightTerminalIsDrawnLikeADarkOne(t *testing.T) {
	review, c := reviewOf(t, freshPlan(t), 120, 36)
	drive(review, c, "2")
	confirm, c := reviewOf(t, cleanPlan(t), 120, 36)
	drive(confirm, c, "a")
	for name, m := range map[string]tea.Model{"REVIEW": review, "CONFIRM": confirm} {
		sameOnEveryBackground(t, name, m)
	}
}
