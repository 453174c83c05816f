package cli

import (
	"context"
	"sync"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/tui"
	"github.com/kubectl-operator/kubectl-operator/tui/follow"
)

// followedApply is an apply that is shown, on the screen or in lines. It has a life of
// its own: the screen only asks it to stop, or for more time.
type followedApply struct {
	*releaseRun
	plan    *preview.Plan
	cluster *k8s.Client
	apply   func(context.Context, install.Options) (*record.Receipt, error)
}

// applyResult is how one run of the apply ended.
type applyResult struct {
	receipt *record.Receipt
	err     error
}

// follow applies and shows it. When its time is over the person may go on: the
// same plan, by the same approval, is resumed. review says that nothing was
// applied and that the person wants to review it again.
func (f *followedApply) follow(ctx context.Context) (review bool, err error) {
	var before applyResult // of the run that is gone on with
	for {
		shown, end, err := f.once(ctx, before.receipt != nil)
		if before.receipt != nil && end.receipt == nil {
			end = applyResult{before.receipt, notGoneOn(end.err)}
		}
		if shown.Again && ctx.Err() == nil {
			before = end
			continue
		}
		if shown.Review && ctx.Err() == nil {
			return true, end.err
		}
		f.app.streams.Printf("%s", follow.Summary(f.plan, shown, end.receipt, end.err))
		// How the apply ended is what the exit code tells: a screen that a signal
		// ended, or that broke, takes back nothing.
		if err != nil && ctx.Err() == nil {
			f.app.streams.Errorf("the screen ended early: %s\n", textsafe.Line(err.Error()))
		}
		return false, end.err
	}
}

// notGoneOn is the error of a run that could not go on with one that changed
// the cluster before.
func notGoneOn(err error) error {
	if err == nil {
		return nil
	}
	return &install.Error{
		Kind: install.Interrupted, Doing: "going on with the apply", Came: err.Error(),
		Next: "what was applied before stays as it is", Err: err,
	}
}

// once is one run on one screen. Everything that the run tells is read until
// the screen is left, and by nobody after that.
func (f *followedApply) once(ctx context.Context, resumes bool) (follow.Outcome, applyResult, error) {
	applying, stopNow := context.WithCancel(ctx)
	defer stopNow()
	stop, left := make(chan struct{}), make(chan struct{})
	events, waits, more := make(chan install.Event, 1024), make(chan install.Waiting, 16), make(chan time.Duration, 1)
	opts := f.options(func(e install.Event) {
		select {
		case events <- e:
		case <-left:
		}
	})
	opts.Waiting = func(w install.Waiting) {
		select {
		case waits <- w:
		case <-left:
		}
	}
	opts.Stop, opts.More = stop, more
	var end applyResult
	applied := tasks.Async(func() (err error) {
		defer close(waits)
		defer close(events)
		end.receipt, err = f.apply(applying, opts)
		return err
	})
	askToStop := sync.OnceFunc(func() { close(stop) })
	shown, err := tui.Follow(ctx, follow.Options{
		Terminal: f.app.terminal(), Plan: f.plan, Events: events, Waits: waits,
		Limit: f.rollout.rolloutTimeout, Resumable: true, Resumes: resumes, Reviewable: !resumes,
		ReadEvents: func(ctx context.Context, object preview.Ref) (rollout.Behind, error) {
			return rollout.Events(ctx, f.cluster, f.cluster, object)
		},
		ReadLogs: func(ctx context.Context, object preview.Ref) (rollout.Behind, error) {
			return rollout.Logs(ctx, f.cluster, f.cluster, object)
		},
		Longer: func(d time.Duration) {
			select {
			case more <- d:
			default: // asked for already
			}
		},
		Interrupt: func(i follow.Interrupt) {
			switch i {
			case follow.StopNow:
				stopNow()
			case follow.StopAfterObject, follow.Detach:
				askToStop()
			}
		},
	})
	close(left)
	if err != nil {
		stopNow() // a screen that broke approves nothing more
	}
	end.err = <-applied
	return shown, end, err
}
