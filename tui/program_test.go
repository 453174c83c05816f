package tui

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// stepClock is a clock that advances a second each time it is read: the
// keyboard is always quiet enough.
type stepClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *stepClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Second)
	return c.now
}

// testTerminal is no terminal: keys come from a pipe, frames go to a buffer.
func testTerminal(in io.Reader) Terminal {
	return Terminal{Input: in, Output: &bytes.Buffer{}, Environ: []string{"TERM=xterm"}, NoMotion: true, Width: 80, Height: 24}
}

// keyboard types first until enough is closed, then the other keys until
// nobody reads them any more.
func keyboard(first string, enough <-chan struct{}, then string) *io.PipeReader {
	r, w := io.Pipe()
	go func() {
		keys := first
		for {
			select {
			case <-enough:
				keys = then
			default:
			}
			if _, err := io.WriteString(w, keys); err != nil {
				return
			}
		}
	}()
	return r
}

// deadline ends a program test that would hang.
func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestReviewAsAProgram(t *testing.T) {
	p := cleanPlan(t)
	resolve := func(_ context.Context, progress func(string)) (*preview.Plan, error) {
		progress("resolving mongodb")
		return p, nil
	}
	t.Run("approves what was answered with yes", func(t *testing.T) {
		asked := make(chan struct{})
		in := keyboard("a", asked, "y\r")
		defer in.Close()
		recheck := func(context.Context, *preview.Plan, func(string)) (*preview.Plan, error) {
			close(asked)
			return p, nil
		}
		outcome, err := Review(deadline(t), ReviewOptions{
			Terminal: testTerminal(in), Resolve: resolve, Recheck: recheck, Gate: openGate, Now: (&stepClock{}).Now,
		})
		if err != nil || outcome.Kind != Approved || outcome.PlanDigest != p.Digest {
			t.Fatalf("outcome %+v, error %v", outcome.Kind, err)
		}
	})
	t.Run("fails with the reason no plan could be made", func(t *testing.T) {
		in, _ := io.Pipe()
		defer in.Close()
		want := errors.New(`no package "mongdb"; did you mean "mongodb"?`)
		outcome, err := Review(deadline(t), ReviewOptions{
			Terminal: testTerminal(in), Recheck: recheckSame(p),
			Resolve: func(context.Context, func(string)) (*preview.Plan, error) { return nil, want },
		})
		if err != nil || outcome.Kind != Failed || !errors.Is(outcome.Err, want) {
			t.Fatalf("outcome %+v, error %v", outcome, err)
		}
	})
	t.Run("a cancelled context is an error and approves nothing", func(t *testing.T) {
		in, _ := io.Pipe()
		defer in.Close()
		ctx, cancel := context.WithCancel(deadline(t))
		outcome, err := Review(ctx, ReviewOptions{
			Terminal: testTerminal(in), Recheck: recheckSame(p),
			Resolve: func(ctx context.Context, progress func(string)) (*preview.Plan, error) {
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

func TestFollowAsAProgram(t *testing.T) {
	events := make(chan install.Event, 4)
	code := 0
	events <- install.Event{Type: install.EventStage, Stage: "deploy"}
	events <- install.Event{Type: install.EventResult, ExitCode: &code}
	in := keyboard("q", nil, "")
	defer in.Close()
	outcome, err := Follow(deadline(t), FollowOptions{Terminal: testTerminal(in), Plan: cleanPlan(t), Events: events})
	if err != nil || outcome.Result == nil || *outcome.Result.ExitCode != 0 {
		t.Fatalf("outcome %+v, error %v", outcome, err)
	}
}
