package install

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install/clock"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
	"github.com/kubectl-operator/kubectl-operator/preview/reads"
)

// writer sends writes of single objects, and finds out for each whether it was
// carried out.
type writer struct {
	*attempt
	judging lateJudge // of creates that are answered after the lock was lost
}

// writeGrace is how long a write in flight may go on after the run is asked to stop.
const writeGrace = 5 * time.Second

// outcomeError is the error for a write that may or may not have been carried out.
type outcomeError struct{ err error }

func (e *outcomeError) Error() string { return "the outcome is unknown: " + e.err.Error() }
func (e *outcomeError) Unwrap() error { return e.err }

// mayHaveBeenSent reports whether a request that failed with err may have been
// carried out. One that was refused or throttled (429) was not.
func mayHaveBeenSent(err error) bool {
	reason := preview.ReasonOf(err)
	return reason == preview.ReasonUnavailable && !preview.Throttled(err) || reason == ""
}

// mayArrive reports whether a request that failed with err may still reach the API server:
// it was not answered, or by a gateway.
func mayArrive(err error) bool {
	refused, answered := errors.AsType[*preview.Refusal](err)
	return mayHaveBeenSent(err) && !(answered && refused.Ended)
}

func unknownOutcome(err error) bool {
	var unknown *outcomeError
	return errors.As(err, &unknown)
}

// changedObjectError is the error for a live object that is no longer as reviewed.
type changedObjectError struct{ what string }

func (e *changedObjectError) Error() string { return e.what }

// withGrace returns a context that ends [writeGrace] after ctx, so that a request in
// flight can finish and its outcome is known. After ctx, no new request is sent.
func withGrace(ctx context.Context) (context.Context, context.CancelFunc) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(writeGrace, cancel) })
	return late, func() { stop(); cancel() }
}

// writeResult has the live object after a write, and the object on, which the
// write changed, nil if the write created the object.
type writeResult struct {
	live, on map[string]any
	lost     []string // with a CRD: custom resources that no review has counted
}

// write creates or updates one object, exactly once. before is the live object, nil
// to create. If the lock was lost, an object that was just created is deleted again.
func (w *writer) write(ctx context.Context, o *preview.Object, before map[string]any) (writeResult, error) {
	made, err := w.writeOn(ctx, o, before)
	_, unknown := errors.AsType[*outcomeError](err)
	switch {
	case err == nil && made.on == nil:
		err = w.judgeCreate(ctx, o, made.live)
	case unknown && before == nil:
		w.judgeLateCreate(ctx, o)
	}
	return made, err
}

// writeOn sends an update with the uid and resourceVersion of before, or a
// create if that is nil. If the live object has changed in no relevant field,
// the write is repeated on the new version. If a write is not answered, the
// object is read to find out whether it was carried out. One that was not may
// still be on its way: whatever ends the tries after it, the outcome is unknown.
func (w *writer) writeOn(ctx context.Context, o *preview.Object, before map[string]any) (writeResult, error) {
	var last error
	lost, onItsWay := false, false // a write may have happened without our knowing, or may still
	for try := range clock.MaxAttempts {
		item := preview.DryRun{Body: w.plan.Sent(o), Manager: o.Manager}
		if before != nil {
			item.UID, item.ResourceVersion = preview.UID(before), preview.ResourceVersion(before)
		}
		live, err := w.applyTaking(ctx, o, item)
		if err == nil {
			return writeResult{live: live, on: before}, nil
		}
		last = err
		if _, moved := errors.AsType[*changedObjectError](err); moved {
			return writeResult{}, w.outcomeUnknown(lost, err) // this one was not sent
		}
		onItsWay = onItsWay || mayArrive(err)
		if mayHaveBeenSent(err) {
			lost = true
		} else if preview.ReasonOf(err) != preview.ReasonChanged {
			return writeResult{}, w.outcomeUnknown(onItsWay, err)
		}
		// An object that a resumed plan creates may come late from the run before.
		live, done, err := w.reread(ctx, o, lost, before == nil && w.isResumed(), err)
		if err != nil || done {
			return writeResult{live: live, on: before}, err
		}
		if lost && before == nil && preview.IsMember(live, w.plan.Release) {
			w.noteWrite() // only this run marks it so: it was changed since
			return writeResult{live: live, on: before}, nil
		}
		if before, err = w.rebase(o, before, live, last); err != nil {
			return writeResult{}, w.outcomeUnknown(lost, err)
		}
		if err := clock.Pause(ctx, w.opts.Clock, last, try); err != nil {
			break
		}
	}
	return writeResult{}, w.outcomeUnknown(onItsWay, last)
}

// applyTaking sends a write that takes over the fields with reviewed conflicts.
// Since force covers the whole request, a dry run without force at the same
// resourceVersion comes first, and must show no other conflicts.
func (w *writer) applyTaking(ctx context.Context, o *preview.Object, item preview.DryRun) (map[string]any, error) {
	if !w.plan.Takes(o) || item.UID == "" {
		return w.applyOnce(ctx, item)
	}
	err := w.cluster.DryRun(ctx, []preview.DryRun{item})[0].Err
	var refusal *preview.Refusal
	switch {
	case err == nil:
		return w.applyOnce(ctx, item) // its managers let go of them
	case !errors.As(err, &refusal) || refusal.Reason != preview.ReasonConflict:
		return nil, notSentError(err)
	}
	var more []string
	for _, c := range refusal.Conflicts {
		if !slices.Contains(o.Conflicts, c) {
			more = append(more, fmt.Sprintf("field manager %q owns %s now", c.Manager, c.Path))
		}
	}
	if len(more) > 0 {
		return nil, &changedObjectError{joinReasons(more)}
	}
	item.Force = true
	return w.applyOnce(ctx, item)
}

// notSentError returns err, of a check before a write, as the error of a write that was
// not sent.
func notSentError(err error) error {
	if preview.ReasonOf(err) == preview.ReasonChanged {
		return err
	}
	return &preview.Refusal{Reason: preview.ReasonOther, Message: "not sent: " + err.Error(), Err: err}
}

func (w *writer) applyOnce(ctx context.Context, item preview.DryRun) (live map[string]any, err error) {
	err = w.sendOnce(ctx, func(late context.Context) (err error) {
		live, err = w.cluster.Apply(late, item)
		return err
	})
	return live, err
}

// sendOnce sends one write of a plan object. Only if the API server throttles
// it (429) is it sent again. Before each try, this run must hold the lock.
func (w *writer) sendOnce(ctx context.Context, send func(context.Context) error) error {
	late, cancel := withGrace(ctx)
	defer cancel()
	err := clock.Unthrottled(ctx, w.opts.Clock, func() error {
		if err := ctx.Err(); err != nil {
			return notSentError(err)
		}
		if err := w.lock.Confirm(ctx); err != nil {
			return notSentError(err)
		}
		return send(late)
	})
	if err == nil {
		w.noteWrite()
	}
	return err
}

// reread reads an object after a write failed with cause. If the answer was
// lost, or an earlier run may have sent the write (resumed), written reports
// whether the live object is as the write makes it.
func (w *writer) reread(ctx context.Context, o *preview.Object, lost, resumed bool, cause error) (live map[string]any, written bool, err error) {
	late, cancel := withGrace(ctx)
	defer cancel()
	if live, err = w.cluster.Get(late, o.Ref()); err == nil && live != nil && (lost || resumed) {
		written, err = w.isAfter(late, o, live, false)
	}
	if err != nil {
		if lost {
			w.noteWrite() // perhaps; the exit code must not deny it
			return nil, false, &outcomeError{cause}
		}
		return nil, false, err
	}
	if written {
		w.noteWrite()
	}
	return live, written, nil
}

// outcomeUnknown returns err, which ended the tries of a write. If it is unknown what
// became of an earlier try, it returns an [outcomeError].
func (w *writer) outcomeUnknown(unknown bool, err error) error {
	if !unknown {
		return err
	}
	w.noteWrite()
	return &outcomeError{err}
}

// rebase returns the live object if the write can be made on it: it differs
// from before in no relevant field. Otherwise it returns an error.
func (w *writer) rebase(o *preview.Object, before, live map[string]any, cause error) (map[string]any, error) {
	switch {
	case before == nil && live == nil:
		return nil, nil
	case before == nil:
		return nil, &changedObjectError{"it was created by another client meanwhile"}
	case live == nil:
		return nil, &changedObjectError{"it was deleted meanwhile"}
	case preview.ResourceVersion(live) == preview.ResourceVersion(before) && preview.UID(live) == preview.UID(before) && preview.ReasonOf(cause) == preview.ReasonChanged:
		return nil, cause // refused for another reason than a change
	}
	same, err := w.isBefore(o, live)
	if err != nil {
		return nil, err
	}
	if !same {
		return nil, &changedObjectError{w.movedFields(o, before, live)}
	}
	return live, nil
}

// isBefore reports whether a live object is still in the state that was
// reviewed as the one before its write.
func (w *writer) isBefore(o *preview.Object, live map[string]any) (bool, error) {
	if preview.UID(live) != o.Live.UID {
		return false, nil
	}
	fingerprint, err := o.Fingerprint(w.opts.Schemas, live)
	return fingerprint == o.Live.Fingerprint || o.Adoption != nil && fingerprint == o.Adoption.Fingerprint, err
}

// movedFields says which relevant fields differ between two reads of an object.
func (w *writer) movedFields(o *preview.Object, before, live map[string]any) string {
	if preview.UID(before) != preview.UID(live) {
		return "it was deleted and created again meanwhile"
	}
	a, errA := o.Relevant(w.opts.Schemas, before)
	b, errB := o.Relevant(w.opts.Schemas, live)
	if errA != nil || errB != nil {
		a, b = preview.WithoutVolatile(before, o.Planned), preview.WithoutVolatile(live, o.Planned)
	}
	var paths []string
	for _, change := range diff.Changes(a, b) {
		paths = append(paths, change.Path)
	}
	if len(paths) == 0 {
		return "its owners, finalizers or marks changed meanwhile"
	}
	return "changed meanwhile: " + joinReasons(paths)
}

// remove deletes exactly the reviewed object. gone is true if the object no longer
// exists; false while its deletion, which was accepted, may not be complete.
func (w *writer) remove(ctx context.Context, o *preview.Object, live map[string]any) (gone bool, err error) {
	var last error
	lost, onItsWay := false, false // a deletion may have happened without our knowing, or may still
	for try := range clock.MaxAttempts {
		if live == nil || lost && preview.UID(live) != o.Live.UID {
			return true, nil
		}
		if preview.String(live, "metadata", "deletionTimestamp") != "" {
			return false, nil
		}
		same, err := w.isBefore(o, live)
		if err != nil {
			return false, err
		}
		if !same {
			return false, &changedObjectError{w.movedFields(o, w.liveOf(o), live)}
		}
		gone, err := w.deleteOnce(ctx, o, live)
		reason := preview.ReasonOf(err)
		switch {
		case err == nil:
			return gone, nil
		case reason == preview.ReasonNotServed:
			if err := w.goneWithKind(ctx, o); err != nil {
				return false, w.outcomeUnknown(lost, err)
			}
			fallthrough
		case reason == preview.ReasonNotFound:
			if lost {
				w.noteWrite()
			}
			return true, nil
		}
		last = err
		onItsWay = onItsWay || mayArrive(err)
		if mayHaveBeenSent(err) {
			lost = true
		} else if reason != preview.ReasonChanged {
			return false, w.outcomeUnknown(onItsWay, err)
		}
		late, cancel := withGrace(ctx)
		live, err = w.cluster.Get(late, o.Ref())
		cancel()
		if err != nil && lost {
			w.noteWrite()
			return false, &outcomeError{last}
		}
		if err != nil {
			return false, err
		}
		if lost && (live == nil || preview.UID(live) != o.Live.UID || preview.String(live, "metadata", "deletionTimestamp") != "") {
			w.noteWrite()
		}
		if err := clock.Pause(ctx, w.opts.Clock, last, try); err != nil {
			break
		}
	}
	return false, w.outcomeUnknown(onItsWay, last)
}

// goneWithKind returns nil if an object whose API version is not served any more is gone
// with its CRD, and otherwise why it is not known to be gone.
func (w *writer) goneWithKind(ctx context.Context, o *preview.Object) error {
	late, cancel := withGrace(ctx)
	defer cancel()
	r := reads.Recorded(late, w.cluster, []preview.Ref{o.Ref()})[0]
	switch {
	case preview.ReasonOf(r.Err) == preview.ReasonKindGone, r.Err == nil && r.Body == nil:
		return nil
	case r.Err != nil:
		return r.Err
	}
	return &changedObjectError{fmt.Sprintf("the cluster serves it as %s now, and not as %s", r.Ref.APIVersion, o.APIVersion)}
}

func (w *writer) deleteOnce(ctx context.Context, o *preview.Object, live map[string]any) (gone bool, err error) {
	err = w.sendOnce(ctx, func(late context.Context) (err error) {
		gone, err = w.cluster.Delete(late, o.Ref(), preview.UID(live), preview.ResourceVersion(live), dependentsOf(o))
		return err
	})
	return gone, err
}

// releaseFormerOwner makes the write of an object in the stage that removes
// former owners: it deletes an owner, or takes the owner's marks off an adopted
// object. The owners must be gone before anything is applied, because their
// controller could write to the objects.
func (w *writer) releaseFormerOwner(ctx context.Context, o *preview.Object) error {
	w.emit(Event{Type: EventObject, Object: o.ID, State: record.StateSent})
	if o.Action == preview.ActionAdopt {
		free, err := w.release(ctx, o, w.liveOf(o))
		if err != nil {
			return w.failedObject(ctx, o, "releasing", err)
		}
		w.checked.Object(o.ID).LiveBody = free // the second write is made on it
		if entry := w.record.Object(o.ID); entry.State == record.StateSent {
			entry.State = record.StatePending // there was nothing to take off
		}
		return nil
	}
	gone, err := w.remove(ctx, o, w.liveOf(o))
	if err == nil && !gone {
		w.recordRemoved(o, false)
		err = w.awaitGone(ctx, o)
	}
	if err != nil {
		return w.failedObject(ctx, o, "deleting", err)
	}
	w.recordRemoved(o, true)
	return nil
}

// markReleased records that the former owner's marks are off an object to adopt,
// and that the second write, which applies the planned object, is still to come.
func (w *writer) markReleased(o *preview.Object, live map[string]any) error {
	fingerprint, err := preview.Fingerprint(w.opts.Schemas, live, o.Planned, true)
	if err != nil || fingerprint != o.Adoption.Fingerprint || fingerprint == o.Live.Fingerprint {
		return err
	}
	w.record.Object(o.ID).State = record.StateReleased
	w.emit(Event{Type: EventObject, Object: o.ID, State: record.StateReleased})
	return nil
}

func (w *writer) createNamespace(ctx context.Context, o *preview.Object) error {
	w.emit(Event{Type: EventObject, Object: o.ID, State: record.StateSent})
	made, err := w.writeOn(ctx, o, nil)
	if err == nil {
		w.namespace = made.live
		return nil
	}
	var moved *changedObjectError
	if errors.As(err, &moved) {
		// Another run of this plan may have been faster; the lease decides
		// which of the two goes on.
		live, getErr := w.cluster.Get(ctx, o.Ref())
		if getErr == nil && live != nil && w.isOwnNamespace(o, live) {
			w.namespace = live
			return nil
		}
	}
	return w.objectError(o, "creating", err)
}

func (w *writer) sendDelete(ctx context.Context, o *preview.Object, before map[string]any) error {
	gone, err := w.remove(ctx, o, before)
	if err != nil {
		return w.failedObject(ctx, o, "deleting", err)
	}
	w.recordRemoved(o, gone)
	return nil
}
