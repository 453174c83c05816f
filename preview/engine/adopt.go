package engine

import (
	"context"
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// adoptable reports whether an object of somebody else may be taken over: its
// marks are those of Helm, whose record nothing watches, or it has none, and
// nothing that owns it by reference exists any more.
func (d *decider) adoptable(ctx context.Context, live map[string]any) (bool, error) {
	if !d.plan.Options.Adopt {
		return false, nil
	}
	if owner, marked := preview.ForeignOwner(live, d.plan.Release); marked && owner.Tool != preview.ToolHelm {
		return false, nil
	}
	ref := preview.RefOf(live)
	for _, item := range preview.Maps(preview.Map(live, "metadata"), "ownerReferences") {
		owner := preview.Ref{
			APIVersion: preview.String(item, "apiVersion"), Kind: preview.String(item, "kind"),
			Namespace: ref.Namespace, Name: preview.String(item, "name"),
		}
		if namespaced, err := d.cluster.Kind(ctx, owner.APIVersion, owner.Kind); err == nil && !namespaced {
			owner.Namespace = ""
		}
		r := d.cluster.Read(ctx, []preview.Ref{owner})[0]
		switch {
		case preview.ReasonOf(r.Err) == preview.ReasonNotServed, r.Err == nil && preview.String(r.Body, "metadata", "uid") != preview.String(item, "uid"):
		case r.Err != nil && !answered(r.Err):
			return false, fmt.Errorf("reading the owner %s: %w", owner.ID(), r.Err)
		default:
			return false, nil
		}
	}
	return true, nil
}

// decideAdoptions settles the objects that are taken over: what the first
// write takes off, and what the apply after it leads to. That apply cannot be
// tried before the first write, so it is merged here; a forced dry run of it
// says what the API server would refuse.
func (d *decider) decideAdoptions(ctx context.Context) error {
	var tries []preview.DryRun
	var at []int
	for i := range d.plan.Objects {
		o := &d.plan.Objects[i]
		if o.Action != preview.ActionAdopt || o.Sealed == nil || d.served[o.APIVersion+"/"+o.Kind] != nil {
			continue
		}
		released, adoption, err := preview.Released(d.schemas, o.LiveBody, o.Sealed)
		if err != nil {
			return fmt.Errorf("reading who owns %s: %w", o.ID, err)
		}
		o.Adoption = adoption
		result := d.cluster.Merge(ctx, released, o.Sealed, false)
		for d.settles(o, result.Err) {
			result = d.cluster.Merge(ctx, released, d.plan.Sent(o), d.plan.Takes(o))
		}
		if result.Err != nil {
			if err := d.decideFromRefusal(o, result.Err); err != nil {
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
		case "", preview.ReasonChanged: // a status, or the fingerprint tells
			if result.Err != nil && preview.ReasonOf(result.Err) == "" {
				return fmt.Errorf("dry run of %s: %w", o.ID, result.Err)
			}
		case preview.ReasonImmutable:
			o.Action, o.Result, o.ResultBody, o.Adoption = preview.ActionUnknown, "", nil, nil
			d.unknown(o.ID, "it differs in a field that cannot change, and what belongs to others is not replaced")
		default:
			if err := d.decideFromRefusal(o, result.Err); err != nil {
				return err
			}
		}
		if o.Action != preview.ActionAdopt {
			o.Adoption, o.Result, o.ResultBody = nil, "", nil
		}
	}
	return nil
}

// decideForeign decides on an object that is not of this release: with --adopt
// it is taken over if that is safe. Without, one of nobody shows as what it
// would be.
func (d *decider) decideForeign(ctx context.Context, o *preview.Object) error {
	if o.Sealed == nil || !d.plan.Options.Adopt || preview.String(o.LiveBody, "metadata", "deletionTimestamp") != "" {
		return nil
	}
	may, err := d.adoptable(ctx, o.LiveBody)
	if err != nil {
		return err
	}
	o.Action = preview.ActionBlocked
	if may {
		o.Action = preview.ActionAdopt
	}
	return nil
}
