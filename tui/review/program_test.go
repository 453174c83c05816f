package review

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

func TestReviewAsAProgram(t *testing.T) {
	p := tuitest.CleanPlan(t)
	resolve := func(_ context.Context, progress func(string)) (*preview.Plan, error) { //nolint:unparam // the type is that of Options
		progress("resolving mongodb")
		return p, nil
	}
	t.Run("approves what was answered with yes", func(t *testing.T) {
		asked := make(chan struct{})
		in := tuitest.Keyboard("a", asked, "y\r")
		defer func() { _ = in.Close() }()
		recheck := func(context.Context, *preview.Plan, func(string)) (*preview.Plan, error) {
			close(asked)
			return p, nil
		}
		outcome, err := Run(tuitest.Deadline(t), Options{
			Terminal: tuitest.TestTerminal(in), Resolve: resolve, Recheck: recheck, Gate: openGate, Now: (&tuitest.StepClock{}).Now,
		})
		if err != nil || outcome.Kind != Approved || outcome.PlanDigest != p.Digest {
			t.Fatalf("outcome %+v, error %v", outcome.Kind, err)
		}
	})
	t.Run("fails with the reason no plan could be made", func(t *testing.T) {
		in, _ := io.Pipe()
		defer func() { _ = in.Close() }()
		want := errors.New(`no package "mongdb"; did you mean "mongodb"?`)
		outcome, err := Run(tuitest.Deadline(t), Options{
			Terminal: tuitest.TestTerminal(in), Recheck: recheckSame(p),
			Resolve: func(context.Context, func(string)) (*preview.Plan, error) { return nil, want },
		})
		if err != nil || outcome.Kind != Failed || !errors.Is(outcome.Err, want) {
			t.Fatalf("outcome %+v, error %v", outcome, err)
		}
	})
	t.Run("a cancelled context is an error and approves nothing", func(t *testing.T) {
		in, _ := io.Pipe()
		defer func() { _ = in.Close() }()
		ctx, cancel := context.WithCancel(tuitest.Deadline(t))
		outcome, err := Run(ctx, Options{
			Terminal: tuitest.TestTerminal(in), Recheck: recheckSame(p),
			Resolve: func(ctx context.Context, _ func(string)) (*preview.Plan, error) {
				cancel()
				<-ctx.Done()
				return nil, ctx.Err()
			},
		})
		// The resolve may hand in its own failure first: neither approves.
		if outcome.Kind == Approved || err == nil && outcome.Err == nil {
			t.Fatalf("outcome %+v, error %v", outcome, err)
		}
	})
}
