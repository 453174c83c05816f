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

// requestTimeout is how long the API server works on a request at most (its flag
// --request-timeout): a write that is not stored by then never will be.
const requestTimeout = time.Minute

// noteLate notes the objects that an earlier run was creating when it ended, as its
// inventory has them: it was killed, or it did not learn what became of them. Such a create
// may arrive until requestTimeout after that run was last heard of, by the times that the
// API server gave its record and the Lease that it lost. It is called under the lock.
func (r *applier) noteLate() {
	r.unarrived = nil
	if r.before == nil {
		return
	}
	for _, item := range r.before.Inventory {
		if item.UID == "" && item.Manager == "" {
			r.unarrived = append(r.unarrived, item)
		}
	}
	last := appliedAt(r.parent)
	if lost := appliedAt(r.lock.overtook); lost.After(last) {
		last = lost.Add(doubtAfter) // it may write that long without a renewal
	}
	left := requestTimeout
	if taken := appliedAt(r.lock.taken); !last.IsZero() && !taken.IsZero() {
		left = min(left, requestTimeout-taken.Sub(last))
	}
	r.arriveUntil = r.opts.Clock.Now().Add(left)
}

// appliedAt returns when this program last applied an object, by the clock of the API
// server; the zero time if that is not known.
func appliedAt(body map[string]any) time.Time {
	var last time.Time
	for _, entry := range preview.Maps(body, "metadata", "managedFields") {
		at, err := time.Parse(time.RFC3339, preview.String(entry, "time"))
		if err == nil && preview.String(entry, "manager") == preview.FieldManager && at.After(last) {
			last = at
		}
	}
	return last
}

// isLate reports whether an earlier run was creating an object, so that it may come to
// exist whatever becomes of this run's own write.
func (a *attempt) isLate(id string) bool {
	return slices.ContainsFunc(a.unarrived, func(i record.Item) bool { return i.Ref().ID() == id })
}

// dropIntents removes objects from the inventory that this run has not created after all.
func (a *attempt) dropIntents(ids ...string) {
	a.record.DropIntents(slices.DeleteFunc(ids, a.isLate)...)
}

// awaitLate waits until what an earlier run was creating exists, or cannot come to exist any
// more, and enters it into the inventory, or removes it from there. It returns the objects
// that came to exist and that this run did not write.
func (r *applier) awaitLate(ctx context.Context) ([]string, error) {
	if r.leaving {
		return nil, nil // with the namespace
	}
	var arrived []string
	for said := false; ; said = true {
		open, refs := r.openIntents()
		if len(open) == 0 {
			return arrived, nil
		}
		over := !r.opts.Clock.Now().Before(r.arriveUntil) // before the objects are read
		for i, result := range r.cluster.Read(ctx, refs) {
			switch {
			case preview.ReasonOf(result.Err) == preview.ReasonNotServed:
			case result.Err != nil:
				return nil, fmt.Errorf("reading %s: %w", refs[i].ID(), result.Err)
			case result.Body != nil && preview.IsMember(result.Body, r.plan.Release):
				r.recordArrived(open[i], preview.UID(result.Body))
				arrived = append(arrived, refs[i].ID())
				continue
			}
			if over {
				r.record.DropIntents(refs[i].ID())
			}
		}
		if over {
			return arrived, nil
		}
		if !said {
			r.log(fmt.Sprintf("%s of an earlier run may still arrive; looking for at most %s", preview.Plural(len(open), "create"), r.arriveUntil.Sub(r.opts.Clock.Now()).Round(time.Second)))
		}
		if r.stopRequested() {
			return nil, r.stopError()
		}
		if err := clock.Sleep(ctx, r.opts.Clock, pollLease); err != nil {
			return nil, err
		}
	}
}

// openIntents returns the objects that an earlier run was creating and whose outcome this
// run does not know.
func (r *applier) openIntents() (open []record.Item, refs []preview.Ref) {
	for _, item := range r.unarrived {
		id := item.Ref().ID()
		if entry := r.record.Object(id); entry != nil && entry.State.Acknowledged() || !r.record.Expects(id) {
			continue
		}
		open, refs = append(open, item), append(refs, item.Ref())
	}
	return open, refs
}

// recordArrived enters an object of an earlier run into the record, as created.
func (r *applier) recordArrived(item record.Item, uid string) {
	id := item.Ref().ID()
	r.record.Arrived(id, uid)
	if entry := r.record.Object(id); entry != nil {
		entry.State, entry.UID, entry.Message = record.StateApplied, uid, ""
	}
	r.emit(Event{Type: EventObject, Object: id, State: record.StateApplied, Message: "created by an earlier run, and arrived late"})
}

// lookForLate names at the end what an earlier run created that this plan does not have. It
// is in the inventory then, so that the next plan removes it.
func (r *applier) lookForLate(ctx context.Context) error {
	arrived, err := r.awaitLate(ctx)
	if err != nil {
		return r.noAnswerError("looking for what an earlier run was creating", "everything was written; ", err)
	}
	if len(arrived) == 0 {
		return nil
	}
	return &Error{
		Kind: Failed, Operation: "looking for what an earlier run was creating",
		Cause: "created by a run that was killed or cut off, and arrived during this one: " + joinReasons(arrived), Reasons: arrived,
		Advice: "all else is as planned; preview again, which shows what becomes of these",
	}
}
