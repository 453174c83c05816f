package review

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

func TestResolveShowsProgress(t *testing.T) {
	c := tuitest.NewClock()
	m := newReview(t.Context(), Options{
		Title: "install mongodb", Now: c.Now, Recheck: recheckSame(nil),
		Resolve: func(context.Context, func(string)) (*preview.Plan, error) { return nil, errors.New("unused") },
	})
	for _, size := range tuitest.Sizes {
		tuitest.Drive(m, c, tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		m.resolving.log = frame.NewProgressLog(c.T, false)
		for _, line := range []string{"catalog quay.io/operatorhubio/catalog:latest is sha256:1234", "bundle \x1b[2J pulled"} {
			c.Forward(7 * time.Second)
			m.Update(frame.ProgressMsg{Line: line, Round: m.resolving.round})
		}
		c.Forward(65 * time.Second) // and not a word
		m.Update(frame.ProgressMsg{Round: m.resolving.round})
		golden(t, fmt.Sprintf("resolve/%dx%d/progress", size[0], size[1]), m, size[0], size[1])
	}
	tuitest.Drive(m, c, "a", "enter", "y", "enter")
	if m.outcome.Kind != Quit || m.screen != screenResolve {
		t.Error("keys did something while resolving")
	}
}

func TestSearch(t *testing.T) {
	m, c := reviewOf(t, tuitest.FreshPlan(t), 120, 36)
	tuitest.Drive(m, c, "4", "/", "k", "i", "n", "d", "0", "3", "enter")
	if got := m.activeTab().selected().ID; !strings.HasSuffix(got, "/kind03.mongodb.com") {
		t.Errorf("selected %s", got)
	}
	tuitest.Drive(m, c, "/", "r", "e", ":", "k", "i", "n", "d", "1", "[", "0", "-", "9", "]", "enter")
	if !strings.Contains(m.notice, "hit 1 of 8: 4 in Objects, 4 in Diff") {
		t.Errorf("notice %q, want the first of eight", m.notice)
	}
	first := m.activeTab().selected().ID
	tuitest.Drive(m, c, "]", "[")
	if got := m.activeTab().selected().ID; got != first {
		t.Errorf("] and [ lead to %s, not back to %s", got, first)
	}
	tuitest.Drive(m, c, "/", "z", "z", "enter")
	if !strings.Contains(m.notice, `no match for "zz"`) {
		t.Errorf("notice %q does not say that the exact text is absent", m.notice)
	}
	tuitest.Drive(m, c, "/", "r", "e", ":", "(", "enter")
	if !strings.Contains(m.notice, "not a regular expression") {
		t.Errorf("notice %q", m.notice)
	}
	tuitest.Drive(m, c, "esc", "e", "/", "k", "i", "n", "d", "enter")
	if m.search.line < 0 {
		t.Error("no hit in the YAML")
	}
}

func TestCapitalLettersMakeASearchExact(t *testing.T) {
	for _, tc := range []struct {
		name, query, text string
		want              int
	}{
		{"a capital letter makes it exact", "Secret", "secret, a Secret", 1},
		{"small letters match any", "secret", "SECRET Secret secret", 3},
		{"other letters than ASCII as well", "größe", "GRÖSSE Größe", 1},
		{"a regular expression is exact", "re:sec[a-z]+", "Secret secret", 1},
		{"what is left is searched after a match", "aa", "aaaaa", 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			find, err := frame.Finder(tc.query)
			if err != nil || len(find(tc.text)) != tc.want {
				t.Errorf("%d matches, want %d; error %v", len(find(tc.text)), tc.want, err)
			}
		})
	}
}

func TestFiltersAndGroups(t *testing.T) {
	m, c := reviewOf(t, tuitest.UpgradePlan(t), 120, 36)
	tuitest.Drive(m, c, "3")
	if !tuitest.Shows(m, "show: new or risky (f)   2 of 4 grants, 1 held") {
		t.Errorf("an upgrade does not begin with what is new:\n%s", strings.Join(tuitest.ScreenOf(m), "\n"))
	}
	tuitest.Drive(m, c, "F")
	if !tuitest.Shows(m, "show: all (f)   4 of 4 grants, 1 held") {
		t.Error("F does not clear the filter")
	}
	tuitest.Drive(m, c, "g", "g")
	if !tuitest.Shows(m, "group: role (g)") {
		t.Error("g does not group by role")
	}
	tuitest.Drive(m, c, "4")
	for _, want := range []struct{ chip, object, not string }{
		{"show: changes only (f)   4 of 9", "legacy", "kind00"},
		{"show: unchanged only (f)   5 of 9", "kind00", "legacy"},
		{"show: with findings (f)   3 of 9", "mongodb-operator", "kind00"},
		{"show: changed outside (f)   1 of 9", "operator", "legacy"},
		{"show: all (f)   9 of 9", "kind00", "no object"},
	} {
		tuitest.Drive(m, c, "f")
		if !tuitest.Shows(m, want.chip) || !tuitest.Shows(m, want.object) || tuitest.Shows(m, want.not) {
			t.Errorf("want %+v:\n%s", want, strings.Join(tuitest.ScreenOf(m), "\n"))
		}
	}
	tuitest.Drive(m, c, "f", "f", "F")
	if !tuitest.Shows(m, "show: all (f)") {
		t.Error("F does not clear the filter")
	}
}

func TestSecretsAreNeverShown(t *testing.T) {
	m, c := reviewOf(t, tuitest.UpgradePlan(t), 120, 36)
	tuitest.Drive(m, c, "4", "/", "o", "p", "s", "-", "m", "enter", "esc")
	for _, keys := range [][]any{{}, {"e"}, {"esc", "d"}} {
		tuitest.Drive(m, c, keys...)
		for _, value := range []string{"bmV3", "b2xk", "YWRtaW4="} {
			if tuitest.Shows(m, value) {
				t.Errorf("a secret value is on screen after %v", keys)
			}
		}
	}
	if !tuitest.Shows(m, "(secret, changed)") {
		t.Errorf("the changed key does not say so:\n%s", strings.Join(tuitest.ScreenOf(m), "\n"))
	}
}

func TestMouse(t *testing.T) {
	m, c := reviewOf(t, tuitest.CleanPlan(t), 120, 36)
	_, at := m.tabBar()
	tuitest.Drive(m, c, tea.MouseClickMsg{X: at[tabs.Objects][0] + 1, Y: m.Size.Header - 1, Button: tea.MouseLeft})
	if m.tab != tabs.Objects {
		t.Fatalf("a click on Objects opened tab %d", m.tab)
	}
	before := m.activeTab().selected().ID
	tuitest.Drive(m, c, tea.MouseClickMsg{X: 5, Y: m.Size.BodyTop + 3, Button: tea.MouseLeft})
	if m.activeTab().selected().ID == before {
		t.Error("a click did not select the row")
	}
	if m.View().MouseMode == tea.MouseModeNone {
		t.Error("the mouse is off in the review")
	}
	tuitest.Drive(m, c, "a")
	if m.screen != screenConfirm || m.View().MouseMode != tea.MouseModeNone {
		t.Error("the mouse is on at the question")
	}
	for y := range 36 {
		tuitest.Drive(m, c, tea.MouseClickMsg{X: 10, Y: y, Button: tea.MouseLeft})
	}
	if m.outcome.Kind == Approved {
		t.Error("a click approved")
	}
}

func TestManyFindingsOfOneRuleAreOneItem(t *testing.T) {
	b := tuitest.NewPlan(t, preview.RequestInstall)
	for i := range 12 {
		b.Finding(preview.Critical, "rbac-secrets-read", "RBAC-10", fmt.Sprintf("rbac.authorization.k8s.io/ClusterRole/-/r%02d", i), "reads every Secret", "why", fmt.Sprintf("grant %d", i))
	}
	b.Finding(preview.Critical, "other", "", tuitest.RoleObject, "other", "why", "e")
	p := b.Seal()
	m, c := reviewOf(t, p, 120, 36)
	if len(m.Checklist.Items) != 2 || m.Checklist.Remaining() != 2 {
		t.Fatalf("%d items, want the folded one and the other", len(m.Checklist.Items))
	}
	tuitest.Drive(m, c, "n")
	golden(t, "findings-folded/120x36/many", m, 120, 36)
	tuitest.Drive(m, c, "n", "n")
	if m.Checklist.Remaining() != 0 || len(m.Checklist.Accepted()) != 13 {
		t.Errorf("%d left, %d accepted", m.Checklist.Remaining(), len(m.Checklist.Accepted()))
	}
}

func TestAsciiScreensAreAscii(t *testing.T) {
	p := tuitest.FreshPlan(t)
	c := tuitest.NewClock()
	m := newReview(t.Context(), Options{Terminal: frame.Terminal{ASCII: true}, Plan: p, Recheck: recheckSame(p), Gate: openGate, Now: c.Now})
	for _, keys := range [][]any{{tea.WindowSizeMsg{Width: 120, Height: 36}}, {"2"}, {"3"}, {"4"}, {"?"}} {
		tuitest.Drive(m, c, keys...)
		for i, r := range m.View().Content {
			if r >= 0x7f {
				t.Fatalf("%q at byte %d after %v", r, i, keys)
			}
		}
	}
}

func TestColourIsOnlyUsedWhenAllowed(t *testing.T) {
	p := tuitest.FreshPlan(t)
	for _, color := range []bool{false, true} {
		c := tuitest.NewClock()
		m := newReview(t.Context(), Options{Terminal: frame.Terminal{Color: color}, Plan: p, Recheck: recheckSame(p), Gate: openGate, Now: c.Now})
		tuitest.Drive(m, c, tea.WindowSizeMsg{Width: 120, Height: 36})
		content := m.View().Content
		if got := strings.Contains(content, "\x1b[33m") || strings.Contains(content, ";33m"); got != color {
			t.Errorf("colour allowed %t, used %t", color, got)
		}
	}
}

func TestEscNeverQuits(t *testing.T) {
	m, c := reviewOf(t, tuitest.FreshPlan(t), 80, 24)
	for range 10 {
		c.Forward(1)
		if _, cmd := m.Update(tuitest.Press("esc")); cmd != nil {
			t.Fatal("esc returned a command")
		}
	}
}

func TestEveryKeyOfTheFooterHasHelp(t *testing.T) {
	m, c := reviewOf(t, tuitest.FreshPlan(t), 120, 36)
	for _, keys := range [][]any{{"1"}, {"2"}, {"3"}, {"4"}, {"5"}, {"6"}, {"4", "e"}} {
		tuitest.Drive(m, c, keys...)
		bindings := m.footerKeys()
		if len(bindings) > 7 {
			t.Errorf("%d keys in the footer after %v, want at most 7", len(bindings), keys)
		}
		for _, b := range bindings {
			if b.Help().Key == "" || b.Help().Desc == "" || len(b.Keys()) == 0 {
				t.Errorf("a footer key without keys or words after %v", keys)
			}
		}
	}
}

func TestASettingThatNeedsLessHasItsCommand(t *testing.T) {
	p := tuitest.FreshPlan(t)
	p.Verdict = &preview.Verdict{Mitigations: []preview.Mitigation{{Flags: []string{"--install-mode", "OwnNamespace"}, Removes: []string{"C1"}}}}
	m, c := reviewOf(t, p, 120, 36)
	b := m.activeTab()
	b.selectID(tabs.SettingPrefix + "0")
	command := b.copyText()
	if !strings.HasPrefix(command, "kubectl operator install ") || !strings.HasSuffix(command, " --install-mode OwnNamespace") || strings.Contains(command, "--approve") {
		t.Errorf("y copies %q, not the command that reviews the plan with the setting", command)
	}
	tuitest.Drive(m, c, "enter")
	if want := "y copies: " + command; m.notice != want {
		t.Errorf("enter says %q, want %q", m.notice, want)
	}
}
