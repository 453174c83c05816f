package review

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

// drift reports a change as the watch of the plan on screen does.
func drift(m *review, drifts ...Drift) driftMsg {
	return driftMsg{round: m.watch.round, drifts: drifts}
}

// resolveTo makes a review plan again with an answer of the test's.
func resolveTo(m *review, p *preview.Plan, err error) {
	m.opts.Resolve = func(context.Context, func(string)) (*preview.Plan, error) { return p, err }
	m.Replans = true
}

// changedWebhook is freshPlan with other evidence about its webhook.
func changedWebhook(t *testing.T) *preview.Plan {
	t.Helper()
	now := tuitest.FreshPlan(t)
	now.Object(tuitest.WebhookObject).Live.Fingerprint = tuitest.DigestOf("another")
	for i := range now.Findings {
		if now.Findings[i].Object == tuitest.WebhookObject {
			now.Findings[i].Fingerprint = tuitest.DigestOf("another webhook")
		}
	}
	now.Digest = tuitest.DigestOf("another plan")
	return now
}

func TestWhatMovedIsMarkedAndThePlanIsStale(t *testing.T) {
	for _, size := range tuitest.Sizes {
		m, c := reviewOf(t, tuitest.FreshPlan(t), size[0], size[1])
		resolveTo(m, changedWebhook(t), nil)
		tuitest.Drive(m, c, drift(m, Drift{tuitest.WebhookObject, "changed: .webhooks[0].failurePolicy"}, Drift{tuitest.DeployObject, "exists now"}))
		name := "stale-summary/" + fmt.Sprintf("%dx%d", size[0], size[1]) + "/fresh"
		golden(t, name, m, size[0], size[1])
		tuitest.Drive(m, c, "4")
		golden(t, "stale-objects/"+fmt.Sprintf("%dx%d", size[0], size[1])+"/fresh", m, size[0], size[1])
		if m.state() != "STALE" {
			t.Errorf("%s: the state is %s", name, m.state())
		}
		tuitest.Drive(m, c, drift(m, Drift{tuitest.WebhookObject, ""}, Drift{tuitest.DeployObject, ""}))
		if m.Stale() || m.state() != "REVIEW" || tuitest.Shows(m, "moved") {
			t.Errorf("%s: it is stale although everything is as it was again", name)
		}
	}
}

func TestAStalePlanIsMadeAgainAndNeverAskedAbout(t *testing.T) {
	m, c := reviewOf(t, tuitest.FreshPlan(t), 120, 36)
	now := changedWebhook(t)
	resolveTo(m, now, nil)
	tuitest.Drive(m, c, "n", "n", "n", "n", drift(m, Drift{tuitest.WebhookObject, "changed"}), "a")
	if m.screen != screenReview || m.Plan != now {
		t.Fatalf("a leads to screen %d of %s, want the review of the new plan", m.screen, m.Plan.Digest)
	}
	if m.Stale() || m.Checklist.Remaining() != 1 {
		t.Errorf("stale %t, %d left; want a fresh plan with one look reset", m.Stale(), m.Checklist.Remaining())
	}
	for _, part := range []string{"planned again", "mongodb-webhook", "1 of 3 marks reset: webhook fails closed"} {
		if !strings.Contains(m.Banner, part) {
			t.Errorf("the banner %q does not say %q", m.Banner, part)
		}
	}
	m.opts.Recheck = recheckSame(now)
	tuitest.Drive(m, c, "a", "n", "a")
	if m.screen != screenConfirm {
		t.Fatal("after the reset look was made again there is no question")
	}
	tuitest.Drive(m, c, append(tuitest.Typed("mongodb"), "enter")...)
	if m.outcome.Kind != Approved || m.outcome.PlanDigest != now.Digest {
		t.Errorf("outcome %v of %s, want the new plan", m.outcome.Kind, m.outcome.PlanDigest)
	}
}

func TestAPlanThatBecomesStaleClosesTheQuestion(t *testing.T) {
	m, c := reviewOf(t, tuitest.CleanPlan(t), 120, 36)
	resolveTo(m, tuitest.CleanPlan(t), nil)
	tuitest.Drive(m, c, "a", "y", drift(m, Drift{tuitest.DeployObject, "exists now"}), "enter")
	if m.screen != screenReview || m.outcome.Kind == Approved {
		t.Fatal("the question stayed open for a plan that is stale")
	}
	if !strings.Contains(m.Banner, "Deployment mongodb/operator exists now") {
		t.Errorf("the banner is %q", m.Banner)
	}
}

// An approval that was refused with nothing applied leads back to the review: of
// the plan as it is now, with the marks whose evidence is the same.
func TestARefusedApprovalIsReviewedAgain(t *testing.T) {
	approved := func(t *testing.T) Outcome {
		m, c := reviewOf(t, tuitest.FreshPlan(t), 120, 36)
		tuitest.Drive(m, c, "n", "n", "n", "n", "a")
		tuitest.Drive(m, c, append(tuitest.Typed("mongodb"), "enter")...)
		if m.outcome.Kind != Approved {
			t.Fatalf("outcome %v", m.outcome.Kind)
		}
		return m.outcome
	}
	refusal := errors.New("the lock is held by jane\nwait, or ask her")
	again := func(t *testing.T, now *preview.Plan, err error) (*review, *tuitest.Clock) {
		before, c := approved(t), tuitest.NewClock()
		m := newReview(t.Context(), Options{
			Before: &before, Refusal: refusal, Recheck: recheckSame(now), Gate: openGate, Now: c.Now, Title: "install mongodb",
			Resolve: func(context.Context, func(string)) (*preview.Plan, error) { return now, err },
		})
		m.resize(120, 36)
		tuitest.Pump(m, m.Init())
		return m, c
	}
	t.Run("why is shown where the plan is the same", func(t *testing.T) {
		m, c := again(t, tuitest.FreshPlan(t), nil)
		if m.screen != screenReview || m.Checklist.Remaining() != 0 || !strings.Contains(m.Banner, "nothing was applied (e all of it): the lock is held by jane") {
			t.Fatalf("screen %d, %d left, banner %q", m.screen, m.Checklist.Remaining(), m.Banner)
		}
		tuitest.Drive(m, c, "e")
		if !tuitest.Shows(m, "wait, or ask her") {
			t.Error("e does not show the whole error")
		}
	})
	t.Run("what changed is shown, and only its marks are reset", func(t *testing.T) {
		m, _ := again(t, changedWebhook(t), nil)
		for _, part := range []string{"nothing was applied", "mongodb-webhook", "1 of 3 marks reset"} {
			if !strings.Contains(m.Banner, part) {
				t.Errorf("the banner %q does not say %q", m.Banner, part)
			}
		}
		if m.Checklist.Remaining() != 1 || m.outcome.Kind == Approved {
			t.Errorf("%d left, outcome %v", m.Checklist.Remaining(), m.outcome.Kind)
		}
	})
	t.Run("without a new plan the old one stays, and is not approved", func(t *testing.T) {
		m, _ := again(t, nil, errors.New("connection refused"))
		if m.screen != screenReview || m.Plan == nil || m.outcome.Kind == Approved || !strings.Contains(m.Banner, "connection refused") {
			t.Errorf("screen %d, outcome %v, banner %q", m.screen, m.outcome.Kind, m.Banner)
		}
	})
}

func TestPlanningAgain(t *testing.T) {
	t.Run("the same plan says that nothing changed", func(t *testing.T) {
		m, c := reviewOf(t, tuitest.FreshPlan(t), 120, 36)
		resolveTo(m, tuitest.FreshPlan(t), nil)
		tuitest.Drive(m, c, "n", "n", "R")
		if m.Checklist.Remaining() != 2 || !strings.Contains(m.notice, "nothing that was reviewed has changed") {
			t.Errorf("%d left, notice %q", m.Checklist.Remaining(), m.notice)
		}
	})
	t.Run("a failure leaves the plan as stale as it was", func(t *testing.T) {
		m, c := reviewOf(t, tuitest.FreshPlan(t), 120, 36)
		old := m.Plan
		resolveTo(m, nil, errors.New("connection refused"))
		tuitest.Drive(m, c, drift(m, Drift{tuitest.DeployObject, "exists now"}), "R")
		if m.Plan != old || !m.Stale() || !strings.Contains(m.Banner, "connection refused") {
			t.Errorf("stale %t, banner %q", m.Stale(), m.Banner)
		}
	})
	t.Run("esc goes back, and the answer that comes later is dropped", func(t *testing.T) {
		m, c := reviewOf(t, tuitest.FreshPlan(t), 120, 36)
		old := m.Plan
		resolveTo(m, changedWebhook(t), nil)
		c.Forward(1)
		_, cmd := m.Update(tuitest.Press("R"))
		golden(t, "replan/120x36/fresh", m, 120, 36)
		tuitest.Drive(m, c, "y", "a", "enter", "esc")
		tuitest.Pump(m, cmd)
		if m.screen != screenReview || m.Plan != old {
			t.Error("a cancelled plan replaced the one under review")
		}
	})
	t.Run("a plan that was not made here cannot be", func(t *testing.T) {
		m, c := reviewOf(t, tuitest.FreshPlan(t), 120, 36)
		tuitest.Drive(m, c, "R")
		if m.screen != screenReview || m.notice == "" {
			t.Errorf("screen %d, notice %q", m.screen, m.notice)
		}
	})
	t.Run("what an earlier watch says is dropped", func(t *testing.T) {
		m, c := reviewOf(t, tuitest.FreshPlan(t), 120, 36)
		old := drift(m, Drift{tuitest.DeployObject, "exists now"})
		resolveTo(m, changedWebhook(t), nil)
		tuitest.Drive(m, c, "R", old, watchEndedMsg{old.round, errors.New("gone")})
		if m.Stale() || m.watch.err != nil {
			t.Error("a new plan is stale because of what was said about the old one")
		}
	})
}

func TestAWatchThatEndedIsSaid(t *testing.T) {
	m, c := reviewOf(t, tuitest.FreshPlan(t), 120, 36)
	tuitest.Drive(m, c, watchEndedMsg{m.watch.round, errors.New("unauthorized")})
	if !tuitest.Shows(m, "not watched") {
		t.Errorf("nobody says that nothing is watched:\n%s", strings.Join(tuitest.ScreenOf(m), "\n"))
	}
}

// The watch of a program is told which plan to follow, and ends with it.
func TestTheWatchFollowsThePlanOnScreen(t *testing.T) {
	p, watching, ended := tuitest.CleanPlan(t), make(chan struct{}), make(chan struct{})
	in := tuitest.Keyboard("j", watching, "q")
	defer func() { _ = in.Close() }()
	outcome, err := Run(tuitest.Deadline(t), Options{
		Terminal: tuitest.TestTerminal(in), Plan: p, Recheck: recheckSame(p), Gate: openGate,
		Watch: func(ctx context.Context, watched *preview.Plan, moved func(Drift)) error {
			defer close(ended)
			if watched != p {
				t.Error("another plan is watched")
			}
			for range 3 * maxDrifts {
				moved(Drift{tuitest.DeployObject, "exists now"})
			}
			close(watching)
			<-ctx.Done()
			return nil
		},
	})
	<-ended
	if err != nil || outcome.Kind != Quit {
		t.Fatalf("outcome %+v, error %v", outcome.Kind, err)
	}
}
