package cli

import (
	"context"
	"errors"
	"runtime/debug"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// AbortWhenBroken prepares a process for crashes that nothing can recover, such
// as those of the Go runtime itself: they end it with SIGABRT, and without a core
// file, which could hold credentials. Go's own exit code for them is 2, and that
// means here that nothing changed.
func AbortWhenBroken() {
	debug.SetTraceback("crash")
	noCoreFile()
}

// broken words a panic that ended a command: in the exit code is whether the
// cluster changed, and the stack goes to the log file.
func (a *app) broken(ctx context.Context, err error) error {
	var broken *tasks.Panic
	if !errors.As(err, &broken) {
		return err
	}
	a.log.Error("the program broke", "panic", broken.Error(), "stack", string(broken.Stack))
	where := "; --log-file FILE would keep where it broke, for a report of this fault"
	if a.logFile != nil {
		where = "; where it broke is in " + a.global.logFile + ", for a report of this fault"
	}
	var known *install.Error
	if errors.As(err, &known) {
		e := *known
		e.Next += where
		return &e
	}
	e := &install.Error{Kind: install.NotStarted, Doing: "the program broke", Came: broken.Error(), Next: "nothing was applied" + where, Err: broken}
	if s, ok := ctx.Value(shutdownKey{}).(*shutdown); ok && s.wrote.Load() {
		e.Kind, e.Next = install.Interrupted, "something was written, or may have been: the same command goes on from there, and status shows what there is"+where
	}
	return e
}

// watched is a sink behind the one that watches.
func (a *app) watched(sink install.Sink) install.Sink {
	if a.watch == nil {
		return sink
	}
	return func(e install.Event) {
		a.watch(e)
		sink(e)
	}
}
