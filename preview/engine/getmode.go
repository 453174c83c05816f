package engine

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/defaulted"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// merge computes the results of updates without dry runs, from the live object and the
// managers of its fields. Of a create only the planned fields are known.
func (d dryRunner) merge(ctx context.Context, pending []int) error {
	d.Report("merging %d objects here: the cluster is only read", len(pending))
	pending = slices.DeleteFunc(slices.Clone(pending), func(i int) bool {
		action := d.plan.Objects[i].Action
		return action != preview.ActionUpdate && action != preview.ActionPatch
	})
	results, err := d.mergeAll(ctx, pending)
	if err != nil {
		return err
	}
	objects := make([]*preview.Object, 0, len(pending))
	for _, i := range pending {
		objects = append(objects, &d.plan.Objects[i])
	}
	definitions, err := Definitions(ctx, d.plan, objects, d.cluster)
	if err != nil {
		return err
	}
	for n, i := range pending {
		o, result := &d.plan.Objects[i], &results[n]
		for d.enterConflicts(o, result.Err) {
			item, err := d.item(o)
			if err != nil {
				return err
			}
			*result = d.mergeHere(ctx, o, item)
		}
		if result.Err == nil {
			if body := definitions.Defaulted(result.Body); body != nil {
				result.Body = body
			}
			continue
		}
		if err := d.decideFromRefusal(ctx, o, result.Err); err != nil {
			return err
		}
	}
	if err := d.decideFromResults(ctx, pending, results); err != nil {
		return err
	}
	d.secretKeys()
	return nil
}

// mergeAll merges objects, as many at a time as there are processors. The schemas of
// their API versions are read in parallel.
func (d dryRunner) mergeAll(ctx context.Context, pending []int) ([]preview.DryRunResult, error) {
	results := make([]preview.DryRunResult, len(pending))
	group, ctx := tasks.WithContext(ctx)
	group.SetLimit(max(maxMerges, runtime.GOMAXPROCS(0)))
	for n, i := range pending {
		group.Go(func() error {
			o := &d.plan.Objects[i]
			item, err := d.item(o)
			if err != nil {
				return err
			}
			results[n] = d.mergeHere(ctx, o, item)
			return ctx.Err()
		})
	}
	return results, group.Wait()
}

// mergeHere merges an object with its live one, and sets the defaults of built-in kinds.
func (d dryRunner) mergeHere(ctx context.Context, o *preview.Object, item preview.DryRun) preview.DryRunResult {
	result := d.cluster.Merge(ctx, o.LiveBody, item)
	if result.Err == nil && result.Body != nil {
		result.Body = defaulted.Completed(o.LiveBody, result.Body)
	}
	return result
}

// maxMerges is the most merges at a time where there are few processors: more than the
// API versions of most plans, because the first merge of each waits for its schemas.
const maxMerges = 8

// DryRunGate sends the dry runs for a plan that was made by reads alone (ReadGet). It
// returns the plan with them, and every reason why applying would differ from the plan.
// Nothing is persisted.
func DryRunGate(ctx context.Context, reviewed *preview.Plan, cluster Cluster, schemas Schemas) (now *preview.Plan, reasons []string, err error) {
	now, err = recheck(ctx, reviewed, preview.ReadDryRun, cluster, Options{Schemas: schemas})
	if err != nil {
		return nil, nil, err
	}
	unknown := map[string]bool{}
	for _, u := range reviewed.Unknowns {
		unknown[u.Object] = true
	}
	for _, u := range now.Unknowns {
		if !unknown[u.Object] {
			reasons = append(reasons, fmt.Sprintf("a dry run of %s was refused: %s", u.Object, u.Why))
		}
	}
	objects := reviewed.ObjectsByID()
	for i := range now.Objects {
		o := &now.Objects[i]
		was := objects[o.ID]
		if was == nil {
			reasons = append(reasons, o.ID+" is not part of the review")
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
	more, err := addedSince(ctx, reviewed, now, cluster)
	return now, append(reasons, more...), err
}

// addedSince returns what the dry runs of a plan add to the objects of the same plan made
// by reads alone, in addition to the defaults of the API server.
func addedSince(ctx context.Context, reviewed, now *preview.Plan, cluster Cluster) ([]string, error) {
	var objects []*preview.Object
	for i := range now.Objects {
		o := &now.Objects[i]
		if o.ResultBody != nil && o.Planned != nil && (o.Action == preview.ActionCreate || o.Action == preview.ActionUpdate) {
			objects = append(objects, o)
		}
	}
	definitions, err := Definitions(ctx, now, objects, cluster)
	if err != nil {
		return nil, err
	}
	was := reviewed.ObjectsByID()
	var reasons []string
	for _, o := range objects {
		shown := o.Planned
		if before := was[o.ID]; before != nil && before.ResultBody != nil {
			shown = before.ResultBody
		}
		if body := definitions.Defaulted(shown); body != nil {
			shown = body
		}
		for _, c := range defaulted.Unexplained(shown, o.ResultBody) {
			reasons = append(reasons, fmt.Sprintf("%s: admission of the cluster changes what was reviewed: %s", o.ID, changeText(c)))
		}
	}
	return reasons, nil
}

// sameEffect reports whether the action after a dry run agrees with that after a merge:
// an update may turn out to change nothing, because of defaulting. Unknown counts as
// agreement here, as its reason is reported elsewhere.
func sameEffect(reviewed, now preview.Action) bool {
	return reviewed == now || now == preview.ActionUnknown ||
		(reviewed == preview.ActionUpdate || reviewed == preview.ActionPatch) && now == preview.ActionUnchanged
}
