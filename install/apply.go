package install

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install/clock"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// recordTimeout bounds the write of the final record of a run that was interrupted.
const recordTimeout = 20 * time.Second

// Apply carries out an approved plan, and nothing else: no other function
// writes a plan to the cluster. In this order it
//
//  1. recomputes the digests and compares target and base revision,
//  2. plans again on fresh reads, compares the Facts, and passes the gate,
//  3. takes the release's lock,
//  4. does 1 and 2 again under the lock, and records what it is about to write,
//  5. writes stage after stage, each recorded before and after,
//  6. waits for the rollout, looks at every object once more, and records the
//     result.
//
// An unfinished record with the plan's digest is resumed. Every error is an
// [Error]. Once there is a record, the receipt is not nil, even with an error.
func Apply(ctx context.Context, plan *preview.Plan, approval record.Approval, cluster Cluster, opts Options) (*record.Receipt, error) {
	if opts.Clock == nil {
		opts.Clock = clock.System{}
	}
	if opts.RolloutTimeout == 0 {
		opts.RolloutTimeout = DefaultRolloutTimeout
	}
	if approval.How == record.ApprovedByPlan {
		approval = approval.WithReviewed(plan.Findings)
	}
	writes := new(writeCounter)
	r := newRun(&attempt{plan: plan, approval: approval, cluster: countingCluster{cluster, writes}, opts: opts})
	err := r.applyRecovered(ctx, writes)
	if ctx.Err() != nil && KindOf(err) == NotStarted && err != nil {
		err = r.interruptError(ctx, ctx, err)
	}
	return r.result(err)
}

// applier runs one call of Apply through its steps. Its checker reads, its
// writer sends single objects, and its waiter follows the rollout.
type applier struct {
	*attempt
	*checker
	*writer
	*waiter

	store  *record.Store
	undone *applier // the run that took this one back
	// unsaved is the stage whose results the record in the cluster lacks: they are saved
	// with what comes next, or before the run waits for anything.
	unsaved string
}

func newRun(a *attempt) *applier {
	if a.wrote == nil {
		a.wrote = new(atomic.Bool)
	}
	a.sinking, a.trials = new(sync.Mutex), newTrials(a)
	r := &applier{attempt: a, checker: &checker{attempt: a}, writer: &writer{attempt: a}, waiter: &waiter{attempt: a}}
	r.beforeWait = r.saveResults
	return r
}

// probe returns a copy of the run that checks in advance whether a resume would
// be refused. The copy sends no events and does not change this run.
func (r *applier) probe() *applier {
	a := *r.attempt
	a.opts.Sink, a.done = nil, map[string]bool{}
	a.wrote = new(atomic.Bool)
	a.wrote.Store(r.hasSent())
	look := newRun(&a)
	look.parent = r.parent
	return look
}

func (r *applier) apply(ctx context.Context) error {
	r.done, r.versions = map[string]bool{}, map[string]string{}
	if err := r.precheck(ctx); err != nil {
		return err
	}
	if ended, err := r.finishDeletedNamespace(ctx); ended || err != nil {
		return err
	}
	switch {
	case r.isUndoing():
	case r.isResumed():
		// A look ahead, forgotten afterwards: a refused plan takes no lock.
		if err := r.probe().resume(ctx); err != nil {
			return err
		}
	default:
		if err := r.wholeCheck(ctx); err != nil {
			return err
		}
		if !r.hasWork() {
			dropLease(ctx, r.cluster, r.plan.Release, r.parent)
			r.log("nothing to write: the cluster is as the plan wants it")
			return nil
		}
	}
	held, release, err := r.takeLock(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := r.underLock(held); err != nil {
		return r.close(ctx, held, err)
	}
	if r.isUndoing() {
		return r.resumeUndo(ctx, held)
	}
	if err = r.carryOut(held); !r.triggersUndo(held, err) {
		return r.close(ctx, held, err)
	}
	return r.undo(ctx, held, r.close(ctx, held, r.undoneError(err)))
}

// carryOut sends the plan's writes and waits until the release is healthy.
func (r *applier) carryOut(ctx context.Context) error {
	if err := r.stages(ctx); err != nil {
		return err
	}
	if err := r.rollout(ctx); err != nil {
		return err
	}
	if err := r.verifyEndState(ctx); err != nil {
		return err
	}
	return r.lookForLate(ctx)
}

// hasWork reports whether the plan needs its own revision: it writes an object, or its
// record says something else than the installed one. An uninstall always does, because
// its record says that the release is gone. So does a plan that continues an unfinished
// revision: even if everything was written, whether it became healthy was not yet
// checked. And so does an install of objects that are as planned already, of a release
// whose record was lost.
func (r *applier) hasWork() bool {
	return r.before == nil && len(r.plan.Objects) > 0 || r.plan.Changes() || record.IsUninstall(r.plan) || r.before != nil && r.before.State.Unfinished()
}

// underLock repeats the checks while holding the release's lock, so that no other
// run can write, and records the plan before its first write.
func (r *applier) underLock(ctx context.Context) error {
	if err := r.checkBase(ctx); err != nil {
		return r.fail("", "", err) // the Namespace may have been made
	}
	r.noteLate()
	keys := r.opts.RecordKeys.For(r.plan.Base.Signature)
	if r.isUndoing() || r.isResumed() {
		keys = keys.ForSuccessor(r.before)
	}
	r.store = &record.Store{Cluster: r.cluster, Release: r.plan.Release, Tool: r.opts.ToolVersion, Clock: r.opts.Clock, Lock: r.lock, Keys: keys, Parent: r.parent}
	switch {
	case r.isUndoing():
		return nil
	case r.isResumed():
		return r.resume(ctx)
	}
	if err := r.wholeCheck(ctx); err != nil {
		return err
	}
	record := record.New(r.checked, r.approval, r.before, r.opts.ToolVersion, r.opts.Clock.Now().UTC())
	r.record = record
	r.recordNamespace()
	if err := r.store.Begin(ctx, r.plan, r.before, record); err != nil {
		r.record = nil
		return r.fail("recording the plan", "", err)
	}
	return nil
}

// close records how the run ended, with err, and returns the run's error. An
// interrupted run keeps the state applying, so that its digest can resume it.
func (r *applier) close(ctx, held context.Context, err error) error {
	if err != nil && held.Err() != nil {
		err = r.interruptError(ctx, held, err)
	}
	if r.record == nil {
		return err
	}
	switch kind := KindOf(err); {
	case err == nil && record.IsUninstall(r.plan):
		r.record.State = record.Uninstalled
	case err == nil:
		r.record.State = record.Applied
	case kind == Interrupted || kind == Declined:
	default:
		r.record.State = record.Failed
	}
	if err == nil {
		r.record.Stage = ""
	}
	// The last word is recorded even after a signal; when the lock is lost the
	// record is another run's.
	if lockLost(held) {
		return err
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	saveErr := r.save(last, nil)
	switch {
	case saveErr != nil && lockLost(held):
		return r.interruptError(ctx, held, errors.Join(err, saveErr))
	case saveErr != nil && err == nil:
		return r.fail("recording the result", "everything was written; run the same command again to record it", saveErr)
	}
	if err == nil && !r.leaving {
		r.prune(last)
	}
	return err
}

// save writes the record in its current state, unless the release Namespace, which
// contains the record, is being deleted. more are objects that may be created next.
func (r *applier) save(ctx context.Context, more []preview.Object) error {
	if r.leaving {
		r.record.Updated = r.opts.Clock.Now().UTC()
		return nil
	}
	r.record.Updated, r.record.HealthChecks = r.opts.Clock.Now().UTC(), checkTexts(r.opts.Checks)
	if err := r.store.Save(ctx, r.record, more); err != nil {
		return err
	}
	r.unsaved = ""
	return nil
}

// saveResults writes the record where it lacks the results of the stage before.
func (r *applier) saveResults(ctx context.Context) error {
	if r.unsaved == "" {
		return nil
	}
	if err := r.save(ctx, r.plan.Objects); err != nil {
		return r.fail("recording the results of stage "+r.unsaved, "", err)
	}
	return nil
}

func checkTexts(checks []rollout.Check) []string {
	var out []string
	for _, c := range checks {
		out = append(out, c.String())
	}
	return out
}

// interruptError returns the error of a run whose context ended: it was asked
// to stop, or it lost its lock.
func (r *applier) interruptError(ctx, held context.Context, err error) error {
	e := &Error{
		Kind: Interrupted, Operation: "applying " + r.plan.Release.Name,
		Cause: "stopped: " + r.progress(), Advice: r.resumeAdvice(), Err: err,
	}
	switch {
	case lockLost(held):
		r.addLockAdvice(ctx, context.Cause(held), e)
	case ctx.Err() != nil && !r.hasSent():
		e.Kind, e.Cause, e.Advice = Declined, "stopped before the first write", "nothing was applied; run the command again"
		if r.isResumed() {
			e.Cause, e.Advice = "stopped; this run has written nothing", r.resumeAdvice()
		}
	}
	return e
}

// result ends the run: it makes the receipt and sends it as the last event.
func (r *applier) result(err error) (*record.Receipt, error) {
	var receipt *record.Receipt
	switch {
	case r.record != nil:
		receipt = r.record.Receipt()
		if r.undone != nil {
			receipt.Undo = r.undone.record.Receipt()
		}
	case err == nil:
		receipt = r.unchangedReceipt()
	}
	event := Event{Type: EventResult, Digest: r.plan.Digest, ContentDigest: r.plan.ContentDigest, Receipt: receipt}
	code := 0
	if err != nil {
		code = int(KindOf(err))
		var e *Error
		if errors.As(err, &e) {
			event.Object, event.Cause = e.Object, e.RolloutCause
		}
		r.emit(Event{Type: EventError, Object: event.Object, Cause: event.Cause, Message: err.Error(), Err: err})
	}
	event.ExitCode = &code
	if receipt != nil {
		event.Revision = receipt.Revision
	}
	r.emit(event)
	return receipt, err
}

// unchangedReceipt returns the receipt of a plan that had nothing to write: the
// installed revision stays.
func (r *applier) unchangedReceipt() *record.Receipt {
	now := r.opts.Clock.Now().UTC()
	stored := record.New(r.plan, r.approval, r.before, r.opts.ToolVersion, now)
	stored.Revision, stored.State = r.plan.Base.Revision, record.Applied
	return stored.Receipt()
}
