package install

import (
	"context"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// withReleased lists what a stage writes, in order. Before a former owner is
// deleted that others are garbage-collected with, those are released: the first
// of their two writes.
func (r *run) withReleased(stage *preview.Stage, objects []*preview.Object) []*preview.Object {
	if stage.ID != preview.StageHandOver {
		return objects
	}
	var out []*preview.Object
	for _, former := range objects {
		if preview.Orphans(former) {
			for _, id := range former.Adoption.Releases {
				if o := r.plan.Object(id); o != nil && o.Action == preview.ActionAdopt && !r.done[id] {
					out = append(out, o)
				}
			}
		}
		out = append(out, former)
	}
	return out
}

// handOver sends one write of the stage in which former owners let go. What is
// deleted must be gone before anything is applied: as long as it exists, its
// controller may write to what it owned.
func (w *writer) handOver(ctx context.Context, o *preview.Object) error {
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
		w.removed(o, false)
		err = w.awaitGone(ctx, o)
	}
	if err != nil {
		return w.failedObject(ctx, o, "deleting", err)
	}
	w.removed(o, true)
	return nil
}

// hasLetGo notes that the former owner of an object has let go of it, and that
// the second write is still to come.
func (w *writer) hasLetGo(o *preview.Object, live map[string]any) error {
	fingerprint, err := preview.Fingerprint(w.opts.Schemas, live, o.Sealed, true)
	if err != nil || fingerprint != o.Adoption.Fingerprint || fingerprint == o.Live.Fingerprint {
		return err
	}
	w.record.Object(o.ID).State = record.StateReleased
	w.emit(Event{Type: EventObject, Object: o.ID, State: record.StateReleased})
	return nil
}
