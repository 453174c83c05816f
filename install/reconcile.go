package install

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/reads"
)

// Reconcile reads the objects whose write was in flight when a run was killed, and
// returns the state of every object of the record, which it does not change. An
// update stays in flight if the live object does not show it: for a Secret, whose
// body is not recorded, and for an object that others have changed as well.
func Reconcile(ctx context.Context, cluster Cluster, schemas engine.Schemas, stored *record.Record) ([]record.ObjectReceipt, error) {
	objects := slices.Clone(stored.Objects)
	if !slices.ContainsFunc(objects, func(o record.ObjectReceipt) bool { return o.State == record.StateSent }) {
		return objects, nil
	}
	plan, err := record.LoadArchivedPlan(ctx, cluster, stored)
	if err != nil {
		return nil, err
	}
	w := newRun(&attempt{plan: plan.Plan, cluster: cluster, opts: Options{Schemas: schemas}}).writer
	for i := range objects {
		entry := &objects[i]
		o := plan.Object(entry.ID)
		if entry.State != record.StateSent || o == nil {
			continue
		}
		left := readPlanned(ctx, cluster, []*preview.Object{o})[0]
		if left.Err != nil {
			return nil, fmt.Errorf("reading %s: %w", o.ID, left.Err)
		}
		live := left.Body
		if entry.State, err = w.reconciled(ctx, o, live); err != nil {
			return nil, fmt.Errorf("reading %s: %w", o.ID, err)
		}
		if entry.State == record.StateApplied {
			entry.UID = preview.UID(live)
		}
	}
	return objects, nil
}

// readPlanned reads objects of an interrupted run's plan, in their order. One whose kind is
// gone does not exist. One to create, of a kind that no version serves yet, counts as
// absent too: its CRD comes with the plan, and a create never overwrites.
func readPlanned(ctx context.Context, cluster reads.KindReader, objects []*preview.Object) []preview.ReadResult {
	refs := make([]preview.Ref, len(objects))
	for i, o := range objects {
		refs[i] = o.Ref()
	}
	results := reads.Recorded(ctx, cluster, refs)
	for i, r := range results {
		created := objects[i].Action == preview.ActionCreate || objects[i].Action == preview.ActionUnknown
		if reason := preview.ReasonOf(r.Err); reason == preview.ReasonKindGone || created && reason == preview.ReasonNotServed {
			results[i].Err = nil
		}
	}
	return results
}

// reconciled returns the state of an object whose write was in flight, by
// whether the live object shows that write.
func (w *writer) reconciled(ctx context.Context, o *preview.Object, live map[string]any) (record.ObjectState, error) {
	switch {
	case o.Action == preview.ActionDelete && (live == nil || preview.UID(live) != o.Live.UID):
		return record.StateRemoved, nil
	case o.Action == preview.ActionDelete && preview.String(live, "metadata", "deletionTimestamp") != "":
		return record.StateRemoving, nil
	case o.Action == preview.ActionReplace && live == nil:
		return record.StateRemoved, nil
	case o.Action == preview.ActionReplace && preview.UID(live) == o.Live.UID:
		if preview.String(live, "metadata", "deletionTimestamp") != "" {
			return record.StateRemoving, nil
		}
		return record.StatePending, nil
	case o.Action == preview.ActionDelete, live == nil:
		return record.StatePending, nil
	case o.Action == preview.ActionAdopt && !preview.IsMember(live, w.plan.Release):
		return w.reconciledAdoption(o, live)
	case o.Action != preview.ActionUpdate && o.Action != preview.ActionPatch:
		// It did not exist before, and only this release marks it so.
		if preview.IsMember(live, w.plan.Release) {
			return record.StateApplied, nil
		}
		return record.StatePending, nil
	case o.Planned == nil:
		return record.StateSent, nil
	}
	after, err := w.isAfter(ctx, o, live, false)
	_, undecided := errors.AsType[*undecidedError](err)
	if err != nil && !undecided || after {
		return record.StateApplied, err
	}
	before, err := w.isBefore(o, live)
	if err != nil || before {
		return record.StatePending, err
	}
	return record.StateSent, nil // it was changed, before the write or after it, or that cannot be decided
}

// reconciledAdoption returns the state of an object whose adoption was in flight:
// by its fingerprint, whether the first of the two writes was carried out.
func (w *writer) reconciledAdoption(o *preview.Object, live map[string]any) (record.ObjectState, error) {
	if o.Adoption == nil || preview.UID(live) != o.Live.UID {
		return record.StateSent, nil
	}
	fingerprint, err := preview.Fingerprint(w.opts.Schemas, live, o.Planned, true)
	switch {
	case err != nil:
		return "", err
	case fingerprint == o.Live.Fingerprint:
		return record.StatePending, nil
	case fingerprint == o.Adoption.Fingerprint:
		return record.StateReleased, nil
	}
	return record.StateSent, nil // it was changed, before the write or after it
}
