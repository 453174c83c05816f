package engine

import (
	"context"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
)

// builtInWildcards says what wildcards reach of what every cluster serves and
// of what the plan's own definitions add.
func builtInWildcards(p *preview.Plan) *preview.Wildcards {
	w := access.Expand(p.Access.Grants, access.BuiltInServed(), preview.PlannedBodies(p.Objects))
	if w != nil {
		w.Against, w.Version = preview.AgainstBuiltIn, access.BuiltInVersion
	}
	return w
}

// expandWildcards puts what the cluster serves in the place of what is built
// in. A cluster that does not tell is no reason not to plan: the view says so.
func expandWildcards(ctx context.Context, p *preview.Plan, cluster Server) error {
	if p.Access.Wildcards == nil {
		return nil
	}
	found, err := cluster.Served(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		p.Access.Wildcards.Why = preview.Shorten(err.Error(), 300)
		return nil
	}
	w := access.Expand(p.Access.Grants, found.Served, preview.PlannedBodies(p.Objects))
	w.Against, w.Unanswered = preview.AgainstCluster, slices.Clone(found.Unanswered)
	p.Access.Wildcards = w
	return nil
}
