package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/shutdown"
	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// announceStop prints a line when a signal comes during a run without a screen,
// because an apply still finishes the request in flight, which may take
// seconds. end stops waiting for the signal.
func (a *app) announceStop(ctx context.Context) (end func() bool) {
	return context.AfterFunc(ctx, func() {
		fmt.Fprintln(a.streams.HumanErr(), "stopping after the request that is under way; a second signal ends the program at once")
	})
}

// orderly is how long cancelled work may take to end by itself. Most work
// checks its context, and returns an error that says what it was doing.
const orderly = 500 * time.Millisecond

// interruptible calls work, which must write nothing. When ctx ends it returns after
// [orderly] at the latest, without waiting for work: judging a large package may take
// long in loops that do not check ctx. Abandoned work ends with the process.
func interruptible[T any](ctx context.Context, work func() (T, error)) (T, error) {
	var value T
	done := tasks.Async(func() (err error) {
		value, err = work()
		return err
	})
	left := make(<-chan time.Time)
	ended := ctx.Done()
	for {
		select {
		case err := <-done:
			return value, err
		case <-ended:
			timer := time.NewTimer(orderly)
			defer timer.Stop()
			left, ended = timer.C, nil
		case <-left:
			var none T
			return none, ctx.Err()
		}
	}
}

// interruptible returns a planFunc that returns when its context ends, even if
// the plan is not made. Abandoned work reports no more progress.
func (plan planFunc) interruptible() planFunc {
	return func(ctx context.Context, progress func(string)) (*preview.Plan, error) {
		return interruptible(ctx, func() (*preview.Plan, error) {
			return plan(ctx, func(line string) {
				if ctx.Err() == nil {
					progress(line)
				}
			})
		})
	}
}

// panicError returns the error for a panic in a command. Its exit code says whether
// the cluster may have changed. The stack trace is written to the log file.
func (a *app) panicError(ctx context.Context, err error) error {
	var broken *tasks.Panic
	if !errors.As(err, &broken) {
		return err
	}
	a.log.Error("internal error", "panic", broken.Error(), "stack", string(broken.Stack))
	where := "; run again with --log-file FILE to keep the stack trace for a bug report"
	if a.logFile != nil {
		where = "; the stack trace for a bug report is in " + a.global.logFile
	}
	var known *install.Error
	if errors.As(err, &known) {
		e := *known
		e.Advice += where
		return &e
	}
	e := &install.Error{Kind: install.NotStarted, Operation: "internal error", Cause: broken.Error(), Advice: "nothing was applied" + where, Err: broken}
	if shutdown.Wrote(ctx) {
		e.Kind, e.Advice = install.Interrupted, "something was written, or may have been: run the same command again to resume; status shows the current state"+where
	}
	return e
}

// watchedSink returns a sink that passes each event to watch, if that is set,
// and then to sink.
func (a *app) watchedSink(sink install.Sink) install.Sink {
	if a.watch == nil {
		return sink
	}
	return func(e install.Event) {
		a.watch(e)
		sink(e)
	}
}
