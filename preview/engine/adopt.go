package engine

import (
	"context"
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/owners"
)

// decideForeign decides on an object that is not of this release. It can be
// taken over when nothing acts on it any more, or when that is OLM v0, of which
// the plan says how it lets go. Whether it is, --adopt says; without, it shows
// as what it would be.
func (d *builder) decideForeign(ctx context.Context, o *preview.Object) error {
	if o.Planned == nil || preview.String(o.LiveBody, "metadata", "deletionTimestamp") != "" {
		return nil
	}
	if owner, marked := preview.ForeignOwner(o.LiveBody, d.plan.Release); marked && owner.Tool == preview.ToolRelease {
		return d.decideOfRelease(ctx, o)
	}
	found, err := d.controllers(ctx, o.LiveBody)
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

// controllers finds what acts on an object besides releases.
func (d *builder) controllers(ctx context.Context, live map[string]any) (owners.Controllers, error) {
	return owners.Finder{Cluster: d.cluster, Release: d.plan.Release}.Find(ctx, live)
}

// isInOtherSet reports whether an object is of an ApplySet of another tool. Its
// parent can be any object, so that no process can tell whether it exists.
func (d *builder) isInOtherSet(o *preview.Object) bool {
	owner, _ := preview.ForeignOwner(o.LiveBody, d.plan.Release)
	return owner.Tool == preview.ToolApplySet
}

// decideAdoptions settles the objects that are taken over: what the first
// write takes off, and what the apply after it leads to. That apply cannot be
// tried before the first write, so it is merged here; a forced dry run of it
// says what the API server would refuse.
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
		for d.settleConflicts(o, result.Err) {
			result = d.cluster.Merge(ctx, released, preview.DryRun{Body: d.plan.Sent(o), Force: d.plan.Takes(o)})
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
