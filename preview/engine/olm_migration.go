package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/owners"
)

// planOLMMigration adds the deletions that end OLM v0's ownership of adopted objects:
// first of Subscriptions, because OLM would install again, and then of
// ClusterServiceVersions.
func (d *builder) planOLMMigration(ctx context.Context) error {
	csvs := map[string]preview.Ref{}
	for i := range d.plan.Objects {
		o := &d.plan.Objects[i]
		if found := recordedOwner(d, o.ID).Owners; o.Action == preview.ActionAdopt && len(found) > 0 {
			csvs[found[0].ref().ID()] = found[0].ref()
		}
	}
	namespaces := map[string]bool{}
	var refs []preview.Ref
	for _, ref := range csvs {
		refs = append(refs, ref)
		namespaces[ref.Namespace] = true
	}
	for namespace := range namespaces {
		subscriptions, err := d.cluster.List(ctx, owners.OLMAPI, owners.SubscriptionKind, namespace, "")
		if err != nil && !preview.Answered(err) {
			return fmt.Errorf("listing the Subscriptions in namespace %s: %w", namespace, err)
		}
		if preview.ReasonOf(err) == preview.ReasonForbidden {
			d.unknown(preview.Ref{APIVersion: owners.OLMAPI, Kind: owners.SubscriptionKind, Namespace: namespace, Name: "of-" + namespace}.ID(),
				"the Subscriptions that would install it again may not be listed")
		}
		for _, body := range subscriptions {
			if slices.ContainsFunc(refs, func(csv preview.Ref) bool { return owners.Subscribes(body, csv) }) {
				refs = append(refs, preview.RefOf(body))
			}
		}
	}
	slices.SortFunc(refs, func(a, b preview.Ref) int { return strings.Compare(a.ID(), b.ID()) })
	for n, r := range d.cluster.Read(ctx, refs) {
		switch {
		case r.Err != nil:
			return fmt.Errorf("reading %s: %w", refs[n].ID(), r.Err)
		case r.Body == nil:
			return fmt.Errorf("%s was deleted while it was read; run the command again", refs[n].ID())
		}
		d.plan.Objects = append(d.plan.Objects, preview.Object{
			ID: refs[n].ID(), APIVersion: refs[n].APIVersion, Kind: refs[n].Kind, Namespace: refs[n].Namespace, Name: refs[n].Name,
			Action: preview.ActionDelete, LiveBody: r.Body,
		})
	}
	for i := range d.plan.Objects {
		if o := &d.plan.Objects[i]; owners.IsOLM(o.Ref()) && o.Action == preview.ActionDelete && o.Package == "" {
			o.Adoption = &preview.Adoption{Releases: releasedObjects(d.plan, d, o)}
		}
	}
	return nil
}

// releasedObjects returns the ids, sorted, of the adopted objects that lose their
// former owner when the plan deletes the object former.
func releasedObjects(p *preview.Plan, seen recordReader, former *preview.Object) []string {
	var out []string
	for i := range p.Objects {
		o := &p.Objects[i]
		if o.Action != preview.ActionAdopt {
			continue
		}
		found := recordedOwner(seen, o.ID).Owners
		if len(found) == 0 {
			continue
		}
		if owner := found[0].ref(); owner == former.Ref() || former.Kind == owners.SubscriptionKind && owners.Subscribes(former.LiveBody, owner) {
			out = append(out, o.ID)
		}
	}
	slices.Sort(out)
	return out
}
