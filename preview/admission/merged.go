package admission

import (
	"context"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Merger merges an object into the live one as server-side apply does.
type Merger interface {
	Merge(ctx context.Context, live map[string]any, item preview.DryRun) preview.DryRunResult
}

// ComputeMerged sets the computed result of existing objects whose dry run was refused
// or not sent: the live object with the fields that are sent. The planned object has
// none of the API server's defaults, and next to the live one they would look like
// fields that the plan removes. Where merging fails, nothing is computed.
func ComputeMerged(ctx context.Context, p *preview.Plan, cluster Merger) {
	for i := range p.Objects {
		o := &p.Objects[i]
		switch o.Action {
		case preview.ActionBlocked, preview.ActionUnknown, preview.ActionReplace, preview.ActionUpdate, preview.ActionAdopt:
		default:
			continue
		}
		if o.ResultBody != nil || o.Computed != nil || o.LiveBody == nil || o.Planned == nil || ctx.Err() != nil {
			continue
		}
		if result := cluster.Merge(ctx, o.LiveBody, preview.DryRun{Body: o.Planned, Force: true, Manager: o.Manager}); result.Err == nil {
			o.Computed = result.Body
		}
	}
}
