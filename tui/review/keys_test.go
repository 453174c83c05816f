package review

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/diffview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// places are the parts of REVIEW, by the keys that lead there.
func places() map[string][]any {
	return map[string][]any{
		"summary": {"down"}, "findings": {"2"}, "a finding": {"2", "enter"}, "access": {"3", "F", "down"}, "a grant": {"3", "F", "enter"},
		"objects": {"4", "down", "down"}, "an object": {"4", "down", "enter"}, "YAML": {"4", "down", "e", "down"},
		"differences": {"5"}, "a difference": {"5", "enter", "home", "down", "down"}, "fields": {"5", "enter", "p"},
		"a search": {"4", "/", "m", "o", "n", "g", "o", "enter"}, "source": {"6", "down"},
	}
}

// reacts reports whether a key does anything: on screen, or beyond it.
func reacts(m *review, c *tuitest.Clock, name string) bool {
	m.notice = "" // any key takes it away
	before := m.View()
	msg := tuitest.Press(name)
	if r, ok := strings.CutPrefix(name, "ctrl+"); ok {
		msg = tea.KeyPressMsg{Code: rune(r[0]), Mod: tea.ModCtrl}
	}
	c.Forward(1)
	_, cmd := m.Update(msg)
	if m.notice == unknownKey(msg) {
		return false
	}
	return cmd != nil || m.View().Content != before.Content || m.mouseOff
}

func TestSlowHelpNamesTheKeysThatDoSomethingAndNoOthers(t *testing.T) {
	slowtest.Skip(t, "pressing every key in every place")
	plans := []*preview.Plan{tuitest.FreshPlan(t), tuitest.UpgradePlan(t), settingsPlan(t, 40), contestedPlan(t, nil)}
	var helped []key.Binding
	for _, g := range frame.NewKeyMap().ReviewHelp() {
		helped = append(helped, g.Keys...)
	}
	useful := map[string]bool{}
	for where, keys := range places() {
		for _, p := range plans {
			m, c := reviewOf(t, p, 120, 36)
			tuitest.Drive(m, c, keys...)
			for _, name := range tuitest.EveryKey() {
				if !reacts(m, c, name) {
					continue // and left everything as it was
				}
				m, c = reviewOf(t, p, 120, 36)
				tuitest.Drive(m, c, keys...)
				useful[name] = true
				if !slices.ContainsFunc(helped, func(b key.Binding) bool { return slices.Contains(b.Keys(), name) }) {
					t.Errorf("%s does something in %s and is not in the help", name, where)
				}
			}
		}
	}
	for _, b := range helped {
		if !slices.ContainsFunc(b.Keys(), func(name string) bool { return useful[name] }) {
			t.Errorf("the help names %s (%s), which does nothing anywhere", b.Help().Key, b.Help().Desc)
		}
	}
}

func TestHelpIsOnScreen(t *testing.T) {
	m, c := reviewOf(t, tuitest.FreshPlan(t), 120, 60)
	tuitest.Drive(m, c, "?")
	for _, g := range m.keys.ReviewHelp() {
		for _, b := range g.Keys {
			if !slices.ContainsFunc(m.page.Lines, func(l widget.Line) bool {
				return strings.HasPrefix(strings.TrimSpace(l.Plain()), b.Help().Key) && strings.HasSuffix(l.Plain(), b.Help().Desc)
			}) {
				t.Errorf("%s (%s) is not on the page", b.Help().Key, b.Help().Desc)
			}
		}
	}
}

func TestTheMouseWorksInTheDetail(t *testing.T) {
	m, c := reviewOf(t, settingsPlan(t, 120), 120, 36)
	tuitest.Drive(m, c, "5", tea.MouseClickMsg{X: 60, Y: m.Size.BodyTop + diffview.HeadHeight(false) + 4, Button: tea.MouseLeft})
	b := m.activeTab()
	if b.pane != frame.PaneDetail || b.sheet.Cursor != 4 {
		t.Errorf("a click on the fifth row puts the cursor on row %d, in pane %d", b.sheet.Cursor, b.pane)
	}
	tuitest.Drive(m, c, "home", "down", "down", "enter", tea.MouseWheelMsg{X: 60, Y: 10, Button: tea.MouseWheelDown})
	if b.sheet.Top != frame.WheelLines || b.sheet.Cursor < b.sheet.Top {
		t.Errorf("the wheel leads to line %d with the cursor at %d", b.sheet.Top, b.sheet.Cursor)
	}
}

// The answer, what was looked at and what is on screen are the same whether or
// not the window changed its size between any two keys.
func TestResizeAtAnyMomentChangesNothing(t *testing.T) {
	window := tea.WindowSizeMsg{Width: 120, Height: 36}
	rng := rand.New(rand.NewPCG(3, 4))
	for name, journey := range map[string][]any{
		"approving": append(append([]any{"n", "n", "n", "4", "down", "e", "esc", "1", "n", "a", "tab", "tab"}, tuitest.Typed("mongodb")...), "enter"),
		"looking":   {"5", "enter", "s", "]", "p", "enter", "3", "g", "/", "s", "e", "c", "enter", "]", "]", "4", "down", "down", "enter", "6", "end", "?", "down"},
	} {
		t.Run(name, func(t *testing.T) {
			still, sc := reviewOf(t, tuitest.FreshPlan(t), 120, 36)
			moved, mc := reviewOf(t, tuitest.FreshPlan(t), 120, 36)
			for i, step := range journey {
				tuitest.Drive(still, sc, step)
				if still.page == nil { // help closes when the window changes
					for range 3 {
						w, h := rng.IntN(200), rng.IntN(60)
						tuitest.Drive(moved, mc, tea.WindowSizeMsg{Width: w, Height: h})
						_ = moved.View()
					}
					tuitest.Drive(moved, mc, window)
				}
				tuitest.Drive(moved, mc, step)
				if a, b := outcomeOf(still), outcomeOf(moved); a != b {
					t.Fatalf("step %d (%v): %s, and with resizes %s", i, step, a, b)
				}
			}
		})
	}
}

// outcomeOf returns the state that must not depend on the window.
func outcomeOf(m *review) string {
	b := m.activeTab()
	return fmt.Sprint(m.screen, m.outcome.Kind, m.outcome.PlanDigest, m.tab, b.pane, b.kind, b.selected().ID, m.Checklist.Remaining(), m.confirm.input.Value, m.page != nil)
}

func TestAKeyThatDoesNothingSaysSo(t *testing.T) {
	m, c := reviewOf(t, tuitest.FreshPlan(t), 120, 36)
	for _, name := range []string{"v", "Z"} {
		tuitest.Drive(m, c, name)
		if want := name + " does nothing here"; !strings.Contains(m.notice, want) {
			t.Errorf("after %s it says %q, want %q", name, m.notice, want)
		}
	}
	tuitest.Drive(m, c, "j")
	if m.notice != "" {
		t.Errorf("after j it says %q", m.notice)
	}
}

func TestTheFocusIsSeenWithoutColours(t *testing.T) {
	m, c := reviewOf(t, tuitest.FreshPlan(t), 120, 36)
	tuitest.Drive(m, c, "2")
	list := strings.Join(tuitest.ScreenOf(m), "\n")
	tuitest.Drive(m, c, "tab")
	if detail := strings.Join(tuitest.ScreenOf(m), "\n"); strings.Contains(list, "┃") || !strings.Contains(detail, "┃") {
		t.Errorf("the divider does not show the focus:\n%s", detail)
	}
	tuitest.Drive(m, c, "tab")
	if m.tab != tabs.Access {
		t.Errorf("tab from the detail leads to tab %d, not to the next one", m.tab)
	}
}
