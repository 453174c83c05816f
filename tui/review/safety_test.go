package review

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/findingtest"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

// toConfirm looks at everything freshPlan asks for and opens CONFIRM.
func toConfirm() []any { return []any{"n", "n", "n", "n", "a"} }

func TestApproval(t *testing.T) {
	fresh, clean := tuitest.FreshPlan(t), tuitest.CleanPlan(t)
	for _, tc := range []struct {
		name  string
		plan  *preview.Plan
		steps []any
		want  Kind
	}{
		{"the release name and enter approve after everything was looked at", fresh, append(append(toConfirm(), tuitest.Typed("mongodb")...), "enter"), Approved},
		{"y does not approve where the name is asked for", fresh, append(toConfirm(), "y", "enter"), Quit},
		{"another case is not the name", fresh, append(append(toConfirm(), tuitest.Typed("MongoDB")...), "enter"), Quit},
		{"the name without enter approves nothing", fresh, append(toConfirm(), tuitest.Typed("mongodb")...), Quit},
		{"a pasted name is ignored", fresh, append(toConfirm(), tea.PasteMsg{Content: "mongodb"}, "enter"), Quit},
		{"findings that were not looked at keep the question closed", fresh, append(append([]any{"n", "n", "a"}, tuitest.Typed("mongodb")...), "enter"), Quit},
		{"leaving the question with ctrl+c declines", fresh, append(toConfirm(), "ctrl+c"), Declined},
		{"y and enter approve a plan without criticals or losses", clean, []any{"a", "y", "enter"}, Approved},
		{"enter alone approves nothing", clean, []any{"a", "enter", "enter", "enter"}, Quit},
		{"n declines", clean, []any{"a", "n", "enter"}, Declined},
		{"esc and q quit", clean, []any{"a", "esc", "q"}, Quit},
		{"y in the review copies and approves nothing", clean, []any{"y", "enter"}, Quit},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, c := reviewOf(t, tc.plan, 120, 36)
			tuitest.Drive(m, c, tc.steps...)
			if m.outcome.Kind != tc.want {
				t.Fatalf("outcome is %v, want %v\n%s", m.outcome.Kind, tc.want, strings.Join(tuitest.ScreenOf(m), "\n"))
			}
			if digest := m.outcome.PlanDigest; (digest != "") != (tc.want == Approved) || tc.want == Approved && digest != tc.plan.Digest {
				t.Errorf("approved digest is %q", digest)
			}
		})
	}
}

func TestApprovalNamesWhatWasAccepted(t *testing.T) {
	p := tuitest.FreshPlan(t)
	m, c := reviewOf(t, p, 80, 24)
	tuitest.Drive(m, c, append(append(toConfirm(), tuitest.Typed("mongodb")...), "enter")...)
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
	m, c := reviewOf(t, tuitest.CleanPlan(t), 120, 36)
	tuitest.Drive(m, c, "a")
	for range int(maxQuiet / quietTime) {
		c.Forward(quietTime - time.Millisecond)
		m.Update(tuitest.Press("y"))
	}
	if m.confirm.input.Value != "" {
		t.Fatalf("input is %q before the keyboard was quiet", m.confirm.input.Value)
	}
	if !tuitest.Shows(m, "one moment") {
		t.Errorf("nothing says that keys are dropped:\n%s", strings.Join(tuitest.ScreenOf(m), "\n"))
	}
	c.Forward(quietTime)
	m.Update(tuitest.Press("y"))
	if m.confirm.input.Value != "y" {
		t.Fatalf("input is %q after the keyboard was quiet", m.confirm.input.Value)
	}
}

// Typing that does not pause is not dropped for ever, and esc never is.
func TestTheQuestionListensSoon(t *testing.T) {
	m, c := reviewOf(t, tuitest.CleanPlan(t), 120, 36)
	tuitest.Drive(m, c, "a")
	for range 20 {
		c.Forward(120 * time.Millisecond)
		m.Update(tuitest.Press("x"))
	}
	if typed := len(m.confirm.input.Value); typed < 6 || typed > 10 {
		t.Errorf("of 20 letters in 2.4 s %d were taken", typed)
	}
	tuitest.Drive(m, c, "esc", "a")
	c.Forward(time.Millisecond)
	if m.Update(tuitest.Press("esc")); m.screen != screenReview {
		t.Error("esc is dropped at the question")
	}
}

func TestAnswersBeforeTheRecheckCountForNothing(t *testing.T) {
	p := tuitest.CleanPlan(t)
	m, c := reviewOf(t, p, 120, 36)
	c.Forward(time.Second)
	_, cmd := m.Update(tuitest.Press("a"))
	tuitest.Drive(m, c, "y", "enter")
	if m.outcome.Kind == Approved || m.confirm.input.Value != "" {
		t.Fatal("an answer was taken before the cluster was checked again")
	}
	tuitest.Pump(m, cmd)
	tuitest.Drive(m, c, "y", "enter")
	if m.outcome.Kind != Approved {
		t.Fatal("the answer after the check was not taken")
	}
}

func TestAMovedClusterLeadsBackToTheReview(t *testing.T) {
	p := tuitest.FreshPlan(t)
	now := tuitest.FreshPlan(t)
	now.Object(tuitest.DeployObject).Digest = tuitest.DigestOf("another")
	for i := range now.Findings {
		if now.Findings[i].Object == tuitest.WebhookObject {
			now.Findings[i].Fingerprint = tuitest.DigestOf("another webhook")
		}
	}
	if err := now.Seal(); err != nil {
		t.Fatal(err)
	}
	m, c := reviewOf(t, p, 120, 36)
	m.opts.Recheck = recheckSame(now)
	tuitest.Drive(m, c, toConfirm()...)
	if m.screen != screenReview || m.Plan != now {
		t.Fatal("the question stayed open for a plan that is not the reviewed one")
	}
	if m.Checklist.Remaining() != 1 {
		t.Errorf("%d critical to review, want the one whose evidence changed", m.Checklist.Remaining())
	}
	for _, part := range []string{"Deployment mongodb/operator is another object", "1 of 3 marks reset"} {
		if !strings.Contains(m.Banner, part) {
			t.Errorf("the banner %q does not say %q", m.Banner, part)
		}
	}
	tuitest.CheckFrame(t, m, 120, 36)
	tuitest.Drive(m, c, append(append([]any{"n", "n", "a"}, tuitest.Typed("mongodb")...), "enter")...)
	if m.outcome.Kind != Approved || m.outcome.PlanDigest != now.Digest {
		t.Errorf("outcome %v of %s, want the new plan approved", m.outcome.Kind, m.outcome.PlanDigest)
	}
}

func TestAFailedRecheckAsksAgain(t *testing.T) {
	p := tuitest.CleanPlan(t)
	m, c := reviewOf(t, p, 80, 24)
	m.opts.Recheck = func(context.Context, *preview.Plan, func(string)) (*preview.Plan, error) {
		return nil, errors.New("connection refused")
	}
	tuitest.Drive(m, c, "a", "y", "enter")
	if m.outcome.Kind == Approved {
		t.Fatal("approved without a check")
	}
	golden(t, "confirm-error/80x24/clean", m, 80, 24)
	tuitest.Drive(m, c, "e")
	if m.page == nil || !tuitest.Shows(m, "connection refused") {
		t.Error("e does not show the error whole")
	}
	tuitest.Drive(m, c, "esc")
	m.opts.Recheck = recheckSame(p)
	tuitest.Drive(m, c, "r", "y", "enter")
	if m.outcome.Kind != Approved {
		t.Fatal("not approved after the check succeeded")
	}
}

func TestLookingMeansSeeingTheEvidence(t *testing.T) {
	p := tuitest.FreshPlan(t)
	var lines []string
	for i := range 18 {
		lines = append(lines, fmt.Sprintf("evidence line %d", i))
	}
	p.Findings[0].Evidence = strings.Join(lines, "; ")
	p.Findings[0] = findingtest.Worded(p.Findings[0])
	m, c := reviewOf(t, p, 60, 20)
	tuitest.Drive(m, c, "n")
	if m.Checklist.IsReviewed(0) {
		t.Fatal("marked without a second key")
	}
	tuitest.Drive(m, c, "space")
	if m.Checklist.IsReviewed(0) {
		t.Fatal("marked although evidence was below the screen")
	}
	tuitest.Drive(m, c, "n")
	if !m.Checklist.IsReviewed(0) {
		t.Fatal("not marked although all of the evidence was on screen")
	}
}

func TestAnUnappliablePlanSaysWhy(t *testing.T) {
	p := tuitest.CleanPlan(t)
	p.Objects[0].Action = preview.ActionBlocked
	m, c := reviewOf(t, p, 120, 36)
	tuitest.Drive(m, c, "a")
	if m.screen == screenConfirm {
		t.Fatal("the question opened for a plan that cannot be applied")
	}
	golden(t, "obstacle/120x36/blocked", m, 120, 36)
}

// Nothing is reviewed in vain: what no approval can cover is said before the review, and
// by the key that approves, with the way out.
func TestAnObstacleIsSaidBeforeTheReview(t *testing.T) {
	for _, size := range tuitest.Sizes {
		p := tuitest.FreshPlan(t)
		p.Verdict = verdict.Of(p, []preview.Obstacle{{
			Object: tuitest.DeployObject, Cause: "is of a kind that is neither served by the cluster nor brought by the plan",
			Remedy: "install cert-manager first (kubectl operator install chart+https://charts.jetstack.io/cert-manager), or plan with --certs generated, which needs nothing in the cluster, or with --certs service-ca on OpenShift", Flags: []string{"--certs", "generated"},
		}})
		m, c := reviewOf(t, p, size[0], size[1])
		if screen := strings.Join(tuitest.ScreenOf(m), "\n"); !strings.Contains(screen, "cannot be app") || strings.Contains(screen, "to review") {
			t.Errorf("the footer asks for the review of a plan that cannot be applied:\n%s", screen)
		}
		golden(t, "obstacle/"+tuitest.SizeName(size)+"/summary", m, size[0], size[1])
		tuitest.Drive(m, c, "a")
		golden(t, "obstacle/"+tuitest.SizeName(size)+"/unseen", m, size[0], size[1])
		tuitest.Drive(m, c, "esc", "n", "n", "n", "n", "n", "n", "a", "y", "enter")
		if m.screen == screenConfirm || m.outcome.Kind == Approved {
			t.Fatal("the question opened for a plan that cannot be applied")
		}
	}
}

func TestReadOnlyNeverAsks(t *testing.T) {
	p := tuitest.CleanPlan(t)
	c := tuitest.NewClock()
	m := newReview(t.Context(), Options{Plan: p, ReadOnly: true, Now: c.Now})
	tuitest.Drive(m, c, tea.WindowSizeMsg{Width: 120, Height: 36}, "a", "y", "enter")
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

func TestEveryScreenSurvivesEveryWindow(t *testing.T) {
	states := [][]any{nil, {"2", "enter"}, {"3"}, {"4", "e"}, {"5", "enter"}, {"6"}, {"?"}, {"n", "n", "n", "n", "a"}, {"/", "x"}}
	for _, keys := range states {
		m, c := reviewOf(t, tuitest.FreshPlan(t), 120, 36)
		tuitest.Drive(m, c, keys...)
		for _, size := range [][2]int{{0, 0}, {1, 1}, {39, 12}, {40, 12}, {59, 19}, {60, 20}, {80, 24}, {99, 24}, {100, 20}, {200, 60}, {500, 12}, {120, 36}} {
			tuitest.Drive(m, c, tea.WindowSizeMsg{Width: size[0], Height: size[1]}, "down", "up")
			if size[0] >= frame.MinWidth && size[1] >= frame.MinHeight {
				tuitest.CheckFrame(t, m, size[0], size[1])
			} else {
				tuitest.CheckFrame(t, m, max(1, size[0]), 1)
			}
		}
	}
}

func TestASmallWindowNeverApproves(t *testing.T) {
	m, c := reviewOf(t, tuitest.CleanPlan(t), 120, 36)
	tuitest.Drive(m, c, "a", tea.WindowSizeMsg{Width: 40, Height: 12}, "y", "enter")
	if m.outcome.Kind == Approved {
		t.Fatal("approved where the digests do not fit")
	}
	tuitest.Drive(m, c, tea.WindowSizeMsg{Width: 60, Height: 20})
	digest := strings.TrimPrefix(m.Plan.Digest, "sha256:")
	screen := strings.Join(tuitest.ScreenOf(m), "\n")
	if !strings.Contains(screen, digest[:32]) || !strings.Contains(screen, digest[32:]) {
		t.Errorf("the plan digest is cut:\n%s", screen)
	}
}
