package install

import (
	"errors"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/install/rollout"
)

// Kind is the kind of an error: its meaning for the cluster. It is also the exit code.
type Kind int

// The kinds. Failed and Interrupted stand for a target that changed or may
// have changed; the others promise that it did not.
const (
	NotStarted  Kind = 1 // error before the first write
	Declined    Kind = 2 // declined or cancelled before the first write
	Failed      Kind = 3 // failed after a write
	Interrupted Kind = 4 // stopped or timed out after a write; resumable
	Refused     Kind = 5 // not what was approved, or not allowed
)

// Error is the type of all errors of [Apply] and [Gate]. Its text has at most three
// lines: the operation, the cause, the advice. It may contain text from the cluster and
// must pass textsafe before a person sees it.
type Error struct {
	Kind      Kind
	Object    string // object id, when one object is to blame
	Operation string
	Cause     string
	Advice    string
	// Reasons lists every reason of a refusal, one sentence each. Cause is made
	// of the first ones.
	Reasons []string
	// RolloutCause is why the rollout of Object failed or took too long.
	RolloutCause rollout.Cause
	Err          error

	timedOut bool // it took longer than it may, and was not stopped
}

func (e *Error) Error() string {
	var lines []string
	for _, line := range []string{e.Operation, e.Cause, e.Advice} {
		if line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// TimedOut reports whether the run ended because its time limit was reached.
func (e *Error) TimedOut() bool { return e.timedOut }

func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the [Error] in err's chain; [NotStarted] for an
// error of any other type.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return NotStarted
}

// maxReasons is how many reasons one line of an error lists; the others are counted.
const maxReasons = 8

func refusal(doing, next string, reasons ...string) *Error {
	return &Error{Kind: Refused, Operation: doing, Cause: joinReasons(reasons), Advice: next, Reasons: reasons}
}

func joinReasons(reasons []string) string {
	if len(reasons) <= maxReasons {
		return strings.Join(reasons, "; ")
	}
	return strings.Join(reasons[:maxReasons], "; ") + "; and " + strconv.Itoa(len(reasons)-maxReasons) + " more"
}

// asError returns err as an [Error]: the one in its chain, else one of the
// given kind, with doing as the operation and next as the advice.
func asError(kind Kind, doing, next string, err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Kind: kind, Operation: doing, Cause: err.Error(), Advice: next, Err: err}
}
