package install

import (
	"time"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// attempt is what the parts of a run share: the plan, and how far it is.
type attempt struct {
	plan     *preview.Plan
	approval record.Approval
	cluster  Cluster
	opts     Options

	// checked is the plan as recomputed last, with today's findings and fresh
	// live bodies.
	checked *preview.Plan
	before  *record.Record // the newest record before this revision, nil when none
	record  *record.Record // nil until it was written
	lock    *lock          // nil until it is taken
	// namespace is the live release Namespace that this plan creates and that
	// counts as absent in checks; nil when it does not exist yet.
	namespace map[string]any
	// approved is the digest that resumes this run where that is not its
	// plan's own.
	approved string
	// done holds the objects that need no write any more.
	done map[string]bool
	// leaving is set once the release Namespace is being deleted, and with it
	// the record: from then on only the receipt tells what became of the run.
	leaving bool
	// wrote is set as soon as a write of a plan object was acknowledged, or
	// its outcome is unknown: from then on errors are Failed or Interrupted.
	wrote bool
	// versions holds the resourceVersion that each write left, by object id.
	versions map[string]string
}

// checker holds the cluster against what was reviewed, and writes nothing.
type checker struct {
	*attempt
	parent map[string]any // the Secret of the record before this revision
}

// writer sends single objects, each to its end: written, not written, or not
// known.
type writer struct {
	*attempt
	late []string // what became of creates that came after the lock was lost
}

// waiter waits for what was written.
type waiter struct {
	*attempt
	told   Waiting       // what a screen was last told of a wait
	putOff time.Duration // by how much the waits were longer than their timeouts
}
