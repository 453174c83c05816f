package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// merge computes the results of updates without dry runs, from the live object and the
// managers of its fields. Of a create only the planned fields are known.
func (d dryRunner) merge(ctx context.Context, pending []int) error {
	d.Report("merging %d objects here: the cluster is only read", len(pending))
	for _, i := range pending {
		o := &d.plan.Objects[i]
		if o.Action != preview.ActionUpdate && o.Action != preview.ActionPatch {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		result := d.cluster.Merge(ctx, o.LiveBody, preview.DryRun{Body: o.Planned, Manager: o.Manager})
		for d.enterConflicts(o, result.Err) {
			result = d.cluster.Merge(ctx, o.LiveBody, preview.DryRun{Body: d.plan.Sent(o), Force: d.takesToShow(o), Manager: o.Manager})
		}
		var err error
		if result.Err != nil {
			err = d.decideFromRefusal(ctx, o, result.Err)
		} else {
			err = d.decideFromResult(o, result.Body)
		}
		if err != nil {
			return err
		}
	}
	d.secretKeys()
	return nil
}

// DryRunGate sends the dry runs for a plan that was made by reads alone (ReadGet). It
// returns every reason why applying would differ from the plan, and the permissions
// that the user lacks. Nothing is persisted.
func DryRunGate(ctx context.Context, reviewed *preview.Plan, cluster Cluster, schemas Schemas) (reasons []string, missing []preview.MissingRight, err error) {
	now, err := recheck(ctx, reviewed, preview.ReadDryRun, cluster, Options{Schemas: schemas})
	if err != nil {
		return nil, nil, err
	}
	for _, u := range now.Unknowns {
		if !hasUnknown(reviewed, u.Object) {
			reasons = append(reasons, fmt.Sprintf("a dry run of %s was refused: %s", u.Object, u.Why))
		}
	}
	objects := reviewed.ObjectsByID()
	for i := range now.Objects {
		o := &now.Objects[i]
		was := objects[o.ID]
		if was == nil {
			reasons = append(reasons, o.ID+" is not part of what was reviewed")
			continue
		}
		if !sameEffect(was.Action, o.Action) {
			reasons = append(reasons, fmt.Sprintf("%s was reviewed as %s, and a dry run makes it %s", o.ID, was.Action, o.Action))
		}
		for _, c := range o.Conflicts {
			if !slices.Contains(was.Conflicts, c) {
				reasons = append(reasons, fmt.Sprintf("%s: field manager %q owns %s", o.ID, c.Manager, c.Path))
			}
		}
	}
	return reasons, now.Access.Installer.Missing, nil
}

func hasUnknown(p *preview.Plan, object string) bool {
	for _, u := range p.Unknowns {
		if u.Object == object {
			return true
		}
	}
	return false
}

// sameEffect reports whether the action after a dry run agrees with that after a merge:
// an update may turn out to change nothing, because of defaulting. Unknown counts as
// agreement here, as its reason is reported elsewhere.
func sameEffect(reviewed, now preview.Action) bool {
	return reviewed == now || now == preview.ActionUnknown ||
		(reviewed == preview.ActionUpdate || reviewed == preview.ActionPatch) && now == preview.ActionUnchanged
}
