// Package child runs a task in a copy of this program that is confined: it has no
// environment, no PATH, an empty working directory, limits on time, memory and output,
// and no way to the network. On Linux a seccomp filter in addition to takes away files,
// sockets and programs. It is for libraries that mean well and were written for trusted
// input, such as kustomize.
//
// A program that uses it calls [Main] before anything else in main, and tests
// do so in TestMain. A format then calls [Run]:
//
//	out, err := child.Run(ctx, child.Request{Task: "kustomize", Input: input})
package child

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview/tasks/processgroup"
)

// Defaults of a Request.
const (
	DefaultTime   = 30 * time.Second
	DefaultMemory = 1 << 30
	DefaultAnswer = 64 << 20
)

// Task is a function that a sandboxed child process can run, by name. Work runs once in
// the child, sees only its input, and may change the globals of libraries. Its error is
// returned by [Run] as text.
type Task struct {
	Name string
	Work func(input []byte) ([]byte, error)
}

// Request is a task to run, its input, and its limits. Zero limits mean the defaults.
type Request struct {
	Task   string
	Input  []byte
	Time   time.Duration
	Memory int64 // bytes of data
	Answer int64 // bytes of output
}

// Result is the output of a task, and a description of how the process was sandboxed.
type Result struct {
	Output    []byte
	Isolation string
}

// marker is the hidden first argument of a child process of this program.
const marker = "__confined"

// The child gets its order as a line of JSON before the input, and heads its
// output with a report in the same way.
type (
	order struct {
		Task   string        `json:"task"`
		Time   time.Duration `json:"time"`
		Memory int64         `json:"memory"`
	}
	report struct {
		Isolation string `json:"isolation"`
		Error     string `json:"error,omitempty"`
	}
)

// willing is set by Main. If a program that does not call Main were started again by
// Run, it would run as usual instead of running the task.
var willing atomic.Bool

// Run runs a task in a child process, and returns after that has ended. An error is one
// sentence about the input, or wraps the error of ctx.
func Run(ctx context.Context, r Request) (*Result, error) {
	if !willing.Load() {
		return nil, errors.New("this program cannot confine itself: its main does not call child.Main")
	}
	r.Time = cmp.Or(r.Time, DefaultTime)
	r.Memory = cmp.Or(r.Memory, DefaultMemory)
	r.Answer = cmp.Or(r.Answer, DefaultAnswer)
	head, err := json.Marshal(order{Task: r.Task, Time: r.Time, Memory: r.Memory})
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "kubectl-operator-")
	if err != nil {
		return nil, fmt.Errorf("making an empty directory to render in: %w", err)
	}
	defer os.RemoveAll(dir)
	timed, stop := context.WithTimeout(ctx, r.Time)
	defer stop()
	cmd, err := command(timed, dir)
	if err != nil {
		return nil, err
	}
	stderr := &limitedBuffer{limit: 64 << 10}
	stdout := &limitedBuffer{limit: r.Answer, full: stop}
	cmd.Stdin = io.MultiReader(bytes.NewReader(append(head, '\n')), bytes.NewReader(r.Input))
	cmd.Stdout, cmd.Stderr = stdout, stderr
	err = cmd.Run()
	if cmd.Process != nil {
		_ = processgroup.Kill(cmd.Process) // whatever it may have left
	}
	switch {
	case stdout.over:
		return nil, fmt.Errorf("it makes more than %s of output", size(r.Answer))
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case timed.Err() != nil:
		return nil, fmt.Errorf("it takes longer than %s", r.Time)
	case err != nil:
		return nil, crash(err, stderr.kept.String(), r.Memory)
	}
	return read(stdout.kept.Bytes())
}

// command returns the command that starts this program as a child in a directory, with
// an environment of only LANG and in its own process group.
func command(ctx context.Context, dir string) (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	if runtime.GOOS == "linux" {
		program = "/proc/self/exe" // also when its file was replaced meanwhile
	}
	cmd := exec.CommandContext(ctx, program, marker)
	cmd.Dir = dir
	cmd.Env = []string{"LANG=C"} // not nil: that would mean ours
	cmd.SysProcAttr = processgroup.Own()
	cmd.Cancel = func() error { return processgroup.Kill(cmd.Process) }
	cmd.WaitDelay = 2 * time.Second
	return cmd, nil
}

// read splits the child's output into the report in its first line and the task's
// output. A report of failure is returned as error.
func read(answer []byte) (*Result, error) {
	head, output, found := bytes.Cut(answer, []byte("\n"))
	var childReport report
	if err := json.Unmarshal(head, &childReport); err != nil || !found {
		return nil, errors.New("its confined process ended without an answer")
	}
	if childReport.Error != "" {
		return nil, errors.New(childReport.Error)
	}
	return &Result{Output: output, Isolation: childReport.Isolation}, nil
}

// shortOfMemory are messages of the Go runtime when it gets no more memory, for the
// heap or for the stack of a thread, which counts against the same limit.
var shortOfMemory = [...]string{"out of memory", "cannot allocate memory", "failed to create new OS thread", "pthread_create failed"}

// crash returns a sentence about how a child ended that gave no report, from its
// standard error.
func crash(err error, stderr string, memory int64) error {
	says := func(words string) bool { return strings.Contains(stderr, words) }
	switch {
	case slices.ContainsFunc(shortOfMemory[:], says):
		return fmt.Errorf("it needs more than %s of memory", size(memory))
	case strings.Contains(stderr, "stack overflow"), strings.Contains(stderr, "stack exceeds"):
		return errors.New("it calls itself without end")
	}
	line, _, _ := strings.Cut(strings.TrimSpace(stderr), "\n")
	if line == "" {
		line = err.Error()
	}
	return fmt.Errorf("its confined process ended early: %.300s", line)
}

func size(n int64) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}

// limitedBuffer keeps the first bytes written to it, up to its limit. Beyond it, full
// is called, if set, and the bytes are dropped.
type limitedBuffer struct {
	kept  bytes.Buffer
	limit int64
	full  func()
	over  bool
}

func (c *limitedBuffer) Write(p []byte) (int, error) {
	if room := c.limit - int64(c.kept.Len()); int64(len(p)) > room {
		c.over = true
		if c.full != nil {
			c.full()
		}
		c.kept.Write(p[:max(room, 0)])
		return len(p), nil
	}
	return c.kept.Write(p)
}
