package install

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/install/clock"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
)

// addLockAdvice completes e, the error of a run that lost its lock because of cause.
// The advice depends on what the run that took the lock has done with the release.
func (w *writer) addLockAdvice(ctx context.Context, cause error, e *Error) {
	e.Cause = strings.Join(append([]string{cause.Error(), w.progress()}, w.late...), "; ")
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
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	err := w.lock.Confirm(last)
	if !errors.Is(err, errLockLost) {
		return nil // what cannot be confirmed stops before the next write
	}
	w.judging.Lock()
	defer w.judging.Unlock()
	left := o.ID + " was created after that, and " // what becomes of it
	switch known, readErr := w.inNewestInventory(last, o, live); {
	case readErr != nil:
		left += "is kept, because the record cannot be read: " + readErr.Error()
	case known:
		left += "is left to the run that holds the lock"
	case o.Kind == "Namespace" || o.Kind == "CustomResourceDefinition":
		left += "is kept, because others may have created objects in it; no record names it"
	default:
		if delErr := w.deleteCreated(last, o, live); delErr != nil {
			left += "could not be deleted again: " + delErr.Error()
			break
		}
		left += "was deleted again"
		w.late = append(w.late, left)
		w.log(left)
		return fmt.Errorf("%w; %s", err, left)
	}
	w.late = append(w.late, left)
	w.log(left)
	return nil
}

// inNewestInventory reports whether the newest record, if another run wrote it,
// has an object in its inventory. Before that run has recorded anything, it is
// not known whether it saw the object.
func (w *writer) inNewestInventory(ctx context.Context, o *preview.Object, live map[string]any) (bool, error) {
	for {
		stored, secret, err := record.LoadWithSecret(ctx, w.cluster, w.plan.Release)
		if err != nil {
			return false, err
		}
		lease, err := w.cluster.Get(ctx, w.lock.ref)
		if err != nil {
			return false, err
		}
		if lease == nil || stored != nil && record.FenceOf(secret).Holder != w.lock.holder {
			return stored.Holds(o.ID, preview.UID(live)), nil
		}
		if err := clock.Sleep(ctx, w.opts.Clock, pollLease); err != nil {
			return false, err
		}
	}
}

// deleteCreated deletes an object that this run created, by its uid, if the
// object still has the labels and annotations of the release.
func (w *writer) deleteCreated(ctx context.Context, o *preview.Object, live map[string]any) error {
	uid := preview.UID(live)
	for try := range clock.MaxAttempts {
		if !o.Patches() && !preview.IsMember(live, w.plan.Release) {
			return errors.New("it is not marked as part of this release any more")
		}
		_, err := w.cluster.Delete(ctx, o.Ref(), uid, preview.ResourceVersion(live), preview.Background)
		if err == nil || preview.ReasonOf(err) == preview.ReasonNotFound {
			return nil
		}
		fresh, readErr := w.cluster.Get(ctx, o.Ref())
		switch {
		case readErr != nil || preview.ResourceVersion(fresh) == preview.ResourceVersion(live):
			if clock.Pause(ctx, w.opts.Clock, err, try) != nil || try == clock.MaxAttempts-1 {
				return err
			}
		case fresh == nil || preview.UID(fresh) != uid:
			return nil
		default:
			live = fresh
		}
	}
	return errors.New("it changes all the time")
}
