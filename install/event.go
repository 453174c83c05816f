package install

import (
	"time"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// EventType is the kind of an [Event]. Its values are part of the JSON contract.
type EventType string

// The event types.
const (
	EventPlan    EventType = "plan"
	EventStage   EventType = "stage"
	EventObject  EventType = "object"
	EventLog     EventType = "log"
	EventFinding EventType = "finding"
	EventError   EventType = "error"
	EventResult  EventType = "result"
)

// Event is one line of progress, the same for the screen, for text and for
// -o json. Text in it may come from the cluster and must pass textsafe before
// a person sees it. The last event of a run has type result.
type Event struct {
	Time    time.Time          `json:"time"`
	Type    EventType          `json:"type"`
	Object  string             `json:"object,omitempty"` // object id
	Stage   string             `json:"stage,omitempty"`  // stage id
	State   record.ObjectState `json:"state,omitempty"`  // of Object
	Message string             `json:"message,omitempty"`

	// Cause is the reason why Object is not ready, and Offender the id of the
	// first object at fault, such as a pod of it.
	Cause    rollout.Cause `json:"cause,omitempty"`
	Offender string        `json:"offender,omitempty"`

	// Of a finding: its severity, its rule, and what --accept names.
	Severity    preview.Severity `json:"severity,omitempty"`
	Rule        string           `json:"rule,omitempty"`
	ID          string           `json:"id,omitempty"`
	Fingerprint string           `json:"fingerprint,omitempty"`

	// Err is the whole error of an error event, for a screen; Message is its
	// text.
	Err error `json:"-"`

	// Set on the result only. ExitCode is a pointer so that 0 is written.
	ExitCode      *int            `json:"exitCode,omitempty"`
	Digest        string          `json:"digest,omitempty"`
	ContentDigest string          `json:"contentDigest,omitempty"`
	Revision      int             `json:"revision,omitempty"`
	Receipt       *record.Receipt `json:"receipt,omitempty"`
}

// WaitState says what a run is waiting for at one moment, and until when. Only
// a live screen shows it: it is not sent as an event, and not recorded.
type WaitState struct {
	Stage    string    // empty when it does not wait
	Deadline time.Time // when it gives up, zero when it never does
	// LostSince is when the cluster stopped answering, zero while it answers; Tries counts
	// the requests since.
	LostSince time.Time
	Tries     int
	// TimedOut says that it gave up at the deadline.
	TimedOut bool
}

// Sink receives the events of a run in order, one call at a time. It must not
// block for long.
type Sink func(Event)
