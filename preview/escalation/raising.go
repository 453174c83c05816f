package escalation

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
)

// maxFar is the most bindings of other namespaces that are judged one by one.
const maxFar = 64

// Raising returns those of the bindings of other namespaces, far, with which an account of
// the plan controls the cluster, and does not without them. Tenants of these namespaces
// write such bindings for all accounts, so a plan depends on no other of them: it would be
// stale at each of their writes. in.Grants are the plan's without far. Nothing is recorded.
func Raising(ctx context.Context, to Recorder, in Input, far []map[string]any) ([]map[string]any, error) {
	w := &pathFinder{Recorder: to, plan: to.Plan(), own: in.Grants}
	w.from = plannedAccounts(w.plan)
	if len(far) == 0 || len(w.from) == 0 {
		return nil, nil
	}
	roles, err := w.readRoles(ctx, far)
	if err != nil {
		return nil, err
	}
	w.in = access.Input{
		Objects:  preview.PlannedBodies(w.plan.Objects),
		Existing: slices.Concat(w.ExcludePlanned(in.Bindings), w.ExcludePlanned(in.Roles), roles), Accounts: in.Installed,
	}
	w.others, _ = access.ClusterGrants(w.in)
	without := w.controlling(nil, nil)
	raises := func(of []map[string]any) bool {
		return slices.ContainsFunc(w.controlling(of, roles), func(s preview.Subject) bool { return !slices.Contains(without, s) })
	}
	if !raises(far) {
		return nil, nil
	}
	if len(far) > maxFar {
		return far, nil
	}
	alone := slices.DeleteFunc(slices.Clone(far), func(b map[string]any) bool { return !raises([]map[string]any{b}) })
	if len(alone) == 0 { // only several of them together do
		return far, nil
	}
	return alone, nil
}

// controlling returns the accounts of the plan that control the cluster with the rights
// of the bindings far to these roles added to those of the plan. Accounts that other bindings name are
// taken to exist.
func (w *pathFinder) controlling(far, roles []map[string]any) []preview.Subject {
	own := slices.Clone(w.own)
	for _, g := range access.Compute(access.Input{Objects: w.in.Objects, Existing: slices.Concat(roles, far)}) {
		if g.Held {
			own = append(own, g)
		}
	}
	graph := access.NewAccountGraph(access.GraphInput{
		Grants: own, ClusterGrants: w.others, ExistingAccounts: access.ActingAccounts(w.others), Roles: w.in,
	})
	return slices.DeleteFunc(slices.Clone(w.from), func(s preview.Subject) bool { return !graph.Amount(s).Extent.Severe() })
}

// readRoles returns the roles that bindings of other namespaces name. One that may not be
// read gives nothing: the user may not read what the finding would say.
func (w *pathFinder) readRoles(ctx context.Context, far []map[string]any) ([]map[string]any, error) {
	var out []map[string]any
	for _, r := range w.Read(ctx, access.RoleRefs(far)) {
		switch {
		case r.Err != nil && !preview.Answered(r.Err):
			return nil, fmt.Errorf("reading %s: %w", r.Ref.ID(), r.Err)
		case r.Err == nil && r.Body != nil:
			out = append(out, r.Body)
		}
	}
	return out, nil
}
