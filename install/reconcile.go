package install

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

// Reconcile tells what became of the objects that a record left in flight: a
// run that was killed could not say. It reads, and writes nothing; the record
// stays as it is. An update stays in flight where the cluster does not tell: of
// a Secret, whose body is not recorded, and of an object that is neither as
// before nor as after, because somebody else changed it too.
func Reconcile(ctx context.Context, cluster Cluster, schemas engine.Schemas, record *Record) ([]ObjectReceipt, error) {
	objects := slices.Clone(record.Objects)
	if !slices.ContainsFunc(objects, func(o ObjectReceipt) bool { return o.State == StateSent }) {
		return objects, nil
	}
	plan, err := loadPlan(ctx, cluster, record)
	if err != nil {
		return nil, err
	}
	r := &run{plan: plan.Plan, cluster: cluster, opts: Options{Schemas: schemas}}
	for i := range objects {
		entry := &objects[i]
		o := plan.Object(entry.ID)
		if entry.State != StateSent || o == nil {
			continue
		}
		live, err := cluster.Get(ctx, o.Ref())
		if err != nil && preview.ReasonOf(err) != preview.ReasonNotServed {
			return nil, fmt.Errorf("reading %s: %w", o.ID, err)
		}
		if entry.State, err = r.reconciled(ctx, o, live); err != nil {
			return nil, fmt.Errorf("reading %s: %w", o.ID, err)
		}
		if entry.State == StateApplied {
			entry.UID = uidOf(live)
		}
	}
	return objects, nil
}

// reconciled decides whether the one write of an object that may have happened
// did.
func (r *run) reconciled(ctx context.Context, o *preview.Object, live map[string]any) (ObjectState, error) {
	switch {
	case o.Action == preview.ActionDelete && (live == nil || uidOf(live) != o.Live.UID):
		return StateRemoved, nil
	case o.Action == preview.ActionDelete && preview.String(live, "metadata", "deletionTimestamp") != "":
		return StateRemoving, nil
	case o.Action == preview.ActionReplace && live == nil:
		return StateRemoved, nil
	case o.Action == preview.ActionReplace && uidOf(live) == o.Live.UID:
		if preview.String(live, "metadata", "deletionTimestamp") != "" {
			return StateRemoving, nil
		}
		return StatePending, nil
	case o.Action == preview.ActionDelete, live == nil:
		return StatePending, nil
	case o.Action == preview.ActionAdopt && !preview.Ours(live, r.plan.Release):
		return r.reconciledAdoption(o, live)
	case o.Action != preview.ActionUpdate && o.Action != preview.ActionPatch:
		// It did not exist before, and only this release marks it so.
		if preview.Ours(live, r.plan.Release) {
			return StateApplied, nil
		}
		return StatePending, nil
	case o.Sealed == nil:
		return StateSent, nil
	}
	after, err := r.isAfter(ctx, o, live)
	if err != nil || after {
		return StateApplied, err
	}
	before, err := r.isBefore(o, live)
	if err != nil || before {
		return StatePending, err
	}
	return StateSent, nil // somebody changed it, before the write or after it
}

// reconciledAdoption decides whether the first write of an adoption happened; the
// second did not.
func (r *run) reconciledAdoption(o *preview.Object, live map[string]any) (ObjectState, error) {
	if o.Adoption == nil || uidOf(live) != o.Live.UID {
		return StateSent, nil
	}
	fingerprint, err := preview.Fingerprint(r.opts.Schemas, live, o.Sealed, true)
	switch {
	case err != nil:
		return "", err
	case fingerprint == o.Live.Fingerprint:
		return StatePending, nil
	case fingerprint == o.Adoption.Fingerprint:
		return StateReleased, nil
	}
	return StateSent, nil // somebody changed it, before the write or after it
}
