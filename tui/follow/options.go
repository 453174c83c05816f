package follow

import (
	"context"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
)

// Interrupt is what the user asks of a running apply: to stop, or to leave it running.
type Interrupt int

// The interrupts.
const (
	NoInterrupt Interrupt = iota
	StopAfterObject
	Detach
	StopNow
)

// Options configure the screen that follows an apply.
type Options struct {
	frame.Terminal

	Plan *preview.Plan
	// Events is the apply's progress, ending with a result event. Follow stops
	// reading when it returns; the sender must not depend on it after that.
	Events <-chan install.Event
	// Interrupt is called with what the person asked for. It must not block.
	Interrupt func(Interrupt)
	// Waits sends what the apply waits for whenever that changes; nil when it
	// cannot be read. It is read like Events.
	Waits <-chan install.WaitState
	// Extend puts the end of the wait under way off. It must not block. nil when
	// that cannot be.
	Extend func(time.Duration)
	// Resumable says that the apply can be gone on with when its time is over.
	// Resumes says that this goes on with one.
	Resumable, Resumes bool
	// Reviewable says that the plan can be reviewed again when nothing of it was
	// applied.
	Reviewable bool
	// ReadEvents and ReadLogs read what happened to an object of the plan, and
	// what its pods print; nil when it cannot be read.
	ReadEvents, ReadLogs func(ctx context.Context, object preview.Ref) (rollout.Diagnostics, error)
	// Every is the time between two reads while the pane is open; 0 is 2 s, and
	// a negative value reads once.
	Every time.Duration
	// Limit is the rollout timeout, 0 when there is none.
	Limit time.Duration

	Now func() time.Time
}

// Outcome is how following an apply ended: its result, and what the user asked for.
type Outcome struct {
	// Result is the result event, nil when none came.
	Result *install.Event
	// Interrupt is the last thing the person asked for.
	Interrupt Interrupt
	// Continue says that the person goes on with an apply whose time was over.
	// Review says that the person wants to see why nothing was applied.
	Continue, Review bool
	Elapsed          time.Duration
}
