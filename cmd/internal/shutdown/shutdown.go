// Package shutdown ends the process at signals and crashes, with an exit code that says
// whether something was written, and with the terminal as it was found.
package shutdown

import (
	"context"
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

// sameRequest is how close two signals count as one: timeout(1) sends one to its child
// and one to the child's process group, and a terminal that closes may send two.
const sameRequest = 300 * time.Millisecond

type shutdownKey struct{}

// shutdown holds what ending the process at once needs: the state of the
// terminal to restore, and whether something may have been written.
type shutdown struct {
	wrote    atomic.Bool
	terminal *term.State // as it was found, nil where there is none
}

// NoteWrite records, for the exit code, that a request is about to be sent
// which may change a cluster or an installation.
func NoteWrite(ctx context.Context) {
	if s, ok := ctx.Value(shutdownKey{}).(*shutdown); ok {
		s.wrote.Store(true)
	}
}

// Wrote reports whether [NoteWrite] was called with the context of [Signals].
func Wrote(ctx context.Context) bool {
	s, ok := ctx.Value(shutdownKey{}).(*shutdown)
	return ok && s.wrote.Load()
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
		os.Exit(int(install.Declined))
	}
	fmt.Fprintln(w, "error: ended at once by a second signal; what was written stays, and one write may still be carried out\n"+
		"  the same command goes on from there, and status shows what there is")
	os.Exit(int(install.Interrupted))
}

// AbortWhenBroken makes crashes that cannot be recovered, such as the Go runtime's, end
// the process with SIGABRT and without a core file, which could contain credentials.
// Go's own exit code for a crash is 2, which here means that nothing was changed.
func AbortWhenBroken() {
	debug.SetTraceback("crash")
	noCoreFile()
}
