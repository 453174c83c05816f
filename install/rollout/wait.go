package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// completeInterval is the time between two checks of what objects need in addition to
// their own readiness, such as endpoints, which no watch reports.
const completeInterval = 250 * time.Millisecond

// restFor is the pause after a look at all objects, in multiples of the time that it took:
// the changes of thousands of objects would be looked at one by one otherwise, and each
// look visits all of them.
const restFor = 4

// Wait follows objects until all are ready or gone, one has failed for good, or
// the timeout is over. A pod that keeps crashing or that no node takes is shown as
// a reason, but is no failure: it may recover, and the Deployment's own deadline
// decides. A cause that waiting cannot resolve, such as an image that the registry
// does not have, is a failure once it has lasted for the grace period.
//
// With an error the outcome is interrupted; the error is ctx's, or why the
// cluster cannot be watched any longer.
func Wait(ctx context.Context, o Options) (Report, error) {
	o = o.withDefaults()
	w := &waitLoop{Options: o, tracker: newTracker(o), start: o.Clock.Now(), limit: o.Timeout}
	if len(w.tracker.objects) == 0 {
		return w.report(AllReady), nil
	}
	watchCtx, stop := context.WithCancel(ctx)
	watched := tasks.Async(func() error { return o.Watcher.Observe(watchCtx, w.tracker.refs(), w.tracker.observe) })
	defer func() {
		stop()
		for range watched { // nothing of the wait outlives it
		}
	}()
	return w.run(ctx, watched)
}

type waitLoop struct {
	Options
	tracker *tracker
	start   time.Time
	limit   time.Duration
	last    Snapshot
}

func (w *waitLoop) run(ctx context.Context, watched <-chan error) (Report, error) {
	var deadline <-chan time.Time
	if w.limit > 0 {
		deadline = w.Clock.After(w.limit)
	}
	tick := w.Clock.After(w.Interval)
	for {
		var completing <-chan time.Time
		if w.tracker.complete(ctx) {
			completing = w.Clock.After(min(completeInterval, w.Interval))
		}
		if w.tracker.failed() {
			w.tracker.inspect(ctx) // so that it is reported once, with its cause
		}
		took := w.publish()
		switch {
		case w.count(Failed) > 0:
			return w.report(HasFailed), nil
		case w.last.Done() == len(w.last.Objects):
			return w.report(AllReady), nil
		case w.last.unseen:
			return w.report(Unseen), nil
		}
		select {
		case <-ctx.Done():
			return w.report(Interrupted), ctx.Err()
		case more := <-w.More:
			deadline = w.extendDeadline(more)
		case <-deadline:
			select {
			case more := <-w.More: // asked for in time
				deadline = w.extendDeadline(more)
				continue
			default:
			}
			w.tracker.inspect(ctx)
			return w.timedOut(), nil
		case err := <-watched:
			if err == nil {
				err = errors.New("the watch ended")
			}
			return w.report(Interrupted), fmt.Errorf("following the rollout: %w", err)
		case <-w.tracker.changed:
			// Changes that come meanwhile are looked at together.
			if took > 0 && !w.rest(ctx, restFor*took) {
				return w.report(Interrupted), ctx.Err()
			}
		case <-completing:
		case <-tick:
			if w.last.LostSince.IsZero() {
				w.tracker.inspect(ctx)
			}
			tick = w.Clock.After(w.Interval)
		}
	}
}

// extendDeadline gives the wait more time, and returns the channel of the new
// deadline; nil for a wait without time limit.
func (w *waitLoop) extendDeadline(more time.Duration) <-chan time.Time {
	if w.limit <= 0 {
		return nil
	}
	w.limit += max(0, more)
	return w.Clock.After(w.start.Add(w.limit).Sub(w.Clock.Now()))
}

// timedOut returns the report of a wait whose time is over. Its outcome is a
// failure if an object has a cause that waiting cannot resolve.
func (w *waitLoop) timedOut() Report {
	w.tracker.markTimedOut()
	report := w.report(TimedOut)
	if w.count(Failed) > 0 {
		report.Outcome = HasFailed
	}
	return report
}

// rest waits for d, and returns false if ctx ended meanwhile.
func (w *waitLoop) rest(ctx context.Context, d time.Duration) bool {
	select {
	case <-w.Clock.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// publish sends a snapshot of the states to the caller if it differs from the last one.
// It returns how long the look took, which grows with the number of objects.
func (w *waitLoop) publish() (took time.Duration) {
	began := w.Clock.Now()
	s := w.tracker.snapshot()
	if w.limit > 0 {
		s.Deadline = w.start.Add(w.limit)
	}
	same := slices.EqualFunc(s.Objects, w.last.Objects, func(a, b Object) bool { return a.equal(&b) }) && s.LostSince.Equal(w.last.LostSince) && s.Tries == w.last.Tries &&
		s.Deadline.Equal(w.last.Deadline) && slices.Equal(s.Blind, w.last.Blind)
	w.last, took = s, w.Clock.Now().Sub(began)
	if !same && w.Each != nil {
		// The receiver may keep it.
		kept := s
		kept.Objects = slices.Clone(s.Objects)
		w.Each(kept)
	}
	return took
}

func (w *waitLoop) count(state State) int {
	n := 0
	for _, o := range w.last.Objects {
		if o.State == state {
			n++
		}
	}
	return n
}

func (w *waitLoop) report(outcome Outcome) Report {
	w.publish()
	return Report{Outcome: outcome, Elapsed: w.Clock.Now().Sub(w.start), Limit: w.limit, Snapshot: w.last}
}
