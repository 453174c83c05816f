package install

import (
	"context"
	"errors"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// maxFlying is the most writes of a run that are in flight at a time.
const maxFlying = 16

// flight is one write in flight, and its result.
type flight struct {
	at     int // in the stage's objects
	result writeResult
	gone   bool // of a deletion: the object does not exist any more
	err    error
	broken error // a panic
}

// sendAll sends the writes of a stage. Objects of one kind are in flight together: first
// one, then one more for each that was taken, as the ReplicaSet controller begins, so that
// what is refused is refused once, and not many times. A kind begins when the one before
// it is done, so that the order of kinds in a stage holds. The first failure stops it; those
// in flight end, and what they did is recorded.
func (r *applier) sendAll(ctx context.Context, stage *preview.Stage, objects []*preview.Object, before map[string]record.ObjectState) (diverged []string, err error) {
	limit := 1
	for from := 0; from < len(objects); {
		if r.isHalted(ctx) {
			r.markUnsent(objects[from:], before)
			return nil, r.haltError(ctx, stage)
		}
		to := from + alike(stage, objects[from:])
		if to == from+1 {
			verdict, err := r.sendIn(ctx, stage, objects[from])
			if err != nil {
				r.markUnsent(objects[to:], before)
				return nil, err
			}
			diverged = r.addDiverged(diverged, objects[from], verdict)
			from = to
			continue
		}
		sent, more, err := r.sendAlike(ctx, objects[from:to], &limit)
		if from+sent < to || err != nil {
			r.markUnsent(objects[from+sent:], before)
			if err == nil {
				err = r.haltError(ctx, stage)
			}
			return nil, err
		}
		diverged, from = append(diverged, more...), to
	}
	return diverged, nil
}

// alike returns how many of a stage's next objects may be written in parallel: objects
// of the first one's kind with one write each. Hooks, and what its own stage removes in
// order, are written one by one.
func alike(stage *preview.Stage, objects []*preview.Object) int {
	first := objects[0]
	single := func(o *preview.Object) bool {
		switch o.Action {
		case preview.ActionCreate, preview.ActionUpdate, preview.ActionUnknown, preview.ActionDelete:
			return o.Hook == nil
		}
		return false
	}
	if !single(first) || stage.ID == preview.StageHandOver || stage.ID == preview.StagePruneNamespaces {
		return 1
	}
	n := 1
	for n < len(objects) && objects[n].Kind == first.Kind && objects[n].Ref().Group() == first.Ref().Group() && single(objects[n]) {
		n++
	}
	return n
}

// sendAlike sends the writes of objects that may be in flight together, at first limit of
// them. It returns how many were sent: less than all after an error, and where the run was
// halted.
func (r *applier) sendAlike(ctx context.Context, objects []*preview.Object, limit *int) (sent int, diverged []string, err error) {
	done := make(chan flight)
	flying, failed := 0, make([]error, len(objects))
	for {
		for sent < len(objects) && flying < *limit && err == nil && !r.isHalted(ctx) {
			r.launch(ctx, sent, objects[sent], done)
			sent, flying = sent+1, flying+1
		}
		if flying == 0 {
			return sent, diverged, joinFailures(failed)
		}
		f := <-done
		flying--
		if f.broken != nil {
			for ; flying > 0; flying-- { // nothing of the run outlives it
				<-done
			}
			panic(f.broken)
		}
		o := objects[f.at]
		verdict, failure := r.finish(ctx, o, f.result, f.gone, f.err)
		if failure == nil {
			*limit = min(*limit+1, maxFlying)
			diverged = r.addDiverged(diverged, o, verdict)
		} else {
			err, failed[f.at] = failure, failure
		}
	}
}

// joinFailures returns the gravest of the errors of writes that were in flight together, the
// first one of several, with the causes of the others; nil entries are of those that
// succeeded. An unknown outcome is graver than a resumable failure, which is graver than a
// refusal: nothing is undone while a write may still arrive.
func joinFailures(failed []error) error {
	var gravest error
	for _, err := range failed {
		if err != nil && (gravest == nil || gravity(err) > gravity(gravest)) {
			gravest = err
		}
	}
	var e *Error
	if !errors.As(gravest, &e) {
		return gravest
	}
	causes := []string{e.Cause}
	for _, err := range failed {
		var other *Error
		if errors.As(err, &other) && other != e {
			causes = append(causes, other.Operation+": "+other.Cause)
		}
	}
	joined := *e
	joined.Cause = joinReasons(causes)
	return &joined
}

// gravity orders the errors of writes by how little is known of what they left.
func gravity(err error) int {
	switch interrupted := KindOf(err) == Interrupted; {
	case interrupted && unknownOutcome(err):
		return 3
	case unknownOutcome(err):
		return 2
	case interrupted:
		return 1
	}
	return 0
}

// launch sends one write in parallel to others.
func (r *applier) launch(ctx context.Context, at int, o *preview.Object, done chan<- flight) {
	r.emit(Event{Type: EventObject, Object: o.ID, State: record.StateSent})
	before := r.liveOf(o)
	tasks.Async(func() error {
		f := flight{at: at}
		f.broken = tasks.Try(func() error {
			f.result, f.gone, f.err = r.transmit(ctx, o, before)
			return nil
		})
		done <- f
		return nil
	})
}

// addDiverged adds an object to those that stop the run before its next stage, if it is one.
func (r *applier) addDiverged(diverged []string, o *preview.Object, verdict Verdict) []string {
	if verdict == Diverged && stopsOnDivergence(o) {
		return append(diverged, o.ID+": "+r.record.Object(o.ID).Message)
	}
	return diverged
}

// sendIn makes the write of an object in a stage, which can be to remove a
// former owner or a Namespace.
func (r *applier) sendIn(ctx context.Context, stage *preview.Stage, o *preview.Object) (Verdict, error) {
	if stage.ID == preview.StageHandOver {
		return Same, r.releaseFormerOwner(ctx, o)
	}
	if stage.ID == preview.StagePruneNamespaces {
		return Same, r.removeNamespace(ctx, o)
	}
	return r.send(ctx, o)
}

// send writes one object and records the result.
func (r *applier) send(ctx context.Context, o *preview.Object) (Verdict, error) {
	r.emit(Event{Type: EventObject, Object: o.ID, State: record.StateSent})
	w, gone, err := r.transmit(ctx, o, r.liveOf(o))
	return r.finish(ctx, o, w, gone, err)
}

// transmit carries out the write of an object. Of single writes several may be carried out
// at a time: it does not touch the record then.
func (r *applier) transmit(ctx context.Context, o *preview.Object, before map[string]any) (w writeResult, gone bool, err error) {
	switch o.Action {
	case preview.ActionDelete:
		if o.Is(preview.KindCustomResourceDefinition) {
			gone, w.lost, err = r.removeDefinition(ctx, o, before)
			break
		}
		gone, err = r.remove(ctx, o, before)
	case preview.ActionReplace:
		w, err = r.replace(ctx, o, before)
	case preview.ActionAdopt:
		w, err = r.adopt(ctx, o, before)
	default:
		if err = r.trials.now(ctx, o); err == nil {
			w, err = r.write(ctx, o, before)
		}
	}
	return w, gone, err
}

// finish records the result of a write.
func (r *applier) finish(ctx context.Context, o *preview.Object, w writeResult, gone bool, err error) (Verdict, error) {
	switch {
	case err != nil:
		return "", r.failedObject(ctx, o, participleOf(o.Action), err)
	case o.Action == preview.ActionDelete:
		r.recordRemoved(o, gone)
		if len(w.lost) > 0 {
			note := "created after the last count, and deleted with it: "
			r.record.Object(o.ID).Notes = []string{note + strings.Join(w.lost, ", ")}
			r.log(o.ID + ": " + note + joinReasons(w.lost))
		}
		return Same, nil
	}
	// The write was made on top of changes that others made after the check.
	return r.recordWritten(o, WrittenObject{Sealed: r.plan.Sent(o), Reviewed: r.reviewedResult(o), Before: w.on, Live: w.live}), nil
}

// participleOf returns what a write with that action does, for an error.
func participleOf(action preview.Action) string {
	switch action {
	case preview.ActionUpdate:
		return "updating"
	case preview.ActionReplace:
		return "replacing"
	case preview.ActionAdopt:
		return "adopting"
	case preview.ActionPatch:
		return "patching"
	case preview.ActionDelete:
		return "deleting"
	}
	return "creating"
}
