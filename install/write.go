package install

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install/clock"
	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/diff"
)

// writeGrace is how long one write may go on after the run was told to stop.
const writeGrace = 5 * time.Second

// outcomeError is a write of which nobody knows whether it happened.
type outcomeError struct{ err error }

func (e *outcomeError) Error() string { return "the outcome is unknown: " + e.err.Error() }
func (e *outcomeError) Unwrap() error { return e.err }

// noAnswer reports whether a request may have been carried out although it
// failed here. One that was throttled was not.
func noAnswer(err error) bool {
	reason := preview.ReasonOf(err)
	return reason == preview.ReasonUnavailable && !preview.Throttled(err) || reason == ""
}

func unknownOutcome(err error) bool {
	var unknown *outcomeError
	return errors.As(err, &unknown)
}

// movedError is an object that is not the reviewed one any more.
type movedError struct{ what string }

func (e *movedError) Error() string { return e.what }

// withGrace lets a request that is under way finish shortly after ctx ended,
// so that its outcome is known. Nothing new is sent by then.
func withGrace(ctx context.Context) (context.Context, context.CancelFunc) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(writeGrace, cancel) })
	return late, func() { stop(); cancel() }
}

// written is an object as a write left it, with the one that the write was made
// on: nil when it created the object.
type written struct{ live, on map[string]any }

// write creates or updates one object, exactly once. before is the live object
// the write is made on, nil when it creates. What was created after the lock was
// lost is deleted again.
func (r *run) write(ctx context.Context, o *preview.Object, before map[string]any) (written, error) {
	w, err := r.writeOn(ctx, o, before)
	if err == nil && w.on == nil {
		err = r.judgeCreate(ctx, o, w.live)
	}
	return w, err
}

// writeOn sends an update with before's uid and resourceVersion; when that no
// longer is the live object, the write is tried again on the new one as long as
// nothing relevant about it changed. A write without an answer is followed by a
// read to learn whether it happened.
func (r *run) writeOn(ctx context.Context, o *preview.Object, before map[string]any) (written, error) {
	var last error
	lost := false // a write may have happened without our knowing
	for try := range clock.MaxAttempts {
		item := preview.DryRun{Body: r.plan.Sent(o), Manager: o.Manager}
		if before != nil {
			item.UID, item.ResourceVersion = preview.UIDOf(before), preview.VersionOf(before)
		}
		live, err := r.applyTaking(ctx, o, item)
		if err == nil {
			return written{live, before}, nil
		}
		last = err
		var moved *movedError
		if errors.As(err, &moved) {
			return written{}, r.perhaps(lost, err) // this one was not sent
		}
		if noAnswer(err) {
			lost = true
		} else if preview.ReasonOf(err) != preview.ReasonChanged {
			return written{}, err
		}
		// What a resumed plan creates may come from the run before, late.
		live, done, err := r.reread(ctx, o, lost, before == nil && r.resumed(), err)
		if err != nil || done {
			return written{live, before}, err
		}
		if lost && before == nil && preview.Ours(live, r.plan.Release) {
			r.wrote = true // only this run marks it so: it was changed since
			return written{live, before}, nil
		}
		if before, err = r.onto(o, before, live, last); err != nil {
			return written{}, r.perhaps(lost, err)
		}
		if err := clock.Pause(ctx, r.opts.Clock, last, try); err != nil {
			return written{}, last
		}
	}
	return written{}, last
}

// applyTaking sends a write that may take over the contested fields that were
// reviewed. force is for the whole request: it would take any other contested
// field too. So an unforced dry run at the same resourceVersion comes first,
// which must meet no conflict but the reviewed ones.
func (r *run) applyTaking(ctx context.Context, o *preview.Object, item preview.DryRun) (map[string]any, error) {
	if !r.plan.Takes(o) || item.UID == "" {
		return r.applyOnce(ctx, item)
	}
	err := r.cluster.DryRun(ctx, []preview.DryRun{item})[0].Err
	var refusal *preview.Refusal
	switch {
	case err == nil:
		return r.applyOnce(ctx, item) // its managers let go of them
	case !errors.As(err, &refusal) || refusal.Reason != preview.ReasonConflict:
		return nil, notSent(err)
	}
	var more []string
	for _, c := range refusal.Conflicts {
		if !slices.Contains(o.Conflicts, c) {
			more = append(more, fmt.Sprintf("field manager %q owns %s now", c.Manager, c.Path))
		}
	}
	if len(more) > 0 {
		return nil, &movedError{joinReasons(more)}
	}
	item.Force = true
	return r.applyOnce(ctx, item)
}

// notSent is the error of a question that came before a write: whatever became
// of the question, nothing was written.
func notSent(err error) error {
	if preview.ReasonOf(err) == preview.ReasonChanged {
		return err
	}
	return &preview.Refusal{Reason: preview.ReasonOther, Message: "not sent: " + err.Error(), Err: err}
}

func (r *run) applyOnce(ctx context.Context, item preview.DryRun) (live map[string]any, err error) {
	err = r.sendOnce(ctx, func(late context.Context) (err error) {
		live, err = r.cluster.Apply(late, item)
		return err
	})
	return live, err
}

// sendOnce sends one write of a plan object, again only while the API server says
// that it has no time for it. Before each, the lock must be this run's.
func (r *run) sendOnce(ctx context.Context, send func(context.Context) error) error {
	late, cancel := withGrace(ctx)
	defer cancel()
	err := clock.Unthrottled(ctx, r.opts.Clock, func() error {
		if err := ctx.Err(); err != nil {
			return notSent(err)
		}
		if err := r.lock.Confirm(ctx); err != nil {
			return notSent(err)
		}
		return send(late)
	})
	if err == nil {
		r.wrote = true
	}
	return err
}

// reread reads an object after a write that was refused or had no answer. If
// one had none (lost), or an earlier run of the plan may have sent it (resumed), it reports
// whether the object is what it made of it.
func (r *run) reread(ctx context.Context, o *preview.Object, lost, resumed bool, cause error) (live map[string]any, written bool, err error) {
	late, cancel := withGrace(ctx)
	defer cancel()
	if live, err = r.cluster.Get(late, o.Ref()); err == nil && live != nil && (lost || resumed) {
		written, err = r.isAfter(late, o, live)
	}
	if err != nil {
		if lost {
			r.wrote = true // perhaps; the exit code must not deny it
			return nil, false, &outcomeError{cause}
		}
		return nil, false, err
	}
	if written {
		r.wrote = true
	}
	return live, written, nil
}

// perhaps is the end of a write on an object that moved. If one was sent before
// whose answer was lost, it may have been carried out all the same.
func (r *run) perhaps(lost bool, err error) error {
	var moved *movedError
	if !lost || !errors.As(err, &moved) {
		return err
	}
	r.wrote = true
	return &outcomeError{err}
}

// onto decides whether a write may be made on the object as it is now.
func (r *run) onto(o *preview.Object, before, live map[string]any, cause error) (map[string]any, error) {
	switch {
	case before == nil && live == nil:
		return nil, nil
	case before == nil:
		return nil, &movedError{"somebody else created it meanwhile"}
	case live == nil:
		return nil, &movedError{"somebody deleted it meanwhile"}
	case preview.VersionOf(live) == preview.VersionOf(before) && preview.UIDOf(live) == preview.UIDOf(before) && preview.ReasonOf(cause) == preview.ReasonChanged:
		return nil, cause // refused for another reason than a change
	}
	same, err := r.isBefore(o, live)
	if err != nil {
		return nil, err
	}
	if !same {
		return nil, &movedError{r.movedFields(o, before, live)}
	}
	return live, nil
}

// isBefore reports whether a live object still is the one that was reviewed.
func (r *run) isBefore(o *preview.Object, live map[string]any) (bool, error) {
	if preview.UIDOf(live) != o.Live.UID {
		return false, nil
	}
	fingerprint, err := o.Fingerprint(r.opts.Schemas, live)
	return fingerprint == o.Live.Fingerprint || o.Adoption != nil && fingerprint == o.Adoption.Fingerprint, err
}

// isAfter reports whether an object already is what applying o makes of it: a
// dry run by our manager changes neither a value nor which fields we own.
func (r *run) isAfter(ctx context.Context, o *preview.Object, live map[string]any) (bool, error) {
	for range clock.MaxAttempts {
		result := r.cluster.DryRun(ctx, []preview.DryRun{{
			Body: r.plan.Sent(o), UID: preview.UIDOf(live), ResourceVersion: preview.VersionOf(live), Manager: o.Manager,
		}})[0]
		switch preview.ReasonOf(result.Err) {
		case "":
			return result.Err == nil && changesNothing(o, live, result.Body), result.Err
		case preview.ReasonChanged: // such as a status that a controller wrote
		case preview.ReasonUnavailable, preview.ReasonUnauthorized:
			return false, result.Err
		default:
			return false, nil // what cannot be applied is not what an apply left
		}
		fresh, err := r.cluster.Get(ctx, o.Ref())
		if err != nil || preview.UIDOf(fresh) != preview.UIDOf(live) {
			return false, err
		}
		live = fresh
	}
	return false, nil
}

func changesNothing(o *preview.Object, live, result map[string]any) bool {
	owned, err := o.OwnedFields(live)
	wouldOwn, wouldErr := o.OwnedFields(result)
	return err == nil && wouldErr == nil && owned.Equals(wouldOwn) &&
		reflect.DeepEqual(preview.WithoutVolatile(live), preview.WithoutVolatile(result))
}

// movedFields names the relevant fields at which two reads differ.
func (r *run) movedFields(o *preview.Object, before, live map[string]any) string {
	if preview.UIDOf(before) != preview.UIDOf(live) {
		return "it was deleted and created again meanwhile"
	}
	a, errA := o.Relevant(r.opts.Schemas, before)
	b, errB := o.Relevant(r.opts.Schemas, live)
	if o.Whole() || errA != nil || errB != nil {
		a, b = before, live
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

// remove deletes exactly the reviewed object. It reports whether the object is
// gone already.
func (r *run) remove(ctx context.Context, o *preview.Object, live map[string]any) (gone bool, err error) {
	var last error
	lost := false // a deletion may have happened without our knowing
	for try := range clock.MaxAttempts {
		if live == nil || lost && preview.UIDOf(live) != o.Live.UID {
			return true, nil
		}
		if preview.String(live, "metadata", "deletionTimestamp") != "" {
			return false, nil
		}
		same, err := r.isBefore(o, live)
		if err != nil {
			return false, err
		}
		if !same {
			return false, &movedError{r.movedFields(o, r.liveOf(o), live)}
		}
		err = r.deleteOnce(ctx, o, live)
		reason := preview.ReasonOf(err)
		switch {
		case err == nil:
			return false, nil
		case reason == preview.ReasonNotFound, reason == preview.ReasonNotServed: // gone with its definition
			r.wrote = r.wrote || lost
			return true, nil
		}
		last = err
		if noAnswer(err) {
			lost = true
		} else if reason != preview.ReasonChanged {
			return false, err
		}
		late, cancel := withGrace(ctx)
		live, err = r.cluster.Get(late, o.Ref())
		cancel()
		if err != nil && lost {
			r.wrote = true
			return false, &outcomeError{last}
		}
		if err != nil {
			return false, err
		}
		if lost && (live == nil || preview.UIDOf(live) != o.Live.UID || preview.String(live, "metadata", "deletionTimestamp") != "") {
			r.wrote = true
		}
		if err := clock.Pause(ctx, r.opts.Clock, last, try); err != nil {
			return false, last
		}
	}
	return false, last
}

func (r *run) deleteOnce(ctx context.Context, o *preview.Object, live map[string]any) error {
	return r.sendOnce(ctx, func(late context.Context) error {
		return r.cluster.Delete(late, o.Ref(), preview.UIDOf(live), preview.VersionOf(live), dependentsOf(o))
	})
}

// objectError words the failure of one write.
func (r *run) objectError(o *preview.Object, doing string, err error) *Error {
	kind, next := NotStarted, ""
	var moved *movedError
	var gone *goneError
	switch reason := preview.ReasonOf(err); {
	case errors.As(err, &moved) && unknownOutcome(err):
		kind, next = Failed, "preview again to see what it is now, and approve that"
	case errors.As(err, &gone):
		kind, next = Interrupted, r.resumeAdvice()
	case errors.As(err, &moved):
		kind, next = Refused, "preview again, and approve what it shows"
	case unknownOutcome(err):
		kind, next = Interrupted, "the object is in flight; "+r.resumeAdvice()
	case reason == preview.ReasonConflict:
		kind, next = Refused, "preview again: another field manager took these fields since the review"
	case reason == preview.ReasonForbidden:
		next = "get the missing permission, then " + r.resumeAdvice()
	case reason == preview.ReasonQuota:
		next = quotaAdvice(o, err) + r.resumeAdvice()
	case preview.Throttled(err) && (r.wrote || r.resumed()):
		kind, next = Interrupted, "the API server is overloaded and carried nothing out; when it has time, "+r.resumeAdvice()
	}
	cause, _ := rollout.RefusalCause(err.Error())
	e := r.fail(fmt.Sprintf("%s %s", doing, o.ID), next, &Error{
		Kind: kind, Object: o.ID, Doing: doing + " " + o.ID, Came: err.Error(), Cause: cause, Next: next, Err: err,
	})
	if e.Next == "" {
		changed := *e
		changed.Next = "nothing was applied; look at the cause and run the command again"
		if r.wrote {
			changed.Next = "part of the plan was applied; look at the cause, then " + r.resumeAdvice()
		}
		return &changed
	}
	return e
}
