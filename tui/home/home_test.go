package home

import (
	"context"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

// fleet is a cluster with releases that are well and not.
func fleet() (Listing, []Condition) {
	return Listing{
			Cluster: "prod-eu-1", Catalogs: 2,
			Releases: []Release{
				{"cert-manager", "cert-manager", "1.16.0", "cert-manager 1.16.0, revision 1, applied 2026-11-20 10:00"},
				{"mongodb", "databases", "1.10.0", "mongodb 1.10.0, revision 3, applied 2026-11-20 10:00, from catalog quay.io/operatorhubio/catalog:latest"},
				{"shop", "shop", "", "chart-r 0.4.0, revision 2, failed 2026-11-20 10:00"},
				{"billing-export-of-the-european-union-nightly-1", "billing-export-of-the-european-union", "2.0.0", "x 2.0.0"},
				{"billing-export-of-the-european-union-nightly-2", "billing-export-of-the-european-union", "2.0.0", "x 2.0.0"},
			},
		}, []Condition{
			{Word: "healthy", Role: theme.Good},
			{Word: "healthy", Role: theme.Good, Update: "1.11.0"},
			{Word: "DEGRADED", Role: theme.Fail, Why: "Deployment shop/web: image not found: pod web-67764cfcb8-qr7cl: ImagePullBackOff"},
			{Word: "DRIFTED", Role: theme.Caution, Why: "Deployment x differs: spec.replicas"},
			{Word: "healthy", Role: theme.Good},
		}
}

// homeOf is the screen of a listing, with all releases inspected.
func homeOf(t *testing.T, found Listing, conditions []Condition, width, height int) (*screen, *tuitest.Clock) {
	t.Helper()
	next := 0
	m := newScreen(t.Context(), Options{
		Terminal: frame.Terminal{Width: width, Height: height},
		Load:     func(context.Context) Listing { next = 0; return found },
		Inspect: func(context.Context, Release) Condition {
			next++
			return conditions[next-1]
		},
	})
	tuitest.Pump(m, m.Init())
	return m, tuitest.NewClock()
}

func golden(t *testing.T, name string, m *screen, width, height int) {
	t.Helper()
	tuitest.Golden(t, name, m, tuitest.ContentIn(m, &m.theme), width, height)
}

func TestFrames(t *testing.T) {
	releases, conditions := fleet()
	for _, size := range tuitest.Sizes {
		for _, state := range []struct {
			name  string
			found Listing
			keys  []any
		}{
			{"releases", releases, nil},
			{"commands", releases, []any{"down", "enter"}},
			{"degraded", releases, []any{"down", "down", "enter", "down", "down"}},
			{"none", Listing{Cluster: "kind-kind"}, nil},
			{"nocluster", Listing{Problem: "no kubeconfig: /home/me/.kube/config names no cluster; set --kubeconfig or KUBECONFIG, or start one with \"kubectl operator sandbox up\""}, nil},
			{"asking", releases, append([]any{"end", "up", "enter"}, tuitest.Typed("./bundle")...)},
			{"help", releases, []any{"?"}},
		} {
			m, c := homeOf(t, state.found, conditions, size[0], size[1])
			tuitest.Drive(m, c, state.keys...)
			golden(t, "home/"+tuitest.SizeName(size)+"/"+state.name, m, size[0], size[1])
		}
	}
}

func TestAChoiceIsACommand(t *testing.T) {
	releases, conditions := fleet()
	none := Listing{Problem: "no cluster"}
	for name, tc := range map[string]struct {
		found Listing
		keys  []any
		want  string
	}{
		"the first command of a release is its upgrade": {releases, []any{"down", "enter", "down", "enter"}, "upgrade mongodb -n databases"},
		"the last removes it":                           {releases, []any{"enter", "down", "down", "down", "down", "down", "enter"}, "uninstall cert-manager -n cert-manager"},
		"a package is chosen from the catalogs":         {releases, []any{"end", "up", "up", "enter"}, "install"},
		"a sandbox is started":                          {none, []any{"end", "enter"}, "sandbox up"},
		"a reference is installed after its review":     {releases, append(append([]any{"end", "up", "enter"}, tuitest.Typed("./x")...), "enter"), "install ./x"},
		"without a cluster it is shown":                 {none, append(append([]any{"end", "up", "enter"}, tuitest.Typed("./x")...), "enter"), "preview ./x --offline --tui"},
		"a flag is no reference":                        {releases, append(append([]any{"end", "up", "enter"}, tuitest.Typed("--yes")...), "enter"), ""},
		"nothing is chosen by leaving":                  {releases, []any{"q"}, ""},
		"folding is no choice":                          {releases, []any{"enter", "enter", "esc"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m, c := homeOf(t, tc.found, conditions, 80, 24)
			tuitest.Drive(m, c, tc.keys...)
			if got := strings.Join(m.choice.Command, " "); got != tc.want {
				t.Errorf("chosen is %q, want %q\n%s", got, tc.want, strings.Join(tuitest.ScreenOf(m), "\n"))
			}
		})
	}
}

// Why a release is not well is not cut while lines are free. Where none are, a release that
// is opened says it.
func TestTheReasonBesideAStateIsNotCut(t *testing.T) {
	releases, conditions := fleet()
	const last = "ImagePullBackOff"
	for height, whole := range map[int]bool{24: true, 14: false} {
		m, c := homeOf(t, releases, conditions, 80, height)
		if shown := tuitest.Shows(m, last); shown != whole {
			t.Errorf("of %d lines: the reason is whole %v, want %v\n%s", height, shown, whole, strings.Join(tuitest.ScreenOf(m), "\n"))
		}
		tuitest.Drive(m, c, "down", "down")
		if r := m.selected(); r == nil || r.id != "release/2" {
			t.Errorf("the cursor is on %+v", r)
		}
		tuitest.Drive(m, c, "enter")
		if screen := strings.Join(tuitest.ScreenOf(m), "\n"); strings.Count(screen, last) != 1 {
			t.Errorf("of %d lines: opened, it says the reason in full %d times\n%s", height, strings.Count(screen, last), screen)
		}
	}
}

// A late answer about earlier releases does not change the releases shown now.
func TestALateAnswerIsOfNoUse(t *testing.T) {
	releases, conditions := fleet()
	m, c := homeOf(t, releases, conditions, 120, 36)
	tuitest.Drive(m, c, "r", tea.Msg(conditionMsg{round: 1, at: 0, is: Condition{Word: "of another time"}}))
	if tuitest.Shows(m, "of another time") {
		t.Errorf("a late answer is shown:\n%s", strings.Join(tuitest.ScreenOf(m), "\n"))
	}
}

func TestTheCursorStaysOnItsRowWhileAnswersArrive(t *testing.T) {
	releases, _ := fleet()
	m := newScreen(t.Context(), Options{
		Terminal: frame.Terminal{Width: 80, Height: 24}, Load: func(context.Context) Listing { return releases },
		Inspect: func(context.Context, Release) Condition { return Condition{} },
	})
	m.Update(listingMsg{1, releases})
	tuitest.Drive(m, tuitest.NewClock(), "end")
	m.Update(conditionMsg{1, 0, Condition{Word: "DEGRADED", Why: "x"}})
	if r := m.selected(); r == nil || r.id != "sandbox" {
		t.Errorf("the cursor is on %+v", r)
	}
}

func TestHostileTextIsHarmless(t *testing.T) {
	for _, text := range tuitest.HostileTexts(t) {
		found := Listing{Cluster: text, Problem: text, Releases: []Release{{text, text, text, text}}}
		for _, size := range tuitest.Sizes {
			m, c := homeOf(t, found, []Condition{{Word: text, Why: text, Update: text}}, size[0], size[1])
			tuitest.Drive(m, c, "enter")
			tuitest.Harmless(t, "home", m, tuitest.ContentIn(m, &m.theme), size)
		}
	}
}

func TestTheRealCursorStandsOnTheSelectedRow(t *testing.T) {
	releases, conditions := fleet()
	for _, size := range tuitest.Sizes {
		m, c := homeOf(t, releases, slices.Clone(conditions), size[0], size[1])
		tuitest.Drive(m, c, "down", "enter", "down")
		tuitest.OnSelectedRow(t, tuitest.SizeName(size), m)
	}
}
