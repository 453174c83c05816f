package install

import (
	"context"
	"reflect"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/kubectl-operator/kubectl-operator/install/clock"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// undecidedError is the error for a live object that may or may not be as its write leaves
// it: only a dry run could tell, and admission refuses that. The object is neither known to
// be changed nor known to be as written.
type undecidedError struct{ err error }

func (e *undecidedError) Error() string {
	return "cannot be compared with the plan, because a dry run is refused: " + e.err.Error()
}
func (e *undecidedError) Unwrap() error { return e.err }

// isAfter reports whether a live object is already as the write of o makes it. The values
// and the fields that our field manager owns decide, as far as the schema of the kind is
// known; of a recorded object, see [attempt.isRecorded], the values alone. Only what these
// leave open is asked in a dry run, which admission may refuse for its own reasons: see
// [undecidedError].
func (w *writer) isAfter(ctx context.Context, o *preview.Object, live map[string]any, recorded bool) (bool, error) {
	after, decided, err := w.compareFields(o, live, recorded)
	if decided || err != nil {
		return after, err
	}
	return w.tryAgain(ctx, o, live)
}

// isRecorded reports whether nothing has happened to a live object since the write that is
// on record, by uid and resourceVersion.
func (a *attempt) isRecorded(o *preview.Object, live map[string]any) bool {
	if a.record == nil {
		return false
	}
	entry := a.record.Object(o.ID)
	return entry != nil && entry.Version != "" && entry.UID == preview.UID(live) && entry.Version == preview.ResourceVersion(live)
}

// compareFields compares a live object with the body that was sent. An object with all
// values is as written if nothing has happened to it since the recorded write, or if our
// field manager owns exactly the fields that were sent: an earlier version would own others.
// An object is changed if another client has taken a field and given it another value.
func (w *writer) compareFields(o *preview.Object, live map[string]any, recorded bool) (after, decided bool, err error) {
	sent := preview.CloneBody(w.plan.Sent(o))
	delete(sent, "status") // which an apply does not write
	c, err := newComparison(w.opts.Schemas, WrittenObject{Sealed: sent, Live: live})
	if err != nil {
		return false, false, nil //nolint:nilerr // a dry run decides
	}
	diff, err := c.sealed.typed.Compare(c.live.typed)
	if err != nil {
		return false, false, nil //nolint:nilerr // a dry run decides
	}
	other := fieldpath.NewSet() // with another value than the one that was sent
	for path := range diff.Removed.Union(diff.Modified).Leaves().All() {
		if !equivalent(c.sealed, c.live, path) {
			other.Insert(path)
		}
	}
	owned, err := o.OwnedFields(live)
	if err != nil {
		return false, false, err
	}
	planned, err := preview.PlannedFields(w.opts.Schemas, sent)
	if err != nil {
		return false, false, nil //nolint:nilerr // a dry run decides
	}
	planned = planned.Difference(unownedFields())
	_, unknown := w.opts.Schemas.Typed(sent) // the paths of such a kind are guessed
	switch {
	case other.Empty() && (recorded || owned.Equals(planned)):
		return true, true, nil
	case unknown == nil && !other.Difference(owned).Empty():
		return false, true, nil
	}
	return false, false, nil
}

// unownedFields returns the fields of a body that no field manager owns.
func unownedFields() *fieldpath.Set {
	return fieldpath.NewSet(
		fieldpath.MakePathOrDie("apiVersion"), fieldpath.MakePathOrDie("kind"),
		fieldpath.MakePathOrDie("metadata", "name"), fieldpath.MakePathOrDie("metadata", "namespace"))
}

// tryAgain reports whether a dry run of the write, in our field manager's name, changes
// neither a value nor which fields we own.
func (w *writer) tryAgain(ctx context.Context, o *preview.Object, live map[string]any) (bool, error) {
	for range clock.MaxAttempts {
		result := w.cluster.DryRun(ctx, []preview.DryRun{{
			Body: w.plan.Sent(o), UID: preview.UID(live), ResourceVersion: preview.ResourceVersion(live), Manager: o.Manager,
		}})[0]
		switch preview.ReasonOf(result.Err) {
		case "":
			return result.Err == nil && changesNothing(o, live, result.Body), result.Err
		case preview.ReasonChanged: // such as a status that a controller wrote
		case preview.ReasonUnavailable, preview.ReasonUnauthorized:
			return false, result.Err
		case preview.ReasonConflict, preview.ReasonInvalid, preview.ReasonImmutable, preview.ReasonNotAppliable, preview.ReasonNotFound, preview.ReasonNotServed:
			return false, nil // what cannot be applied is not what an apply left
		default:
			return false, &undecidedError{result.Err}
		}
		fresh, err := w.cluster.Get(ctx, o.Ref())
		if err != nil || preview.UID(fresh) != preview.UID(live) {
			return false, err
		}
		live = fresh
	}
	return false, nil
}

func changesNothing(o *preview.Object, live, result map[string]any) bool {
	owned, err := o.OwnedFields(live)
	wouldOwn, wouldErr := o.OwnedFields(result)
	now := *o
	now.LiveBody = live
	from, to := now.Compared(result)
	return err == nil && wouldErr == nil && owned.Equals(wouldOwn) && reflect.DeepEqual(from, to)
}
