// Package resuming finds the interrupted run of an approved digest, for whatever applies
// plans: the command line, and the plugin of piped.
package resuming

import (
	"context"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

// Finder finds interrupted runs in one cluster.
type Finder struct {
	Cluster install.PlanningCluster
	Schemas engine.Schemas
	// Judge judges findings by the user's own policy.
	Judge func(*preview.Plan, error) (*preview.Plan, error)
	// DropLease deletes the Lease that a run left behind when it was killed after it
	// had recorded how it ended.
	DropLease func(ctx context.Context, release preview.Release)
}

// Plan returns the plan that resumes an interrupted run of the approved digest, nil if
// there is none: the fresh plan is then compared with the digest as usual.
func (f Finder) Plan(ctx context.Context, fresh *preview.Plan, digest string) (*preview.Plan, error) {
	resumed, err := f.unfinishedPlan(ctx, fresh, digest)
	if err == nil && resumed == nil {
		resumed, err = f.restartedPlan(ctx, fresh, digest)
	}
	return resumed, err
}

// RefuseRepeat returns an error if the approved digest was applied already, or
// failed and was rolled back, and deletes the Lease that such a run may have left.
// It returns nil for any other digest.
func (f Finder) RefuseRepeat(ctx context.Context, newest *record.Record, digest string) error {
	why := newest.Spent(digest)
	if why == "" {
		return nil
	}
	f.DropLease(ctx, newest.Release)
	return planning.Refuse(why, "preview again to see what would change now")
}

// unfinishedPlan returns the recorded plan of an interrupted run of the approved
// digest, nil if there is none. Applying it resumes the run, or its rollback.
func (f Finder) unfinishedPlan(ctx context.Context, fresh *preview.Plan, digest string) (*preview.Plan, error) {
	stored, err := record.Load(ctx, f.Cluster, fresh.Release)
	if err != nil || stored == nil {
		return nil, err
	}
	if !stored.State.Unfinished() {
		return nil, f.RefuseRepeat(ctx, stored, digest)
	}
	if stored.Undoes != nil {
		stored, err = record.LoadRevision(ctx, f.Cluster, fresh.Release, stored.Undoes.Revision)
	}
	if err != nil || stored == nil || stored.Digest != digest {
		return nil, err
	}
	sealed := map[string]map[string]any{}
	for i := range fresh.Objects {
		sealed[fresh.Objects[i].ID] = fresh.Objects[i].Planned
	}
	plan, err := record.LoadPlan(ctx, f.Cluster, stored, sealed)
	if err != nil {
		return nil, err
	}
	// Judged as when it was recorded; what counts is today's policy.
	plan.Findings, plan.Policy = preview.WithoutPolicy(plan.Findings), nil
	return plan, nil
}

// restartedPlan returns the approved plan if an interrupted run of it created
// the release Namespace and nothing else, nil otherwise. A plan on the present
// cluster would have another digest.
func (f Finder) restartedPlan(ctx context.Context, fresh *preview.Plan, digest string) (*preview.Plan, error) {
	before, err := install.BeforeNamespace(ctx, f.Cluster, fresh.Release)
	if err != nil || before == nil {
		return nil, err
	}
	p, err := f.Judge(engine.Recheck(ctx, fresh, before, f.Schemas))
	if err != nil || p.Digest != digest {
		return nil, err
	}
	return p, nil
}
