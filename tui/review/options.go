package review

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
)

// Options configure a review.
type Options struct {
	frame.Terminal

	// Title says what is being resolved, such as "install mongodb".
	Title string
	// Plan is reviewed as it is. Without it Resolve makes one.
	Plan *preview.Plan
	// Resolve makes the plan, and makes it again when asked to. It calls
	// progress, from one goroutine, with lines for the person waiting, and stops
	// when ctx ends. Without it the plan cannot be made again.
	Resolve func(ctx context.Context, progress func(string)) (*preview.Plan, error)
	// Settle has Resolve decide the contested fields of single objects so from now on,
	// in the form of [preview.Options.ConflictsOf]. nil when that cannot be asked for.
	Settle func(conflictsOf map[string]string)
	// Choose has Resolve make the plan with the flags of a setting that needs less from
	// now on, as [preview.Mitigation] has them. nil when that cannot be asked for.
	Choose func(flags []string)
	// Recheck makes a plan again from fresh reads, when CONFIRM opens. It calls
	// progress like Resolve.
	Recheck func(ctx context.Context, plan *preview.Plan, progress func(string)) (*preview.Plan, error)
	// Watch follows what a plan rests on until ctx ends, and reports each live
	// object that moved, or is as it was again. It returns earlier only when it
	// cannot go on. nil watches nothing.
	Watch func(ctx context.Context, plan *preview.Plan, moved func(Drift)) error
	// Gate decides whether an approval covers a plan. Why it would refuse is
	// shown before the question. nil is [install.Gate].
	Gate func(plan *preview.Plan, approval record.Approval) error
	// PriorAcceptance says who accepted what a revision of a release brought; false
	// when that is not on record. nil when that is not known.
	PriorAcceptance func(ctx context.Context, release preview.Release, revision int) (tabs.PriorAcceptance, bool)
	// Marks keeps what was marked as reviewed. Without it that ends with the screen.
	Marks MarkStore
	// ReadOnly leaves out approval.
	ReadOnly bool
	// Before is a review whose approval was refused with nothing applied, and
	// Refusal why. The plan is made again, and its marks stay where the evidence
	// is the same. nil for a first review; else Resolve is needed.
	Before  *Outcome
	Refusal error
	// Beat is the time between two signs of life of a wait without a screen; 0
	// is 10 s.
	Beat time.Duration

	Now func() time.Time // nil is the clock

	// tick is the timer that goes with the clock; nil with another one.
	tick func(time.Duration, func(time.Time) tea.Msg) tea.Cmd
}

// Kind is how a review ended.
type Kind int

// The ways a review ends. The zero value never applies anything.
const (
	Quit     Kind = iota // left without an answer
	Declined             // answered no, or left the question unanswered
	Failed               // no plan could be made; Err says why
	Approved             // answered yes to the plan with PlanDigest
)

// Outcome is the result of a review. Only the kind Approved permits an apply,
// and only that of the plan with PlanDigest.
type Outcome struct {
	Kind       Kind
	PlanDigest string
	Accepted   []record.Acceptance // findings accepted with the approval
	Plan       *preview.Plan       // the plan last shown, nil when there was none
	Err        error
	MarksErr   error // what was marked could not be kept
	Reviewed   bool  // every critical finding was reviewed, and an approval could cover the plan

	marks tabs.Marks // what was looked at
}
