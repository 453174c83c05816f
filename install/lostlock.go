package install

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/kubectl-operator/kubectl-operator/install/clock"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
)

// addLockAdvice completes e, the error of a run that lost its lock because of cause.
// The advice depends on what the run that took the lock has done with the release.
func (w *writer) addLockAdvice(ctx context.Context, cause error, e *Error) {
	e.Cause = strings.Join(append([]string{cause.Error(), w.progress()}, w.judging.became...), "; ")
	e.Err = errors.Join(cause, e.Err)
	if !w.hasSent() {
		e.Kind, e.Advice = NotStarted, "nothing was applied; run the command again"
	}
	if !errors.Is(cause, errLockLost) {
		return
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	newest, err := record.Load(last, w.cluster, w.plan.Release)
	digest := w.plan.Digest
	if w.approved != "" {
		digest = w.approved
	}
	status := commandline.OfRelease(w.plan, "status")
	switch {
	case err != nil || newest == nil:
	case newest.Digest != digest && (newest.Undoes == nil || newest.Undoes.Digest != digest):
		if w.record != nil {
			e.Advice = fmt.Sprintf("revision %d of another plan is the newest now (%s); look at it with %s, then preview again", newest.Revision, newest.State, status)
		}
		if w.hasSent() {
			e.Kind = Failed // nothing of this plan can be resumed
		}
	case !newest.State.Unfinished():
		e.Advice = fmt.Sprintf("another run of this plan ended it, as revision %d (%s); look at it with %s", newest.Revision, newest.State, status)
	}
}

// judgeCreate checks, after a create was answered, whether this run was still the
// only writer. If another run had taken the lock, the created object is deleted
// again, unless that run has it in its inventory: unlike an update, a create has
// no precondition that fails after the other run has deleted the object.
func (w *writer) judgeCreate(ctx context.Context, o *preview.Object, live map[string]any) error {
	err := w.lock.Confirm(context.WithoutCancel(ctx))
	if !errors.Is(err, errLockLost) {
		return nil // what cannot be confirmed stops before the next write
	}
	left := o.ID + " was created after that, and " // what becomes of it
	newest, readErr := w.judging.read(context.WithoutCancel(ctx), w.readNewest)
	deleted := false
	switch {
	case readErr != nil:
		left += "is kept, because the record cannot be read: " + readErr.Error()
	case newest.Holds(o.ID, preview.UID(live)):
		left += "is left to the run that holds the lock"
	case o.Kind == "Namespace" || o.Kind == "CustomResourceDefinition":
		left += "is kept, because others may have created objects in it; no record names it"
	default:
		if delErr := w.deleteCreated(ctx, o, live); delErr != nil {
			left += "could not be deleted again: " + delErr.Error()
			break
		}
		left += "was deleted again"
		deleted = true
	}
	w.judging.note(left)
	w.log(left)
	if deleted {
		return fmt.Errorf("%w; %s", err, left)
	}
	return nil
}

// judgeLateCreate waits, after a create was not answered and the lock was lost, for as long
// as the API server may work on the request, and judges the object if it comes to exist:
// the run that took the lock has waited already, and does not look again.
func (w *writer) judgeLateCreate(ctx context.Context, o *preview.Object) {
	if err := w.lock.Confirm(context.WithoutCancel(ctx)); !errors.Is(err, errLockLost) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer cancel()
	for {
		live, err := w.cluster.Get(ctx, o.Ref())
		switch {
		case err == nil && preview.IsMember(live, w.plan.Release):
			_ = w.judgeCreate(ctx, o, live) // what became of it is noted; the outcome of the write stays unknown
			return
		case err != nil && preview.Answered(err):
			return // it may not be read, so that it cannot be judged
		}
		if clock.Sleep(ctx, w.opts.Clock, pollLease) != nil {
			return
		}
	}
}

// lateJudge is shared by the writes in flight that are answered after the lock was lost:
// the record is read once for all that were answered before that reading began.
type lateJudge struct {
	answered atomic.Int64 // how many writes asked

	mu     sync.Mutex
	covers int64 // those that were answered before newest was read
	newest *record.Record
	err    error
	became []string // what became of each object
}

// read returns the newest record, as read after the caller's write was answered.
func (j *lateJudge) read(ctx context.Context, read func(context.Context) (*record.Record, error)) (*record.Record, error) {
	turn := j.answered.Add(1)
	j.mu.Lock()
	defer j.mu.Unlock()
	if turn <= j.covers {
		return j.newest, j.err
	}
	j.covers = j.answered.Load()
	// The deadline begins here: others may have been read for before.
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	j.newest, j.err = read(ctx)
	return j.newest, j.err
}

func (j *lateJudge) note(what string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.became = append(j.became, what)
}

// readNewest returns the newest record once another run has written it, or has released the
// lock; nil if there is none. Before that run has recorded anything, it is not known which
// objects it saw. It tries until ctx ends.
func (w *writer) readNewest(ctx context.Context) (*record.Record, error) {
	for {
		stored, secret, err := record.LoadWithSecret(ctx, w.cluster, w.plan.Release)
		if err == nil {
			var lease map[string]any
			if lease, err = w.cluster.Get(ctx, w.lock.ref); err == nil && (lease == nil || stored != nil && record.FenceOf(secret).Holder != w.lock.holder) {
				return stored, nil
			}
		}
		if err != nil && !isOutage(err) {
			return nil, err
		}
		if waitErr := clock.Sleep(ctx, w.opts.Clock, pollLease); waitErr != nil {
			return nil, errors.Join(err, waitErr)
		}
	}
}

// deleteCreated deletes an object that this run created, by its uid, if the object still has
// the labels and annotations of the release. It tries for as long as the API server may work
// on a request.
func (w *writer) deleteCreated(ctx context.Context, o *preview.Object, live map[string]any) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer cancel()
	uid := preview.UID(live)
	for try := 0; ; try = min(try+1, clock.MaxAttempts-2) {
		if !o.Patches() && !preview.IsMember(live, w.plan.Release) {
			return errors.New("it is not marked as part of this release any more")
		}
		_, err := w.cluster.Delete(ctx, o.Ref(), uid, preview.ResourceVersion(live), preview.Background)
		if err == nil || preview.ReasonOf(err) == preview.ReasonNotFound {
			return nil
		}
		fresh, readErr := w.cluster.Get(ctx, o.Ref())
		switch {
		case readErr == nil && (fresh == nil || preview.UID(fresh) != uid):
			return nil
		case readErr == nil && preview.ResourceVersion(fresh) != preview.ResourceVersion(live):
			live = fresh
		case preview.Answered(err) && preview.ReasonOf(err) != preview.ReasonChanged:
			return err // refused, and tried again it would be so too
		}
		if clock.Pause(ctx, w.opts.Clock, err, try) != nil {
			return err
		}
	}
}
