package install

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/reads"
)

// verifyEndState compares every object of the plan with the review at the end of the
// run: unchanged objects, which were not sent, and written ones, which others may have
// changed since. A difference fails the run. Differences in custom resources are only
// reported, because their controller may write to them.
func (r *applier) verifyEndState(ctx context.Context) error {
	var objects []*preview.Object
	var refs []preview.Ref
	all := true // that were written
	for i := range r.plan.Objects {
		o := &r.plan.Objects[i]
		if r.mustMatchReview(o) {
			objects, refs = append(objects, o), append(refs, o.Ref())
		} else if record.HasWrite(o.Action) && o.Action != preview.ActionDelete {
			all = false
		}
	}
	if len(refs) == 0 {
		return nil
	}
	const doing = "reading the objects of the plan again"
	var stops []string
	var bodies []map[string]any
	for i, result := range reads.Recorded(ctx, r.cluster, refs) {
		o := objects[i]
		if preview.ReasonOf(result.Err) == preview.ReasonKindGone {
			result.Err = nil // deleted with its CRD
		}
		if result.Err != nil {
			return r.unseenError(doing, o, result.Err)
		}
		bodies = append(bodies, result.Body)
		what, err := r.editText(o, result.Body)
		if err != nil {
			return r.fail(doing, "", err)
		}
		if what == "" {
			continue
		}
		entry := r.record.Object(o.ID)
		entry.State, entry.Message = record.StateDiverged, what
		r.emit(Event{Type: EventObject, Object: o.ID, State: entry.State, Message: what})
		if stopsOnDivergence(o) || result.Body == nil || preview.BuiltInGroup(o.Ref().Group()) {
			stops = append(stops, o.ID+": "+what)
		}
	}
	if len(stops) == 0 {
		if all {
			r.record.Written = record.LastWrite(r.plan.Release, bodies)
		}
		return nil
	}
	e := refusal(doing, "these objects were changed during the apply; preview again to see what they are now", stops...)
	if r.hasSent() || r.isResumed() {
		e.Kind = Failed
	}
	return e
}

// mustMatchReview reports whether an object is compared with the review at the end.
// An object that differed right after its own write is not: that was reported then.
func (r *applier) mustMatchReview(o *preview.Object) bool {
	switch entry := r.record.Object(o.ID); {
	case o.Action == preview.ActionUnchanged:
		return true
	case entry == nil || !record.HasWrite(o.Action) || o.Action == preview.ActionDelete || o.Planned == nil || o.ReleasesOwnership():
		return false
	default:
		return slices.Contains([]record.ObjectState{record.StateApplied, record.StateWaiting, record.StateReady}, entry.State)
	}
}

// unseenError returns the error of a run that has written everything, but could
// not read object o again at the end.
func (r *applier) unseenError(doing string, o *preview.Object, err error) error {
	return r.noAnswerError(doing, "everything was written; ", fmt.Errorf("reading %s: %w", o.ID, err))
}

// editText says how a live object differs from the review, empty if it does not. An
// object that still has the resourceVersion of its write is not compared, because a CRD
// of the plan may have changed how the object is read.
func (r *applier) editText(o *preview.Object, live map[string]any) (string, error) {
	uid, version := o.Live.UID, preview.ResourceVersion(r.liveOf(o))
	if record.HasWrite(o.Action) {
		uid, version = r.record.Object(o.ID).UID, r.versions[o.ID]
	}
	switch {
	case live == nil && r.hasCompleted(o):
		return "", nil
	case live == nil:
		return "was deleted meanwhile", nil
	case preview.UID(live) != uid:
		return "was deleted and created again meanwhile", nil
	case preview.ResourceVersion(live) == version:
		return "", nil
	case preview.String(live, "metadata", "deletionTimestamp") != "":
		return "is being deleted", nil
	}
	sealed, reviewed := o.Planned, o.ResultBody
	if record.HasWrite(o.Action) {
		sealed, reviewed = r.plan.Sent(o), r.reviewedResult(o)
	}
	now := withoutScale(live, sealed)
	verdict, notes, err := Compare(r.opts.Schemas, WrittenObject{Sealed: sealed, Reviewed: reviewed, Before: now, Live: now})
	if err != nil || verdict == Same {
		return "", err
	}
	return "changed meanwhile: " + strings.Join(notes, "; "), nil
}

// hasCompleted reports whether an object may be missing because it has finished: a
// Pod or Job that ended, or a Job with a TTL.
func (r *applier) hasCompleted(o *preview.Object) bool {
	switch o.Kind {
	case "Job", "Pod":
		return r.record.Object(o.ID).State == record.StateReady || preview.Value(o.Planned, "spec", "ttlSecondsAfterFinished") != nil
	}
	return false
}

// withoutScale returns a live object with the planned number of replicas if an
// autoscaler or a user has changed it through the scale subresource, which is not
// a difference.
func withoutScale(live, sealed map[string]any) map[string]any {
	replicas := preview.Value(sealed, "spec", "replicas")
	for _, entry := range preview.Maps(live, "metadata", "managedFields") {
		if replicas != nil && preview.String(entry, "subresource") == "scale" {
			scaled := preview.CloneBody(live)
			preview.Map(scaled, "spec")["replicas"] = replicas
			return scaled
		}
	}
	return live
}
