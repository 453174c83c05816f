package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// toConfirm looks at everything freshPlan asks for and opens CONFIRM.
func toConfirm() []any { return []any{"n", "n", "n", "n", "a"} }

func TestApproval(t *testing.T) {
	fresh, clean := freshPlan(t), cleanPlan(t)
	for _, tc := range []struct {
		name  string
		plan  *preview.Plan
		steps []any
		want  Kind
	}{
		{"the release name and enter approve after everything was looked at", fresh, append(append(toConfirm(), typed("mongodb")...), "enter"), Approved},
		{"y does not approve where the name is asked for", fresh, append(toConfirm(), "y", "enter"), Quit},
		{"another case is not the name", fresh, append(append(toConfirm(), typed("MongoDB")...), "enter"), Quit},
		{"the name without enter approves nothing", fresh, append(toConfirm(), typed("mongodb")...), Quit},
		{"a pasted name is ignored", fresh, append(toConfirm(), tea.PasteMsg{Content: "mongodb"}, "enter"), Quit},
		{"findings that were not looked at keep the question closed", fresh, append(append([]any{"n", "n", "a"}, typed("mongodb")...), "enter"), Quit},
		{"leaving the question with ctrl+c declines", fresh, append(toConfirm(), "ctrl+c"), Declined},
		{"y and enter approve a plan without criticals or losses", clean, []any{"a", "y", "enter"}, Approved},
		{"enter alone approves nothing", clean, []any{"a", "enter", "enter", "enter"}, Quit},
		{"n declines", clean, []any{"a", "n", "enter"}, Declined},
		{"esc and q quit", clean, []any{"a", "esc", "q"}, Quit},
		{"y in the review copies and approves nothing", clean, []any{"y", "enter"}, Quit},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, c := reviewOf(t, tc.plan, 120, 36)
			drive(m, c, tc.steps...)
			if m.outcome.Kind != tc.want {
				t.Fatalf("outcome is %v, want %v\n%s", m.outcome.Kind, tc.want, strings.Join(screenOf(m), "\n"))
			}
			if digest := m.outcome.PlanDigest; (digest != "") != (tc.want == Approved) || tc.want == Approved && digest != tc.plan.Digest {
				t.Errorf("approved digest is %q", digest)
			}
		})
	}
}

func TestApprovalNamesWhatWasAccepted(t *testing.T) {
	p := freshPlan(t)
	m, c := reviewOf(t, p, 80, 24)
	drive(m, c, append(append(toConfirm(), typed("mongodb")...), "enter")...)
	if len(m.outcome.Accepted) != 3 {
		t.Fatalf("accepted %v, want the three critical findings", m.outcome.Accepted)
	}
	for _, a := range m.outcome.Accepted {
		if !slices.ContainsFunc(p.Findings, func(f preview.Finding) bool {
			return f.ID == a.ID && f.Fingerprint == a.Fingerprint && f.Severity == preview.Critical
		}) {
			t.Errorf("%v is no critical finding of the plan", a)
		}
	}
}

func TestKeysFromBeforeTheQuestionAreSwallowed(t *testing.T) {
	m, c := reviewOf(t, cleanPlan(t), 120, 36)
	drive(m, c, "a")
	for range 20 {
		c.forward(quiet - time.Millisecond)
		m.Update(press("y"))
	}
	if m.confirm.input.Value != "" {
		t.Fatalf("input is %q before the keyboard was quiet", m.confirm.input.Value)
	}
	c.forward(quiet)
	m.Update(press("y"))
	if m.confirm.input.Value != "y" {
		t.Fatalf("input is %q after the keyboard was quiet", m.confirm.input.Value)
	}
}

func TestAnswersBeforeTheRecheckCountForNothing(t *testing.T) {
	p := cleanPlan(t)
	m, c := reviewOf(t, p, 120, 36)
	c.forward(time.Second)
	_, cmd := m.Update(press("a"))
	drive(m, c, "y", "enter")
	if m.outcome.Kind == Approved || m.confirm.input.Value != "" {
		t.Fatal("an answer was taken before the cluster was checked again")
	}
	pump(m, cmd)
	drive(m, c, "y", "enter")
	if m.outcome.Kind != Approved {
		t.Fatal("the answer after the check was not taken")
	}
}

func TestAMovedClusterLeadsBackToTheReview(t *testing.T) {
	p := freshPlan(t)
	now := freshPlan(t)
	now.Object(deployObject).Digest = digestOf("another")
	for i := range now.Findings {
		if now.Findings[i].Object == webhookObject {
			now.Findings[i].Fingerprint = digestOf("another webhook")
		}
	}
	if err := now.Seal(); err != nil {
		t.Fatal(err)
	}
	m, c := reviewOf(t, p, 120, 36)
	m.opts.Recheck = recheckSame(now)
	drive(m, c, toConfirm()...)
	if m.screen != screenReview || m.plan != now {
		t.Fatal("the question stayed open for a plan that is not the reviewed one")
	}
	if m.board.left() != 1 {
		t.Errorf("%d must-look left, want the one whose evidence changed", m.board.left())
	}
	for _, part := range []string{"Deployment mongodb/operator is another object", "1 of 3 looks reset"} {
		if !strings.Contains(m.banner, part) {
			t.Errorf("the banner %q does not say %q", m.banner, part)
		}
	}
	checkFrame(t, m, 120, 36)
	drive(m, c, append(append([]any{"n", "n", "a"}, typed("mongodb")...), "enter")...)
	if m.outcome.Kind != Approved || m.outcome.PlanDigest != now.Digest {
		t.Errorf("outcome %v of %s, want the new plan approved", m.outcome.Kind, m.outcome.PlanDigest)
	}
}

func TestAFailedRecheckAsksAgain(t *testing.T) {
	p := cleanPlan(t)
	m, c := reviewOf(t, p, 80, 24)
	m.opts.Recheck = func(context.Context, *preview.Plan) (*preview.Plan, error) {
		return nil, errors.New("connection refused")
	}
	drive(m, c, "a", "y", "enter")
	if m.outcome.Kind == Approved {
		t.Fatal("approved without a check")
	}
	golden(t, "confirm-error/80x24/clean", m, 80, 24)
	m.opts.Recheck = recheckSame(p)
	drive(m, c, "r", "y", "enter")
	if m.outcome.Kind != Approved {
		t.Fatal("not approved after the check succeeded")
	}
}

func TestLookingMeansSeeingTheEvidence(t *testing.T) {
	p := freshPlan(t)
	var lines []string
	for i := range 18 {
		lines = append(lines, fmt.Sprintf("evidence line %d", i))
	}
	p.Findings[0].Evidence = strings.Join(lines, "\n")
	m, c := reviewOf(t, p, 60, 20)
	drive(m, c, "n")
	if m.board.looked(0) {
		t.Fatal("marked without a second key")
	}
	drive(m, c, "space")
	if m.board.looked(0) {
		t.Fatal("marked although evidence was below the screen")
	}
	drive(m, c, "n")
	if !m.board.looked(0) {
		t.Fatal("not marked although all of the evidence was on screen")
	}
}

func TestAnUnappliablePlanSaysWhy(t *testing.T) {
	p := cleanPlan(t)
	p.Objects[0].Action = preview.ActionBlocked
	m, c := reviewOf(t, p, 120, 36)
	drive(m, c, "a")
	if m.screen == screenConfirm {
		t.Fatal("the question opened for a plan that cannot be applied")
	}
	golden(t, "obstacle/120x36/blocked", m, 120, 36)
}

func TestReadOnlyNeverAsks(t *testing.T) {
	p := cleanPlan(t)
	c := newClock()
	m := newReview(t.Context(), ReviewOptions{Plan: p, ReadOnly: true, Now: c.Now})
	drive(m, c, tea.WindowSizeMsg{Width: 120, Height: 36}, "a", "y", "enter")
	if m.screen != screenReview || m.outcome.Kind != Quit {
		t.Fatal("a read-only review asked for approval")
	}
}

// randomKeys are pressed in the property test: every key of the key map that
// could matter, and letters.
func randomKeys() []string {
	keys := []string{
		"enter", "enter", "a", "a", "n", "n", "n", "esc", "tab", "shift+tab", "space", "up", "down", "left", "right", "home", "end",
		"pgup", "pgdown", "ctrl+d", "ctrl+u", "ctrl+y", "backspace", "/", "]", "[", "?", "1", "2", "3", "4", "5", "6",
	}
	for r := 'a'; r <= 'z'; r++ {
		keys = append(keys, string(r))
	}
	return keys
}

// hostile is text that a terminal would obey or hide.
const hostile = "a\x1b[2Jb\x1b]52;c;aGk=\x07c\rd\u202ee\u200bf\x9bg\tx\u0301\u0301\u0301\u0301\u0301\u0301界\nnext"

// poison puts hostile text at every place of a plan that outside text reaches.
func poison(p *preview.Plan) {
	long := strings.Repeat("x", 10_000)
	p.Packages[0].Version, p.Packages[0].Bundle = hostile, hostile+long
	p.Packages[0].Sources[0].Reference = hostile
	p.Request.Reference, p.Target.User, p.Target.Context, p.Target.Server = hostile, hostile, hostile+long, hostile
	p.Release.Namespace = hostile
	for i := range p.Findings {
		f := &p.Findings[i]
		f.Title, f.Why, f.Evidence, f.Rule = hostile, hostile+long, hostile+long, hostile
	}
	for i := range p.Access.Grants {
		g := &p.Access.Grants[i]
		g.Subject.Name, g.Verbs, g.Resources, g.Via = hostile, []string{hostile}, []string{hostile + long}, []string{hostile}
	}
	for i := range p.Objects {
		o := &p.Objects[i]
		o.Name, o.Origin.File = hostile, hostile
		o.Changes = append(o.Changes, preview.Change{Path: hostile, Op: "change", From: hostile, To: long})
		o.Conflicts = nil
		if o.Sealed != nil {
			o.Sealed["annotation"] = hostile + long
		}
	}
	p.Objects[0].ID = "core/Pod/" + hostile + "/" + hostile
	p.Images = append(p.Images, preview.Image{Reference: hostile + long})
	p.Unknowns = append(p.Unknowns, preview.Unknown{Object: hostile, Why: hostile})
}

func TestHostileTextStaysText(t *testing.T) {
	for name, plan := range map[string]*preview.Plan{"fresh": freshPlan(t), "upgrade": upgradePlan(t)} {
		poison(plan)
		for _, size := range sizes {
			m, c := reviewOf(t, plan, size[0], size[1])
			m.banner = hostile
			for _, keys := range [][]any{
				{"1"}, {"2"}, {"enter"}, {"end"}, {"esc", "3"}, {"enter"}, {"esc", "x"}, {"4"}, {"e"}, {"right"}, {"esc", "d"}, {"esc", "esc", "5"}, {"enter"},
				{"esc", "6"}, {"end", "y"}, {"Y"}, {"?"}, {"esc", "/", "x", "enter"}, {"esc", "1", "end"},
			} {
				drive(m, c, keys...)
				checkHarmless(t, fmt.Sprintf("%s %v after %v", name, size, keys), m, size)
			}
			m.screen = screenConfirm
			m.settle()
			for _, err := range []error{nil, errors.New(hostile)} {
				m.confirm.err = err
				checkHarmless(t, "confirm", m, size)
			}
			m.confirm.full = true
			checkHarmless(t, "digests", m, size)
		}
	}
}

// checkHarmless asserts that a frame holds no control byte but line breaks and
// our own attributes, and nothing invisible.
func checkHarmless(t *testing.T, where string, m tea.Model, size [2]int) {
	t.Helper()
	v := m.View()
	checkFrame(t, m, size[0], size[1])
	for _, text := range append(strings.Split(ansi.Strip(v.Content), "\n"), v.WindowTitle) {
		if textsafe.Hostile(text) || strings.ContainsFunc(text, func(r rune) bool { return r < 0x20 }) {
			t.Fatalf("%s: hostile text on screen: %q", where, text)
		}
	}
	for _, sequence := range strings.Split(v.Content, "\x1b")[1:] {
		if end := strings.IndexByte(sequence, 'm'); end < 0 || !strings.HasPrefix(sequence, "[") || strings.Trim(sequence[1:end], "0123456789;") != "" {
			t.Fatalf("%s: an escape sequence that is not ours: %.20q", where, sequence)
		}
	}
}

func TestEveryScreenSurvivesEveryWindow(t *testing.T) {
	states := [][]any{nil, {"2", "enter"}, {"3"}, {"4", "e"}, {"5", "enter"}, {"6"}, {"?"}, {"n", "n", "n", "n", "a"}, {"/", "x"}}
	for _, keys := range states {
		m, c := reviewOf(t, freshPlan(t), 120, 36)
		drive(m, c, keys...)
		for _, size := range [][2]int{{0, 0}, {1, 1}, {39, 12}, {40, 12}, {59, 19}, {60, 20}, {80, 24}, {99, 24}, {100, 20}, {200, 60}, {500, 12}, {120, 36}} {
			drive(m, c, tea.WindowSizeMsg{Width: size[0], Height: size[1]}, "down", "up")
			if size[0] >= minWidth && size[1] >= minHeight {
				checkFrame(t, m, size[0], size[1])
			} else {
				checkFrame(t, m, max(1, size[0]), 1)
			}
		}
	}
}

func TestASmallWindowNeverApproves(t *testing.T) {
	m, c := reviewOf(t, cleanPlan(t), 120, 36)
	drive(m, c, "a", tea.WindowSizeMsg{Width: 40, Height: 12}, "y", "enter")
	if m.outcome.Kind == Approved {
		t.Fatal("approved where the digests do not fit")
	}
	drive(m, c, tea.WindowSizeMsg{Width: 60, Height: 20})
	digest := strings.TrimPrefix(m.plan.Digest, "sha256:")
	screen := strings.Join(screenOf(m), "\n")
	if !strings.Contains(screen, digest[:32]) || !strings.Contains(screen, digest[32:]) {
		t.Errorf("the plan digest is cut:\n%s", screen)
	}
}
