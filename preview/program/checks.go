package program

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"
)

// Check is one conformance check of a program, with its result.
type Check struct {
	Name         string `json:"check"`
	OK           bool   `json:"ok"`
	Detail       string `json:"detail"`
	Milliseconds int64  `json:"milliseconds"` // of its runs
}

// Checks collects the results of the conformance checks of a program, and what was
// wrong in any of its runs.
type Checks struct {
	Program *Program
	List    []Check

	hung               bool     // the next is not waited for
	codes, noise, left []string // names of the checks that failed so
}

// Hung reports whether a run did not end; no other is started then.
func (c *Checks) Hung() bool { return c.hung }

// Run runs the program with an input. false means that the run had to be ended, which
// is recorded as a failed check.
func (c *Checks) Run(ctx context.Context, name string, input []byte) (*Result, bool) {
	started := time.Now()
	r, err := c.Program.Run(ctx, input)
	if err != nil {
		c.hung = errors.Is(err, ErrTooSlow)
		c.Report(name, started, err.Error(), "")
	}
	return r, err == nil
}

// Report adds the result of a check; it failed if there is a problem.
func (c *Checks) Report(name string, started time.Time, problem, detail string) {
	check := Check{Name: name, OK: problem == "", Detail: detail, Milliseconds: time.Since(started).Milliseconds()}
	if problem != "" {
		check.Detail = problem
	}
	c.List = append(c.List, check)
}

// Watch looks in a run for what is forbidden in any: an exit code that contradicts the
// answer, standard error on success, and processes left behind. answered is whether the
// answer is one that the program may give on success, failed whether it says that the
// program failed.
func (c *Checks) Watch(name string, r *Result, answered, failed bool) {
	success := r.State.Success()
	if success && failed || !success && answered && !failed {
		c.codes = append(c.codes, name)
	}
	if success && !failed && len(r.Stderr) > 0 {
		c.noise = append(c.noise, name)
	}
	if r.Left {
		c.left = append(c.left, name)
	}
}

// Refuses runs the program on an invalid request, which it must refuse.
func (c *Checks) Refuses(ctx context.Context, name string, input []byte) {
	if c.hung {
		return
	}
	started := time.Now()
	r, ok := c.Run(ctx, name, input)
	switch {
	case !ok: // reported
	case r.State.Success():
		c.Report(name, started, "it ended with exit code 0", "")
	default:
		c.Report(name, started, "", r.Failure())
	}
}

// Twice checks that the program answers the same request with the same bytes. detail is
// what is said when it does.
func (c *Checks) Twice(ctx context.Context, input func() ([]byte, error), problem, detail string) {
	const name = "the same answer twice"
	if c.hung {
		return
	}
	started := time.Now()
	data, err := input()
	if err != nil {
		c.Report(name, started, err.Error(), "")
		return
	}
	var answers [2][]byte
	for i := range answers {
		r, ok := c.Run(ctx, name, data)
		if !ok {
			return
		}
		answers[i] = r.Stdout
	}
	if !bytes.Equal(answers[0], answers[1]) {
		c.Report(name, started, problem, "")
		return
	}
	c.Report(name, started, "", detail)
}

// Finish adds the checks that concern all runs.
func (c *Checks) Finish() {
	c.over("exit code 0 exactly on success", c.codes)
	c.over("nothing on standard error on success", c.noise)
	c.over("no process left behind", c.left)
}

// over records a check that concerns all runs; found are the names of those that failed
// it.
func (c *Checks) over(name string, found []string) {
	problem := ""
	if len(found) > 0 {
		problem = "not so with: " + strings.Join(found, ", ")
	}
	c.Report(name, time.Now(), problem, "")
}
