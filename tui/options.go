package tui

import (
	"context"
	"io"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
)

// Terminal is where and how screens are drawn. The caller decides about colour
// and ASCII once for all its output.
type Terminal struct {
	Input   io.Reader // nil reads the process's stdin
	Output  io.Writer // nil writes to the process's stdout
	Environ []string  // nil is the process's environment

	Color    bool
	ASCII    bool // no character beyond ASCII
	NoMotion bool // nothing moves by itself

	// Width and Height are the size until the terminal tells its own: for
	// outputs that are no terminal.
	Width, Height int
}

func (t Terminal) theme() theme.Theme {
	return theme.New(theme.Options{Color: t.Color, ASCII: t.ASCII})
}

// ReviewOptions are what a review needs.
type ReviewOptions struct {
	Terminal

	// Title says what is being resolved, such as "install mongodb".
	Title string
	// Plan is reviewed as it is. Without it Resolve makes one.
	Plan *preview.Plan
	// Resolve makes the plan, and makes it again when asked to. It calls
	// progress, from one goroutine, with lines for the person waiting, and stops
	// when ctx ends. Without it the plan cannot be made again.
	Resolve func(ctx context.Context, progress func(string)) (*preview.Plan, error)
	// Recheck makes a plan again from fresh reads, when CONFIRM opens. It calls
	// progress like Resolve.
	Recheck func(ctx context.Context, plan *preview.Plan, progress func(string)) (*preview.Plan, error)
	// Watch follows what a plan rests on until ctx ends, and tells of each live
	// object that moved, or is as it was again. It returns earlier only when it
	// cannot go on. nil watches nothing.
	Watch func(ctx context.Context, plan *preview.Plan, moved func(Drift)) error
	// Gate decides whether an approval covers a plan. Why it would refuse is
	// shown before anybody is asked. nil is [install.Gate].
	Gate func(plan *preview.Plan, approval install.Approval) error
	// Earlier tells who accepted what a revision of a release brought; false
	// when that is not on record. nil when nobody knows.
	Earlier func(ctx context.Context, release preview.Release, revision int) (Accepted, bool)
	// ReadOnly leaves out approval.
	ReadOnly bool
	// Before is a review whose approval was refused with nothing applied, and
	// Refusal why. The plan is made again, and its marks stay where the evidence
	// is the same. nil for a first review; else Resolve is needed.
	Before  *Outcome
	Refusal error
	// Beat is how often a wait without a screen says that it goes on; 0 is 10 s.
	Beat time.Duration

	Now func() time.Time // nil is the clock
}

// Kind says how a review ended.
type Kind int

// The ways a review ends. The zero value never applies anything.
const (
	Quit     Kind = iota // left without an answer
	Declined             // answered no, or left the question unanswered
	Failed               // no plan could be made; Err says why
	Approved             // answered yes to the plan with PlanDigest
)

// Outcome is how a review ended. Only Approved permits an apply, and only of
// the plan with PlanDigest.
type Outcome struct {
	Kind       Kind
	PlanDigest string
	Accepted   []install.Acceptance // findings accepted with the approval
	Plan       *preview.Plan        // the plan last shown, nil when there was none
	Err        error

	marks marks // what was looked at
}

// Interrupt is what a person asked for while an apply runs.
type Interrupt int

// The interrupts.
const (
	NoInterrupt Interrupt = iota
	StopAfterObject
	Detach
	StopNow
)

// FollowOptions are what following an apply needs.
type FollowOptions struct {
	Terminal

	Plan *preview.Plan
	// Events is the apply's progress, ending with a result event. Follow stops
	// reading when it returns; the sender must not depend on it after that.
	Events <-chan install.Event
	// Interrupt is told what the person asked for. It must not block.
	Interrupt func(Interrupt)
	// Waits is what the apply waits for, each time that this changes; nil when
	// nobody tells. It is read like Events.
	Waits <-chan install.Waiting
	// Longer puts the end of the wait under way off. It must not block. nil when
	// that cannot be.
	Longer func(time.Duration)
	// Resumable says that the apply can be gone on with when its time is over.
	// Resumes says that this goes on with one.
	Resumable, Resumes bool
	// Reviewable says that the plan can be reviewed again when nothing of it was
	// applied.
	Reviewable bool
	// ReadEvents and ReadLogs read what happened to an object of the plan, and
	// what its pods print; nil when nobody can.
	ReadEvents, ReadLogs func(ctx context.Context, object preview.Ref) (rollout.Behind, error)
	// Every is how often they are asked while somebody looks; 0 is 2 s, and less
	// than 0 once.
	Every time.Duration
	// Limit is the rollout timeout, 0 when there is none.
	Limit time.Duration

	Now func() time.Time
}

// FollowOutcome is how following ended.
type FollowOutcome struct {
	// Result is the result event, nil when none came.
	Result *install.Event
	// Interrupt is the last thing the person asked for.
	Interrupt Interrupt
	// Again says that the person goes on with an apply whose time was over.
	// Review says that the person wants to see why nothing was applied.
	Again, Review bool
	Elapsed       time.Duration
}
