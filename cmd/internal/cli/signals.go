package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"reflect"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// Signals returns a context that ends when the process is asked to end: by Ctrl-C, by
// a signal of a supervisor, or because its terminal was closed. A second signal ends
// the process at once, with exit code 4 if something may have been written, else 2.
func Signals(ctx context.Context) (context.Context, context.CancelFunc) {
	s := &shutdown{terminal: terminalState()}
	ctx, cancel := context.WithCancel(context.WithValue(ctx, shutdownKey{}, s))
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	done := make(chan struct{})
	tasks.Async(func() error {
		var first time.Time
		for {
			select {
			case <-done:
				return nil
			case <-signals:
			}
			switch {
			case first.IsZero():
				first = time.Now()
				cancel()
			case time.Since(first) > sameRequest:
				s.leave(os.Stderr)
			}
		}
	})
	return ctx, sync.OnceFunc(func() {
		signal.Stop(signals)
		close(done)
		cancel()
	})
}

// sameRequest is the time within which two signals count as one: timeout(1)
// sends one to its child and one to the child's process group, and a terminal
// that closes may send two.
const sameRequest = 300 * time.Millisecond

type shutdownKey struct{}

// shutdown holds what ending the process at once needs: the state of the
// terminal to restore, and whether something may have been written.
type shutdown struct {
	wrote    atomic.Bool
	terminal *term.State // as it was found, nil where there is none
}

// noteWrite records, for the exit code, that a request is about to be sent
// which may change a cluster or an installation.
func noteWrite(ctx context.Context) {
	if s, ok := ctx.Value(shutdownKey{}).(*shutdown); ok {
		s.wrote.Store(true)
	}
}

func terminalState() *term.State {
	state, err := term.GetState(int(os.Stdin.Fd()))
	if err != nil {
		return nil
	}
	return state
}

// leaveScreen is the escape codes that end what a screen has switched on: the
// alternate screen, a hidden cursor, the mouse and bracketed paste.
const leaveScreen = "\x1b[?1049l\x1b[?25h\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?2004l"

// leave restores the terminal and ends the process.
func (s *shutdown) leave(w io.Writer) {
	if now := terminalState(); s.terminal != nil && !reflect.DeepEqual(now, s.terminal) {
		_ = term.Restore(int(os.Stdin.Fd()), s.terminal)
		fmt.Fprint(w, leaveScreen)
	}
	if !s.wrote.Load() {
		fmt.Fprintln(w, "cancelled at once by a second signal; nothing was applied")
		os.Exit(exitDeclined)
	}
	fmt.Fprintln(w, "error: ended at once by a second signal; what was written stays, and one write may still be carried out\n"+
		"  the same command goes on from there, and status shows what there is")
	os.Exit(exitInterrupted)
}

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

// AbortWhenBroken makes crashes that cannot be recovered, such as those of the
// Go runtime, end the process with SIGABRT and without a core file, which could
// contain credentials. Go's own exit code for a crash is 2, which here means
// that nothing was changed.
func AbortWhenBroken() {
	debug.SetTraceback("crash")
	noCoreFile()
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
	if s, ok := ctx.Value(shutdownKey{}).(*shutdown); ok && s.wrote.Load() {
		e.Kind, e.Advice = install.Interrupted, "something was written, or may have been: run the same command again to resume; status shows the current state"+where
	}
	return e
}

// countingSink returns a sink that passes each event to watch, if that is set,
// and then to sink.
func (a *app) countingSink(sink install.Sink) install.Sink {
	if a.watch == nil {
		return sink
	}
	return func(e install.Event) {
		a.watch(e)
		sink(e)
	}
}
