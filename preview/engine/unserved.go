package engine

import (
	"context"
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/reads"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// decideUnserved sets the actions of the objects at these indices, whose API version the
// cluster does not serve. An object of the release is the same in every version of its
// kind: it is looked for in the served version.
func (d *builder) decideUnserved(ctx context.Context, indices []int) error {
	var results []preview.ReadResult
	var at, moved []int
	for _, i := range indices {
		o := &d.plan.Objects[i]
		if leaves(o) || d.plan.Base.Revision > 0 { // nothing of a new release is in the cluster
			moved = append(moved, len(results))
			results, at = append(results, preview.ReadResult{Ref: o.Ref()}), append(at, i)
		} else {
			d.decideAbsentKind(o, d.served[o.APIVersion+"/"+o.Kind])
		}
	}
	if len(moved) == 0 {
		return nil
	}
	reads.ReadMoved(ctx, d.cluster, results, moved)
	for n, r := range results {
		o := &d.plan.Objects[at[n]]
		switch err := d.served[o.APIVersion+"/"+o.Kind]; {
		case !leaves(o) && r.Err == nil && preview.IsMember(r.Body, d.plan.Release):
			o.Action = preview.ActionUnknown
			d.plan.Unknowns = append(d.plan.Unknowns, preview.Unknown{
				Object: o.ID, Reason: preview.ReasonNotServed, Served: r.Ref.APIVersion,
				Why: "API " + o.APIVersion + " " + o.Kind + " is not served, and the object exists as " + r.Ref.APIVersion,
			})
		case !leaves(o):
			d.decideAbsentKind(o, err)
		case preview.ReasonOf(err) != preview.ReasonNotServed: // in another scope: the kind was defined anew
			o.Action = preview.ActionSkip
		default:
			if err := d.decideLeaving(ctx, o, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// leaves reports whether an object is only in the installed revision.
func leaves(o *preview.Object) bool { return o.Planned == nil || o.ReleasesOwnership() }

// decideLeaving sets the action of an object that is only in the installed revision, by
// its read in the API version that the cluster serves of its kind. It is skipped where no
// object of the kind exists any more, and otherwise never taken as gone because it cannot
// be read.
func (d *builder) decideLeaving(ctx context.Context, o *preview.Object, r preview.ReadResult) error {
	switch preview.ReasonOf(r.Err) {
	case preview.ReasonKindGone:
		o.Action = preview.ActionSkip
		return nil
	case preview.ReasonNotServed:
		o.Action = preview.ActionUnknown
		d.refused(o.ID, preview.ReasonNotServed, "its kind cannot be read: "+r.Err.Error())
		return nil
	case preview.ReasonForbidden:
		o.Action = preview.ActionUnknown
		d.refused(o.ID, preview.ReasonForbidden, r.Err.Error())
		return nil
	}
	if r.Ref.APIVersion != o.APIVersion {
		*o = findLeftovers(InstalledObject{Ref: r.Ref, Package: o.Package, Manager: o.Manager, Format: o.Format})
	}
	return d.decideRead(ctx, o, r)
}

// decideAbsentKind sets the action of a planned object whose API version the cluster does
// not serve, with err: create if the plan has the CRD of the kind, skip if nothing depends
// on the object, and otherwise unknown. Other tools skip only what they leave as it is.
func (d *builder) decideAbsentKind(o *preview.Object, err error) {
	if preview.ReasonOf(err) == preview.ReasonNotServed && d.definitions.Definition(o.Ref()) != nil {
		o.Action = preview.ActionCreate
		return
	}
	skips := !d.plan.Options.Strict && isOptional(d.plan, o)
	if d.applier != nil {
		action, _ := d.applier.Decide(o)
		skips = action == preview.ActionSkip
	}
	if preview.ReasonOf(err) == preview.ReasonNotServed && skips {
		o.Action = preview.ActionSkip
		return
	}
	o.Action = preview.ActionUnknown
	if preview.ReasonOf(err) == preview.ReasonNotServed {
		d.refused(o.ID, preview.ReasonNotServed, "API "+o.APIVersion+" "+o.Kind+" is not installed in the cluster")
		return
	}
	d.refused(o.ID, preview.ReasonOf(err), err.Error())
}

// goneKinds is the check for objects of the installed revision whose kind is gone.
type goneKinds struct{ noCheck }

func (goneKinds) findings(of *decidedPlan) []preview.Finding {
	var out []preview.Finding
	for i := range of.plan.Objects {
		if o := &of.plan.Objects[i]; o.GoneWithKind() {
			out = append(out, rules.KindGone.Finding(o.ID, rules.KindGone.Of(o.Label()),
				preview.Piece{Object: o.ID, What: fmt.Sprintf("the cluster serves no version of %s, and no CRD defines it", o.GroupKind())}))
		}
	}
	return out
}
