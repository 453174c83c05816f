package engine

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
)

// isBinding reports whether an object is a RoleBinding or ClusterRoleBinding that
// is applied.
func isBinding(o *preview.Object) bool {
	return o.Planned != nil && o.Is(preview.KindRoleBinding, preview.KindClusterRoleBinding)
}

// bindsOwnRole reports whether an object binds a role of the plan. The result of its
// dry run depends on the user, because the API server checks the stored role, if any,
// and only for users without the verb bind. So the result is not a fact, and reviewer
// and deployer get the same plan.
func (d dryRunner) bindsOwnRole(o *preview.Object) bool {
	return isBinding(o) && d.plan.Object(access.RoleOf(o.Planned).ID()) != nil
}

// bindsAnother reports whether a live binding refers to another role than the
// planned one. The roleRef is immutable (kubernetes pkg/apis/rbac/validation,
// "cannot change roleRef").
func bindsAnother(o *preview.Object) bool {
	return o.LiveBody != nil && access.RoleOf(o.LiveBody) != access.RoleOf(o.Planned)
}

// escalationRefusal is the start of the API server's message when a role or
// binding gives more than its writer has.
const escalationRefusal = "is attempting to grant RBAC permissions not currently held"

// escalates reports whether the API server refused a binding because the user lacks
// permissions of its role, or the role does not exist. It checks this last, so nothing
// else is wrong.
func escalates(err error) bool {
	refusal, ok := errors.AsType[*preview.Refusal](err)
	return ok && (refusal.Reason == preview.ReasonRoleMissing || refusal.Reason == preview.ReasonForbidden && strings.Contains(refusal.Message, escalationRefusal))
}

// decideOwnBinding decides an update of a binding to a role of the plan by merging it
// with the live binding, because the API server refuses its dry run while the role is
// not stored. For a create, nothing is computed: defaults and admission are not known.
func (d dryRunner) decideOwnBinding(ctx context.Context, o *preview.Object) error {
	if o.LiveBody == nil {
		return nil
	}
	result := d.cluster.Merge(ctx, o.LiveBody, preview.DryRun{Body: d.plan.Sent(o), Force: d.plan.Takes(o)})
	if result.Err != nil {
		return d.decideFromRefusal(ctx, o, result.Err)
	}
	return d.decideFromResult(o, result.Body)
}

// decideBindings records for each binding the right that the user lacks to write it. As
// the API server does, it asks for the verb bind on the role, or else for all
// permissions that the role has after the plan.
func (d rights) decideBindings(ctx context.Context) error {
	for i := range d.plan.Objects {
		o := &d.plan.Objects[i]
		if !endsInApply(o.Action) || !isBinding(o) {
			continue
		}
		if err := d.decideBinding(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// endsInApply reports whether an action applies the planned object.
func endsInApply(a preview.Action) bool {
	switch a {
	case preview.ActionCreate, preview.ActionUpdate, preview.ActionReplace, preview.ActionAdopt:
		return true
	}
	return false
}

func (d rights) decideBinding(ctx context.Context, o *preview.Object) error {
	to := access.RoleOf(o.Planned)
	bind := preview.Right{Verb: "bind", Group: rbacAPIGroup, Resource: "clusterroles", Namespace: o.Namespace, Name: to.Name}
	if to.Is(preview.KindRole) {
		bind.Resource = "roles"
	}
	lacking, err := d.filterMissing(ctx, []preview.Right{bind})
	if err != nil || len(lacking) == 0 {
		return err
	}
	lacks, err := d.missingForRole(ctx, to, d.rolesOfBinding(to), o.Namespace)
	if err != nil || !lacks {
		return err
	}
	d.missing(bind, o.ID+" gives what you do not hold yourself")
	o.Action, o.Result, o.ResultBody = preview.ActionUnknown, "", nil
	d.refused(o.ID, preview.ReasonForbidden, "forbidden")
	return nil
}

// rolesOfBinding returns the binding's role as the plan leaves it, and the roles
// that it aggregates.
func (d rights) rolesOfBinding(to preview.Ref) []map[string]any {
	sealed, read := preview.PlannedBodies(d.plan.Objects), d.plan.ReadBodies()
	all := slices.Concat(read, sealed)
	var out []map[string]any
	for _, body := range all {
		if preview.RefOf(body).ID() == to.ID() {
			out = append(out, body)
		}
	}
	return append(out, access.AggregatedRoles([]string{to.ID()}, nil, all)...)
}
