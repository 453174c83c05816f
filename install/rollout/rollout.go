package rollout

import (
	"context"
	"slices"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Watcher follows live objects.
type Watcher interface {
	// Observe reports each object now and after every change until ctx ends,
	// one report at a time: its body, nil when it does not exist, or an error,
	// a [preview.Refusal] when the API server answered, which a later report
	// may correct. It returns an error only when it cannot go on.
	Observe(ctx context.Context, refs []preview.Ref, each func(ref preview.Ref, body map[string]any, err error)) error
}

// Inspector reads more about an object that is not ready: its events, pods, logs, and a
// Service's endpoints. The diagnosis lacks what it cannot read.
type Inspector interface {
	// List returns the objects of a kind that a label selector matches, all
	// when it is empty.
	List(ctx context.Context, apiVersion, kind, namespace, selector string, fields ...string) ([]map[string]any, error)
	Events(ctx context.Context, namespace, uid string) ([]map[string]any, error)
	Logs(ctx context.Context, namespace, pod, container string, tail int, previous bool) ([]string, error)
	// Endpoints counts the ready endpoints of a Service.
	Endpoints(ctx context.Context, namespace, service string) (ready int, err error)
}

// Discovery looks up a kind in API discovery. The error is nil if the kind is served.
type Discovery interface {
	Kind(ctx context.Context, apiVersion, kind string) (namespaced bool, err error)
}

// Check is a health check: a condition that the objects which it selects must
// meet to count as ready. Package preview/health implements it.
type Check interface {
	Selects(body map[string]any) bool
	Holds(body map[string]any) (ok bool, why string)
	// String is the check as it was asked for.
	String() string
}

// Clock is the time as a wait reads it; tests replace it.
type Clock interface {
	Now() time.Time
	// After returns a channel that receives once, after d.
	After(d time.Duration) <-chan time.Time
}

type systemClock struct{}

func (systemClock) Now() time.Time                         { return time.Now() }
func (systemClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// State is how far one object is in a rollout.
type State string

// The states. Waiting may become ready by itself; failed will not. Removing and removed
// are for objects that are to go.
const (
	Failed   State = "failed"
	Waiting  State = "waiting"
	Removing State = "removing"
	Unknown  State = "unknown" // could not be read
	Ready    State = "ready"
	Removed  State = "removed"
)

// NotRead is the message of an object that has not been read yet.
const NotRead = "not read yet"

// stateOrder is the order of a snapshot's objects by state: those that need
// attention first.
var stateOrder = [...]State{Failed, Waiting, Removing, Unknown, Ready, Removed}

// Object is the rollout state of one object, with its reason. Message, Event and Logs come from
// the cluster and must pass textsafe before a person sees them.
type Object struct {
	Ref   preview.Ref
	State State
	// Cause is the reason why it is not ready, empty when that is not known,
	// and Offender the first object at fault, such as a pod.
	Cause    Cause
	Offender preview.Ref
	Message  string   // the cause in words, and what the offender says
	Event    string   // the last warning about the offender
	Logs     []string // the last lines of the container at fault
}

// Snapshot has the states of all objects at one moment: failed ones first, then
// waiting, then ready ones, each sorted by id.
type Snapshot struct {
	Time    time.Time
	Objects []Object
	// LostSince is when the cluster stopped answering, zero while it answers. Objects are
	// then as last seen.
	LostSince time.Time
	// Tries counts since then how often it was asked and did not answer.
	Tries int
	// Deadline is when the wait times out, zero when it has no timeout.
	Deadline time.Time
	// Blind lists what the user may not read, such as "list events in namespace
	// a": causes may be missing because of it.
	Blind []string
	// unseen: all that is left may not be read, and has not been for the grace.
	unseen bool
}

// Done counts the objects that are ready or removed.
func (s Snapshot) Done() int {
	n := 0
	for _, o := range s.Objects {
		if o.State == Ready || o.State == Removed {
			n++
		}
	}
	return n
}

// Outcome is the result of a wait.
type Outcome string

// The outcomes.
const (
	AllReady    Outcome = "ready"
	HasFailed   Outcome = "failed" // an object will not become ready by itself
	TimedOut    Outcome = "timed out"
	Interrupted Outcome = "interrupted"
	// Unseen: the user may not read the objects that are left to wait for.
	Unseen Outcome = "unseen"
)

// Report is the result of a wait with its last snapshot.
type Report struct {
	Outcome Outcome
	Elapsed time.Duration
	// Limit is the timeout of the wait, with what More added to it.
	Limit time.Duration
	Snapshot
}

// Options are the objects to wait for, how long, and how they are read.
type Options struct {
	Watcher   Watcher
	Inspector Inspector // nil: reasons come from the objects alone
	// Discovery makes a CustomResourceDefinition wait until its versions are
	// served, when not nil.
	Discovery Discovery

	Refs      []preview.Ref // objects to become ready
	Gone      []preview.Ref // objects to disappear
	Endpoints []preview.Ref // Services that must have a ready endpoint as well; needs Inspector

	// Operands are objects, among Refs, that a controller of the same release
	// looks after: one without any status is waited for until a controller has
	// reported one, or for Answer, 10 s by default.
	Operands []preview.Ref
	Answer   time.Duration
	// Checks hold back the objects that they select.
	Checks []Check

	// Timeout ends the wait; 0 waits as long as ctx.
	Timeout time.Duration
	// More puts the end off by what it receives, as long as the wait lasts; nil
	// does not.
	More <-chan time.Duration
	// Grace is how long a cause that waiting does not help must last before its object has
	// failed, [DefaultGrace] by default.
	Grace time.Duration
	// Each is called with every change, from one goroutine, when not nil.
	Each func(Snapshot)
	// Interval is the time between two reads of what cannot be watched, 2 s by
	// default.
	Interval time.Duration
	Clock    Clock // the machine's by default
}

const (
	defaultInterval = 2 * time.Second
	defaultAnswer   = 10 * time.Second
)

// DefaultGrace is how long a cause that waiting cannot resolve must last before the
// object counts as failed: long enough for a kubelet to pull an image three times
// (its back-off is 10 s, then 20 s), and for a controller to create a pod more often.
const DefaultGrace = 30 * time.Second

func (o Options) withDefaults() Options {
	if o.Interval <= 0 {
		o.Interval = defaultInterval
	}
	if o.Answer <= 0 {
		o.Answer = defaultAnswer
	}
	if o.Grace <= 0 {
		o.Grace = DefaultGrace
	}
	if o.Clock == nil {
		o.Clock = systemClock{}
	}
	return o
}

// equal reports whether two states are the same in everything that is shown.
func (o *Object) equal(other *Object) bool {
	return o.Ref == other.Ref && o.State == other.State && o.Cause == other.Cause && o.Offender == other.Offender &&
		o.Message == other.Message && o.Event == other.Event && slices.Equal(o.Logs, other.Logs)
}
