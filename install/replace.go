package install

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install/clock"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// dependentsOf returns the propagation policy for the deletion of an object. It
// is Foreground for an object that is created again, because its old pods must
// be gone first, and Orphan for a former owner whose dependents are adopted.
func dependentsOf(o *preview.Object) preview.Propagation {
	switch {
	case o.Action == preview.ActionReplace:
		return preview.Foreground
	case preview.OrphansDependents(o):
		return preview.Orphan
	}
	return preview.Background
}

// replace deletes exactly the reviewed object, waits until it is gone, and creates
// the new one. live is the reviewed object, or nil if an earlier run has deleted
// it already.
func (w *writer) replace(ctx context.Context, o *preview.Object, live map[string]any) (writeResult, error) {
	if live != nil {
		gone, err := w.remove(ctx, o, live)
		if err != nil {
			return writeResult{}, err
		}
		// From here on the object is between its two writes.
		w.record.Object(o.ID).State = record.StateRemoving
		if !gone {
			if err := w.awaitGone(ctx, o); err != nil {
				return writeResult{}, err
			}
		}
	}
	w.record.Object(o.ID).State = record.StateRemoved
	w.emit(Event{Type: EventObject, Object: o.ID, State: record.StateRemoved})
	return w.write(ctx, o, nil)
}

// deletionError is the error for an object that was still being deleted when
// the time limit was over.
type deletionError struct{ what string }

func (e *deletionError) Error() string { return e.what }

// awaitGone waits until the deleted object no longer exists. An object that another
// client created under the same name meanwhile makes the create after it fail.
func (w *writer) awaitGone(ctx context.Context, o *preview.Object) error {
	deadline := w.opts.Clock.Now().Add(w.timeoutOf(o))
	for {
		live, err := w.cluster.Get(ctx, o.Ref())
		switch {
		case err == nil && (live == nil || preview.UID(live) != o.Live.UID):
			return nil
		case err != nil && preview.ReasonOf(err) != preview.ReasonUnavailable:
			return fmt.Errorf("waiting until it is gone: %w", err)
		case w.opts.Clock.Now().After(deadline):
			return &deletionError{fmt.Sprintf("it is still being deleted after %s, and holds the finalizers %v", w.timeoutOf(o), preview.List(live, "metadata", "finalizers"))}
		}
		if err := clock.Sleep(ctx, w.opts.Clock, clock.RetryPause); err != nil {
			return &deletionError{"stopped while it was being deleted"}
		}
	}
}

// timeoutOf returns the time limit of the stage that an object is in.
func (w *writer) timeoutOf(o *preview.Object) (limit time.Duration) {
	limit = DefaultRolloutTimeout
	for i := range w.plan.Stages {
		if slices.Contains(w.plan.Stages[i].Objects, o.ID) {
			limit = w.timeout(&w.plan.Stages[i])
		}
	}
	return limit
}
