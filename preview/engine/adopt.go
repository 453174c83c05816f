package engine

import (
	"context"
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// decideForeign sets the action of an object that does not belong to this release. The
// object can be adopted if no other owner acts on it, or if its owner is OLM v0 and the
// plan contains the migration. It is adopted with --adopt, and blocked without.
func (d *builder) decideForeign(ctx context.Context, o *preview.Object) error {
	if o.Planned == nil || preview.String(o.LiveBody, "metadata", "deletionTimestamp") != "" {
		return nil
	}
	if owner, marked := preview.ForeignOwner(o.LiveBody, d.plan.Release); marked && owner.Tool == preview.ToolRelease {
		return d.decideOfRelease(ctx, o)
	}
	found, err := d.owners.Find(ctx, o.LiveBody)
	if err != nil {
		return err
	}
	o.Action = preview.ActionBlocked
	if found.OnlyCSV() || found.None() && !d.isInOtherSet(o) {
		o.Action = preview.ActionAdopt
	}
	if found.None() {
		return nil
	}
	note := ownerRecord{}
	note.add(found)
	return d.Note(ownerKind, o.ID, note)
}

// isInOtherSet reports whether an object is in an ApplySet of another tool (KEP-3659).
// The ApplySet's parent can be of any kind, so it is not checked whether the parent
// exists.
func (d *builder) isInOtherSet(o *preview.Object) bool {
	owner, _ := preview.ForeignOwner(o.LiveBody, d.plan.Release)
	return owner.Tool == preview.ToolApplySet
}

// decideAdoptions computes what an adoption changes in two writes: the first removes
// the marks of the former owner, the second is the apply. The apply cannot be dry-run
// before the first write, so its result is merged here; a forced dry run shows what the
// API server would refuse.
func (d dryRunner) decideAdoptions(ctx context.Context) error {
	var tries []preview.DryRun
	var at []int
	for i := range d.plan.Objects {
		o := &d.plan.Objects[i]
		if o.Action != preview.ActionAdopt || o.Planned == nil || d.served[o.APIVersion+"/"+o.Kind] != nil {
			continue
		}
		released, adoption, err := preview.WithoutFormerOwner(d.schemas, o.LiveBody, o.Planned)
		if err != nil {
			return fmt.Errorf("reading who owns %s: %w", o.ID, err)
		}
		o.Adoption = adoption
		result := d.cluster.Merge(ctx, released, preview.DryRun{Body: o.Planned})
		for d.enterConflicts(o, result.Err) {
			result = d.cluster.Merge(ctx, released, preview.DryRun{Body: d.plan.Sent(o), Force: d.takesToShow(o)})
		}
		if result.Err != nil {
			if err := d.decideFromRefusal(ctx, o, result.Err); err != nil {
				return err
			}
			continue
		}
		if err := d.decideFromResult(o, result.Body); err != nil {
			return err
		}
		tries = append(tries, preview.DryRun{
			Body: d.plan.Sent(o), Force: true,
			UID: preview.String(o.LiveBody, "metadata", "uid"), ResourceVersion: preview.String(o.LiveBody, "metadata", "resourceVersion"),
		})
		at = append(at, i)
	}
	if d.plan.ReadMode != preview.ReadDryRun {
		return nil
	}
	for n, result := range d.cluster.DryRun(ctx, tries) {
		o := &d.plan.Objects[at[n]]
		switch preview.ReasonOf(result.Err) {
		case "", preview.ReasonChanged: // a status, or the fingerprint shows it
			if result.Err != nil && preview.ReasonOf(result.Err) == "" {
				return fmt.Errorf("dry run of %s: %w", o.ID, result.Err)
			}
		case preview.ReasonImmutable:
			o.Action, o.Result, o.ResultBody, o.Adoption = preview.ActionUnknown, "", nil, nil
			d.unknown(o.ID, "it differs in a field that cannot change, and what belongs to others is not replaced")
		default:
			if err := d.decideFromRefusal(ctx, o, result.Err); err != nil {
				return err
			}
		}
		if o.Action != preview.ActionAdopt {
			o.Adoption, o.Result, o.ResultBody = nil, "", nil
		}
	}
	return nil
}
