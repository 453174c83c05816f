package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// drift is what the watch of the plan on screen reports.
func drift(m *review, drifts ...Drift) driftMsg {
	return driftMsg{round: m.watch.round, drifts: drifts}
}

// resolveTo makes a review plan again with an answer of the test's.
func resolveTo(m *review, p *preview.Plan, err error) {
	m.opts.Resolve = func(context.Context, func(string)) (*preview.Plan, error) { return p, err }
}

// changedWebhook is freshPlan with other evidence about its webhook.
func changedWebhook(t *testing.T) *preview.Plan {
	t.Helper()
	now := freshPlan(t)
	now.Object(webhookObject).Live.Fingerprint = digestOf("another")
	for i := range now.Findings {
		if now.Findings[i].Object == webhookObject {
			now.Findings[i].Fingerprint = digestOf("another webhook")
		}
	}
	now.Digest = digestOf("another plan")
	return now
}

func TestWhatMovedIsMarkedAndThePlanIsStale(t *testing.T) {
	for _, size := range sizes {
		m, c := reviewOf(t, freshPlan(t), size[0], size[1])
		resolveTo(m, changedWebhook(t), nil)
		drive(m, c, drift(m, Drift{webhookObject, "changed: .webhooks[0].failurePolicy"}, Drift{deployObject, "exists now"}))
		name := "stale-summary/" + fmt.Sprintf("%dx%d", size[0], size[1]) + "/fresh"
		golden(t, name, m, size[0], size[1])
		drive(m, c, "4")
		golden(t, "stale-objects/"+fmt.Sprintf("%dx%d", size[0], size[1])+"/fresh", m, size[0], size[1])
		if m.state() != "STALE" {
			t.Errorf("%s: the state is %s", name, m.state())
		}
		drive(m, c, drift(m, Drift{webhookObject, ""}, Drift{deployObject, ""}))
		if m.stale() || m.state() != "REVIEW" || shows(m, "moved") {
			t.Errorf("%s: it is stale although everything is as it was again", name)
		}
	}
}

func TestAStalePlanIsMadeAgainAndNeverAskedAbout(t *testing.T) {
	m, c := reviewOf(t, freshPlan(t), 120, 36)
	now := changedWebhook(t)
	resolveTo(m, now, nil)
	drive(m, c, "n", "n", "n", "n", drift(m, Drift{webhookObject, "changed"}), "a")
	if m.screen != screenReview || m.plan != now {
		t.Fatalf("a leads to screen %d of %s, want the review of the new plan", m.screen, m.plan.Digest)
	}
	if m.stale() || m.board.left() != 1 {
		t.Errorf("stale %t, %d left; want a fresh plan with one look reset", m.stale(), m.board.left())
	}
	for _, part := range []string{"planned again", "mongodb-webhook", "1 of 3 looks reset: webhook fails closed"} {
		if !strings.Contains(m.banner, part) {
			t.Errorf("the banner %q does not say %q", m.banner, part)
		}
	}
	m.opts.Recheck = recheckSame(now)
	drive(m, c, "a", "n", "a")
	if m.screen != screenConfirm {
		t.Fatal("after the reset look was made again there is no question")
	}
	drive(m, c, append(typed("mongodb"), "enter")...)
	if m.outcome.Kind != Approved || m.outcome.PlanDigest != now.Digest {
		t.Errorf("outcome %v of %s, want the new plan", m.outcome.Kind, m.outcome.PlanDigest)
	}
}

func TestAPlanThatBecomesStaleClosesTheQuestion(t *testing.T) {
	m, c := reviewOf(t, cleanPlan(t), 120, 36)
	resolveTo(m, cleanPlan(t), nil)
	drive(m, c, "a", "y", drift(m, Drift{deployObject, "exists now"}), "enter")
	if m.screen != screenReview || m.outcome.Kind == Approved {
		t.Fatal("the question stayed open for a plan that is stale")
	}
	if !strings.Contains(m.banner, "Deployment mongodb/operator exists now") {
		t.Errorf("the banner is %q", m.banner)
	}
}

// An approval that was refused with nothing applied leads back to the review: of
// the plan as it is now, with the marks whose evidence is the same.
func TestARefusedApprovalIsReviewedAgain(t *testing.T) {
	approved := func(t *testing.T) Outcome {
		m, c := reviewOf(t, freshPlan(t), 120, 36)
		drive(m, c, "n", "n", "n", "n", "a")
		drive(m, c, append(typed("mongodb"), "enter")...)
		if m.outcome.Kind != Approved {
			t.Fatalf("outcome %v", m.outcome.Kind)
		}
		return m.outcome
	}
	refusal := errors.New("the lock is held by jane\nwait, or ask her")
	again := func(t *testing.T, now *preview.Plan, err error) (*review, *clock) {
		before, c := approved(t), newClock()
		m := newReview(t.Context(), ReviewOptions{
			Before: &before, Refusal: refusal, Recheck: recheckSame(now), Gate: openGate, Now: c.Now, Title: "install mongodb",
			Resolve: func(context.Context, func(string)) (*preview.Plan, error) { return now, err },
		})
		m.resize(120, 36)
		pump(m, m.Init())
		return m, c
	}
	t.Run("why is told where the plan is the same", func(t *testing.T) {
		m, c := again(t, freshPlan(t), nil)
		if m.screen != screenReview || m.board.left() != 0 || !strings.Contains(m.banner, "nothing was applied (e all of it): the lock is held by jane") {
			t.Fatalf("screen %d, %d left, banner %q", m.screen, m.board.left(), m.banner)
		}
		drive(m, c, "e")
		if !shows(m, "wait, or ask her") {
			t.Error("e does not show the whole error")
		}
	})
	t.Run("what moved is told, and only its looks are reset", func(t *testing.T) {
		m, _ := again(t, changedWebhook(t), nil)
		for _, part := range []string{"nothing was applied", "mongodb-webhook", "1 of 3 looks reset"} {
			if !strings.Contains(m.banner, part) {
				t.Errorf("the banner %q does not say %q", m.banner, part)
			}
		}
		if m.board.left() != 1 || m.outcome.Kind == Approved {
			t.Errorf("%d left, outcome %v", m.board.left(), m.outcome.Kind)
		}
	})
	t.Run("without a new plan the old one stays, and is not approved", func(t *testing.T) {
		m, _ := again(t, nil, errors.New("connection refused"))
		if m.screen != screenReview || m.plan == nil || m.outcome.Kind == Approved || !strings.Contains(m.banner, "connection refused") {
			t.Errorf("screen %d, outcome %v, banner %q", m.screen, m.outcome.Kind, m.banner)
		}
	})
}

func TestPlanningAgain(t *testing.T) {
	t.Run("the same plan says that nothing changed", func(t *testing.T) {
		m, c := reviewOf(t, freshPlan(t), 120, 36)
		resolveTo(m, freshPlan(t), nil)
		drive(m, c, "n", "n", "R")
		if m.board.left() != 2 || !strings.Contains(m.notice, "nothing that was reviewed has changed") {
			t.Errorf("%d left, notice %q", m.board.left(), m.notice)
		}
	})
	t.Run("a failure leaves the plan as stale as it was", func(t *testing.T) {
		m, c := reviewOf(t, freshPlan(t), 120, 36)
		old := m.plan
		resolveTo(m, nil, errors.New("connection refused"))
		drive(m, c, drift(m, Drift{deployObject, "exists now"}), "R")
		if m.plan != old || !m.stale() || !strings.Contains(m.banner, "connection refused") {
			t.Errorf("stale %t, banner %q", m.stale(), m.banner)
		}
	})
	t.Run("esc goes back, and the answer that comes later is dropped", func(t *testing.T) {
		m, c := reviewOf(t, freshPlan(t), 120, 36)
		old := m.plan
		resolveTo(m, changedWebhook(t), nil)
		c.forward(1)
		_, cmd := m.Update(press("R"))
		golden(t, "replan/120x36/fresh", m, 120, 36)
		drive(m, c, "y", "a", "enter", "esc")
		pump(m, cmd)
		if m.screen != screenReview || m.plan != old {
			t.Error("a cancelled plan replaced the one under review")
		}
	})
	t.Run("a plan that was not made here cannot be", func(t *testing.T) {
		m, c := reviewOf(t, freshPlan(t), 120, 36)
		drive(m, c, "R")
		if m.screen != screenReview || m.notice == "" {
			t.Errorf("screen %d, notice %q", m.screen, m.notice)
		}
	})
	t.Run("what an earlier watch says is dropped", func(t *testing.T) {
		m, c := reviewOf(t, freshPlan(t), 120, 36)
		old := drift(m, Drift{deployObject, "exists now"})
		resolveTo(m, changedWebhook(t), nil)
		drive(m, c, "R", old, unwatchedMsg{old.round, errors.New("gone")})
		if m.stale() || m.watch.err != nil {
			t.Error("a new plan is stale because of what was said about the old one")
		}
	})
}

func TestAWatchThatEndedIsSaid(t *testing.T) {
	m, c := reviewOf(t, freshPlan(t), 120, 36)
	drive(m, c, unwatchedMsg{m.watch.round, errors.New("unauthorized")})
	if !shows(m, "not watched") {
		t.Errorf("nobody says that nothing is watched:\n%s", strings.Join(screenOf(m), "\n"))
	}
}

// The watch of a program is told which plan to follow, and ends with it.
func TestTheWatchFollowsThePlanOnScreen(t *testing.T) {
	p, told, ended := cleanPlan(t), make(chan struct{}), make(chan struct{})
	in := keyboard("j", told, "q")
	defer in.Close()
	outcome, err := Review(deadline(t), ReviewOptions{
		Terminal: testTerminal(in), Plan: p, Recheck: recheckSame(p), Gate: openGate,
		Watch: func(ctx context.Context, watched *preview.Plan, moved func(Drift)) error {
			defer close(ended)
			if watched != p {
				t.Error("another plan is watched")
			}
			for range 3 * maxDrifts {
				moved(Drift{deployObject, "exists now"})
			}
			close(told)
			<-ctx.Done()
			return nil
		},
	})
	<-ended
	if err != nil || outcome.Kind != Quit {
		t.Fatalf("outcome %+v, error %v", outcome.Kind, err)
	}
}
