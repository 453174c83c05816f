package engine

import (
	"context"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
)

// builtInWildcards returns what the wildcards in the plan's grants match, among the
// resources that every cluster serves and the plan's CRDs.
func builtInWildcards(p *preview.Plan) *preview.Wildcards {
	w := access.Expand(p.Access.Grants, access.BuiltInServed(), preview.PlannedBodies(p.Objects))
	if w != nil {
		w.Against, w.Version = preview.AgainstBuiltIn, access.BuiltInVersion
	}
	return w
}

// expandWildcards sets what the wildcards in the plan's grants match, among the
// resources that the cluster serves. If discovery fails, the plan says why.
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
