package review

import (
	"slices"
	"strings"
	"testing"

	"charm.land/bubbles/v2/key"

	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

// TestEveryKeyThatDoesSomethingIsACommand: what the help names can be typed, but
// for what moves, opens and leaves.
func TestEveryKeyThatDoesSomethingIsACommand(t *testing.T) {
	k := frame.NewKeyMap()
	var commands, moves []string
	for _, c := range k.ReviewCommands() {
		commands = append(commands, c.Key)
	}
	for _, b := range []key.Binding{k.Tabs, k.NextPane, k.PrevPane, k.Open, k.Back, k.NextHit, k.PreviousHit, k.Fold, k.Palette, k.Stop} {
		moves = append(moves, b.Keys()...)
	}
	for _, g := range k.ReviewHelp() {
		for _, b := range g.Keys {
			if g.Title != "Move" && !slices.Contains(moves, b.Keys()[0]) && !slices.Contains(commands, b.Keys()[0]) {
				t.Errorf("%s (%s) is no command", b.Help().Key, b.Help().Desc)
			}
		}
	}
	seen := map[string]bool{}
	m, _ := reviewOf(t, settingsPlan(t, 1), 120, 36)
	for _, c := range m.commands() {
		if seen[c.Name] || c.Does == "" {
			t.Errorf("the command %q is there twice, or says nothing", c.Name)
		}
		seen[c.Name] = true
	}
}

func TestACommandIsTyped(t *testing.T) {
	typed := func(text string, then ...any) []any {
		return append(append([]any{":"}, tuitest.Typed(text)...), then...)
	}
	for name, tt := range map[string]struct {
		keys []any
		want func(*review) bool
	}{
		"a tab":                     {typed("objects", "enter"), func(m *review) bool { return m.tab == tabs.Objects }},
		"the beginning of one":      {typed("acc", "enter"), func(m *review) bool { return m.tab == tabs.Access }},
		"completed":                 {typed("so", "tab", "enter"), func(m *review) bool { return m.tab == tabs.Source }},
		"completed as far as known": {typed("co", "tab"), func(m *review) bool { return tuitest.Shows(m, " :copy   copy  copy-command") }},
		"not one of several":        {typed("s", "enter"), func(m *review) bool { return m.palette.Typing && tuitest.Shows(m, "summary  source  search") }},
		"none":                      {typed("frobnicate", "enter"), func(m *review) bool { return m.palette.Typing && tuitest.Shows(m, "no such command") }},
		"left":                      {typed("objects", "esc"), func(m *review) bool { return m.tab == tabs.Summary && !m.palette.Typing }},
		"what asks on":              {typed("search", "enter"), func(m *review) bool { return m.search.typing }},
		"help":                      {typed("help", "enter"), func(m *review) bool { return m.page != nil }},
		"approve is what a is":      {typed("approve", "enter"), func(m *review) bool { return m.screen == screenReview && m.tab == tabs.Findings }},
		"letters are no keys":       {typed("aa"), func(m *review) bool { return m.screen == screenReview && m.tab == tabs.Summary }},
	} {
		t.Run(name, func(t *testing.T) {
			m, c := reviewOf(t, tuitest.FreshPlan(t), 120, 36)
			tuitest.Drive(m, c, tt.keys...)
			tuitest.CheckFrame(t, m, 120, 36)
			if !tt.want(m) {
				t.Errorf("after %v:\n%s", tt.keys, strings.Join(tuitest.ScreenOf(m), "\n"))
			}
		})
	}
}

func TestAListIsNarrowedWhileATextIsTyped(t *testing.T) {
	count := func(m *review) (n int) {
		for _, r := range m.activeTab().rows {
			if r.Object != "" {
				n++
			}
		}
		return n
	}
	m, c := reviewOf(t, tuitest.FreshPlan(t), 120, 36)
	tuitest.Drive(m, c, "4")
	all := count(m)
	tuitest.Drive(m, c, "&", "k", "i", "n", "d", "0", "3")
	if got := count(m); got != 1 || !tuitest.Shows(m, `only: "kind03" (&)`) || !tuitest.Shows(m, " &kind03") {
		t.Errorf("%d rows of objects:\n%s", got, strings.Join(tuitest.ScreenOf(m), "\n"))
	}
	tuitest.Drive(m, c, "backspace")
	if got := count(m); got != 10 {
		t.Errorf("%d rows hold kind0", got)
	}
	tuitest.Drive(m, c, "enter", "3")
	if got := count(m); got != 0 || !tuitest.Shows(m, "F shows them") {
		t.Errorf("%d grants hold kind0:\n%s", got, strings.Join(tuitest.ScreenOf(m), "\n"))
	}
	tuitest.Drive(m, c, "&", "L", "e", "a", "esc", "4")
	if got := count(m); got != all {
		t.Errorf("%d of %d rows after esc", got, all)
	}
	tuitest.Drive(m, c, "3", "&", "l", "e", "a", "s", "enter")
	if got := count(m); got != 1 {
		t.Errorf("%d grants hold leas:\n%s", got, strings.Join(tuitest.ScreenOf(m), "\n"))
	}
	tuitest.Drive(m, c, "F", "4")
	if got := count(m); got != all {
		t.Errorf("%d of %d rows after F", got, all)
	}
	tuitest.Drive(m, c, "&", "r", "e", ":", "(")
	if !tuitest.Shows(m, "not a regular expression") || count(m) != all {
		t.Errorf("an expression that is not whole:\n%s", strings.Join(tuitest.ScreenOf(m), "\n"))
	}
	tuitest.Drive(m, c, "esc", "2", "&")
	if m.narrowing || !tuitest.Shows(m, "narrows the lists of Objects and Access") {
		t.Error("findings are narrowed")
	}
}
