package tui

import (
	"image/color"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/install"
)

// onSelectedRow checks that the terminal's own cursor stands on the mark of the
// selected row: screen readers announce that line.
func onSelectedRow(t *testing.T, where string, m tea.Model) {
	t.Helper()
	cursor, lines := m.View().Cursor, screenOf(m)
	if cursor == nil || cursor.Y >= len(lines) || cursor.X >= len([]rune(lines[cursor.Y])) {
		t.Fatalf("%s: no cursor on the screen:\n%s", where, strings.Join(lines, "\n"))
	}
	if mark := []rune(lines[cursor.Y])[cursor.X]; mark != '>' {
		t.Errorf("%s: the cursor is at %d,%d, on %q:\n%s", where, cursor.X, cursor.Y, mark, strings.Join(lines, "\n"))
	}
}

func TestTheRealCursorStandsOnTheSelectedRowOfEveryList(t *testing.T) {
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

		p, c := pickOf(t, demoShelf(t).options(), size[0], size[1])
		drive(p, c, "down", "down")
		onSelectedRow(t, sizeName(size)+" packages", p)
		drive(p, c, "enter", "end") // a version, not the facts above
		onSelectedRow(t, sizeName(size)+" versions", p)

		plan := freshPlan(t)
		f, c, _ := followOf(t, plan, size[0], size[1])
		happen(f, c, rolloutOf(plan)...)
		onSelectedRow(t, sizeName(size)+" applying", f)
		drive(f, c, "down")
		onSelectedRow(t, sizeName(size)+" applying, moved", f)
		happen(f, c, object(deployObject, install.StateReady, ""), result(0))
		drive(f, c, "end")
		onSelectedRow(t, sizeName(size)+" done", f)
	}
}

// Colours are the 16 of the terminal, whose own theme decides what is light and
// what is dark: what the terminal says of its background changes nothing, and the
// first frame is right without it.
func TestALightTerminalIsDrawnLikeADarkOne(t *testing.T) {
	review, c := reviewOf(t, freshPlan(t), 120, 36)
	drive(review, c, "2")
	confirm, c := reviewOf(t, cleanPlan(t), 120, 36)
	drive(confirm, c, "a")
	follow, _, _ := followOf(t, freshPlan(t), 120, 36)
	pick, _ := pickOf(t, demoShelf(t).options(), 120, 36)
	for name, m := range map[string]tea.Model{"REVIEW": review, "CONFIRM": confirm, "APPLYING": follow, "CHOOSE": pick} {
		before := m.View().Content
		for _, background := range []color.Color{color.White, color.Black} {
			if _, cmd := m.Update(tea.BackgroundColorMsg{Color: background}); cmd != nil {
				pump(m, cmd)
			}
			if m.View().Content != before {
				t.Errorf("%s looks otherwise on %v", name, background)
			}
		}
	}
}
