package install

import (
	"time"

	"github.com/kubectl-operator/kubectl-operator/install/clock"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/approval"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

// Options are settings of [Apply] that do not change what is applied.
type Options struct {
	// Schemas know the built-in kinds. Required.
	Schemas engine.Schemas
	// Sink is called with every step, when not nil. The last event has type result.
	Sink Sink
	// Clock defaults to the machine's.
	Clock clock.Clock
	// Holder names this run in the lock, such as user@host/pid. It must differ
	// between runs.
	Holder string
	// StageTimeout overrides the stages' own timeouts when not 0.
	StageTimeout time.Duration
	// RolloutTimeout bounds the wait after the last write; 0 means
	// DefaultRolloutTimeout.
	RolloutTimeout time.Duration
	// NoWait ends the run with the last write. Gates between stages still wait.
	NoWait bool
	// Quorum is asked for signed approvals, when not nil.
	Quorum *approval.Quorum
	// Checks hold back the objects they select, in stage gates and at the end.
	Checks []rollout.Check
	// ToolVersion of this program, for the ApplySet tooling annotation.
	ToolVersion string
	// Judge judges the findings that the whole check makes, by the user's own
	// policy and before the gate; nil where there is none.
	Judge func(*preview.Plan) error
	// RecordKeys sign the records that the run writes, and verify those it reads.
	RecordKeys record.Keys
	// HistoryMax is the number of revisions that stay on record, the newest included; 0
	// means [preview.DefaultHistoryMax], and less than 0 all.
	HistoryMax int
	// Keep is given the receipt before the release Namespace is deleted, and the
	// record with it; an error of it stops the run. A plan that deletes that
	// Namespace needs it.
	Keep func(*record.Receipt) error
	// Waiting is called with what the run waits for, each time that this changes, when
	// not nil. Like Sink it must not block, and is called from one goroutine.
	Waiting func(WaitState)
	// More puts the end of the wait under way off by what it receives, when not
	// nil. It is not read while the run does not wait.
	More <-chan time.Duration
	// Resume returns the command that resumes the run by a digest, for advice. Where it is
	// nil, or returns none, the advice is to run the same command with flags for that.
	Resume func(digest string) string
	// Stop, once closed, ends the run after the request under way, so that
	// nothing stays in flight. Cancelling ctx ends it at once.
	Stop <-chan struct{}
}

// DefaultRolloutTimeout is the time limit for a stage or rollout that sets none.
const DefaultRolloutTimeout = 5 * time.Minute
