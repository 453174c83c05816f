package engine

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// tryElsewhere finds what the API server refuses in a namespace that the plan
// itself makes. Such an object has no dry run: its namespace is missing. So a copy
// of it is tried in a namespace that exists, as a dry run: nothing is persisted, no
// quota is used, and webhooks are asked as for any other dry run.
//
// Of the answer only one thing counts, that the object itself is invalid, which it
// is in every namespace then. What it would become there is not looked at: defaults,
// admission plugins, policies and webhooks may differ by namespace. So a valid
// object has the same Facts whether it was tried or not, and a reviewer who may not
// create anything there has the same digest as one who may.
//
// What this cannot see is what the namespace will refuse by rules of its own: its
// quotas, its Pod Security level, webhooks and policies that select it.
func (d dryRunner) tryElsewhere(ctx context.Context) error {
	var absent []int
	for i := range d.plan.Objects {
		if o := &d.plan.Objects[i]; d.comesWithNamespace(o) {
			absent = append(absent, i)
		}
	}
	taken, err := d.try(ctx, absent, func(o *preview.Object) string { return o.Name })
	if err != nil {
		return err
	}
	_, err = d.try(ctx, taken, func(o *preview.Object) string { return preview.TrialName(o.ID) })
	return err
}

// comesWithNamespace reports whether an object is created in a namespace that the
// plan creates, and its kind is served.
func (d dryRunner) comesWithNamespace(o *preview.Object) bool {
	return o.Action == preview.ActionCreate && o.Namespace != "" && !d.namespaces[o.Namespace] && d.served[o.APIVersion+"/"+o.Kind] == nil
}

// try dry-runs copies of objects in another namespace, and returns the objects
// whose name is taken there.
func (d dryRunner) try(ctx context.Context, objects []int, name func(*preview.Object) string) (taken []int, err error) {
	for some := range slices.Chunk(objects, dryRunsAtOnce) {
		items := make([]preview.DryRun, 0, len(some))
		for _, i := range some {
			o := &d.plan.Objects[i]
			body := preview.CloneBody(o.Planned)
			meta := preview.Map(body, "metadata")
			meta["name"], meta["namespace"] = name(o), preview.TrialNamespace
			items = append(items, preview.DryRun{Body: body, Manager: o.Manager})
		}
		for n, result := range d.cluster.DryRun(ctx, items) {
			if preview.ReasonOf(result.Err) == preview.ReasonChanged {
				taken = append(taken, some[n])
			} else if result.Err != nil {
				d.readTrialRefusal(&d.plan.Objects[some[n]], result.Err)
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return taken, nil
}

// readTrialRefusal reads the error of a copy's dry run. Errors about the namespace
// are ignored, because it is another one.
func (d dryRunner) readTrialRefusal(o *preview.Object, err error) {
	var refusal *preview.Refusal
	if !errors.As(err, &refusal) {
		refusal = &preview.Refusal{Message: err.Error()}
	}
	switch invalid := refusal.Reason == preview.ReasonInvalid || refusal.Reason == preview.ReasonNotAppliable; {
	case refusal.Reason == preview.ReasonNotAppliable && d.schemas.Check(o.Planned) != nil: // the finding says so, with the field
	case invalid && !strings.Contains(refusal.Message, "amespace"):
		o.Action = preview.ActionUnknown
		d.unknown(o.ID, preview.Shorten(refusal.Error(), 500))
	default:
		o.Untried = preview.Shorten(refusal.Error(), 300)
	}
}
