package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks/processgroup"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// maxErrors is how many bytes of a program's standard error are kept.
const maxErrors = 64 << 10

// grace is how long pipes stay open after a program has ended. A process that still
// holds them then has left the process group and cannot be ended.
const grace = time.Second

// Result is the output and exit status of one run.
type Result struct {
	Stdout, Stderr []byte
	State          *os.ProcessState
	Left           bool // processes of its group were still running, and were ended
}

// Run runs a copy of the program with an input, within the limits. A program that
// cannot be started or had to be ended is an error; any exit code is not.
func (p *Program) Run(ctx context.Context, input []byte) (*Result, error) {
	at, err := p.prepare()
	if err != nil {
		return nil, err
	}
	defer at.remove()
	limited, stop := context.WithTimeout(ctx, p.Limits.Time)
	defer stop()
	r, err := p.execute(limited, at, input)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("running %s: %w %s", p.File, ErrTooSlow, p.Limits.Time)
	case errors.Is(err, syscall.ENOENT):
		return nil, fmt.Errorf("running %s: the interpreter that its first line names does not exist", p.File)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("running %s: permission denied; TMPDIR must be where programs may run", p.File)
	case errors.Is(err, syscall.ENOEXEC):
		return nil, fmt.Errorf("running %s: it is neither a program for this machine nor a script that starts with #!", p.File) //nolint:revive // #! is the word, not a shout
	case err != nil:
		return nil, fmt.Errorf("running %s: %w", p.File, err)
	}
	return r, nil
}

// variables returns the environment of a run.
func (p *Program) variables() []string {
	out := []string{"LANG=C"}
	for _, name := range p.Kind.environment() {
		if value, ok := os.LookupEnv(name); ok {
			out = append(out, name+"="+value)
		}
	}
	return out
}

// pipes are both ends of the pipes for the three standard streams.
type pipes struct {
	stdin, stdout, stderr *os.File // the program's
	to, from, errors      *os.File // ours
}

func newPipes() (*pipes, error) {
	var p pipes
	var err error
	for _, ends := range [][2]**os.File{{&p.stdin, &p.to}, {&p.from, &p.stdout}, {&p.errors, &p.stderr}} {
		if *ends[0], *ends[1], err = os.Pipe(); err != nil {
			p.close()
			return nil, err
		}
	}
	return &p, nil
}

func (p *pipes) closeTheirs() { closeAll(p.stdin, p.stdout, p.stderr) }

func (p *pipes) close() { closeAll(p.stdin, p.stdout, p.stderr, p.to, p.from, p.errors) }

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

var (
	errTooMuch = errors.New("it printed too much")
	// ErrTooSlow is wrapped by the error of a run that had to be ended for its time.
	ErrTooSlow = errors.New("it did not end within")
)

// execute starts the program as leader of a new session, without a terminal, so that
// its process group can be ended as a whole. most is the limit of output in bytes.
func (p *Program) execute(ctx context.Context, at *runDirectory, input []byte) (*Result, error) {
	pipes, err := newPipes()
	if err != nil {
		return nil, err
	}
	defer pipes.close()
	cmd := exec.Command(at.program) // not by context: the whole group is ended
	cmd.Dir, cmd.Env = at.work, p.variables()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = pipes.stdin, pipes.stdout, pipes.stderr
	cmd.SysProcAttr = processgroup.Session()
	hideProcess()
	if err := cmd.Start(); err != nil {
		return nil, cause(err)
	}
	limitMemory(cmd.Process, p.Limits.Memory)
	pipes.closeTheirs()

	written := tasks.Async(func() error {
		_, _ = pipes.to.Write(input) // a program need not read it all
		return pipes.to.Close()
	})
	out, errs := gather(pipes.from, p.Limits.Output), gather(pipes.errors, maxErrors)
	exited := tasks.Async(func() error {
		_ = cmd.Wait() // the state says how; files are not waited for
		return nil
	})
	var ended error
	select {
	case <-exited: //nolint:errcheck // its state says how
	case <-ctx.Done():
		ended = ctx.Err()
	case <-out.full:
		ended = fmt.Errorf("%w: more than %d MiB", errTooMuch, p.Limits.Output>>20)
	}
	// The number cannot belong to another group: numbers are handed out in
	// turn, and this one was free for no longer than a moment.
	left := processgroup.Kill(cmd.Process) == nil
	<-exited //nolint:errcheck // its state says how
	deadline := time.Now().Add(grace)
	for _, end := range []*os.File{pipes.from, pipes.errors} {
		_ = end.SetReadDeadline(deadline)
	}
	_ = pipes.to.SetWriteDeadline(deadline)
	<-written //nolint:errcheck // a program need not read its input
	r := &Result{Stdout: <-out.data, Stderr: <-errs.data, State: cmd.ProcessState, Left: left}
	if ended == nil && out.isFull() {
		ended = fmt.Errorf("%w: more than %d MiB", errTooMuch, p.Limits.Output>>20)
	}
	return r, ended
}

// pipeOutput is what a program writes into a pipe, kept up to a limit.
type pipeOutput struct {
	data chan []byte
	full chan struct{} // closed when there is more
}

// gather reads a pipe to its end in the background. Output beyond most bytes is read
// and dropped, so that no process blocks.
func gather(from io.Reader, most int) pipeOutput {
	g := pipeOutput{data: make(chan []byte, 1), full: make(chan struct{})}
	tasks.Async(func() error {
		data, err := io.ReadAll(io.LimitReader(from, int64(most)+1))
		if len(data) > most {
			close(g.full)
			data = data[:most]
		}
		if err == nil {
			_, _ = io.Copy(io.Discard, from)
		}
		g.data <- data
		return nil
	})
	return g
}

func (g pipeOutput) isFull() bool {
	select {
	case <-g.full:
		return true
	default:
		return false
	}
}

// Failure describes a run whose exit code is not 0, with the end of its standard error.
func (r *Result) Failure() string {
	text := fmt.Sprintf("exit code %d", r.State.ExitCode())
	if status, ok := r.State.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		text = "ended by signal " + status.Signal().String()
	}
	if said := LastWords(r.Stderr); said != "" {
		text += ": " + said
	}
	return text
}

// LastWords returns the end of a program's standard error, on one line.
func LastWords(stderr []byte) string {
	const most = 500
	text := strings.TrimSpace(string(stderr))
	if len(text) > most {
		text = "..." + strings.ToValidUTF8(text[len(text)-most:], "")
	}
	return textsafe.Line(strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "; "))
}
