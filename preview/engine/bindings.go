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
	return isBinding(o) && d.planned[access.RoleOf(o.Planned).ID()] != nil
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

// mergeOwnBinding returns the result of an update of a binding to a role of the plan by
// merging it with the live binding, because the API server refuses its dry run while the
// role is not stored. For a create there is none: defaults and admission are not known.
func (d dryRunner) mergeOwnBinding(ctx context.Context, o *preview.Object) preview.DryRunResult {
	if o.LiveBody == nil {
		return preview.DryRunResult{}
	}
	item := preview.DryRun{Body: d.plan.Sent(o)}
	if d.applier != nil {
		var err error
		if item, err = d.item(o); err != nil {
			return preview.DryRunResult{Err: err}
		}
	}
	item.Force = d.plan.Takes(o)
	return d.mergeHere(ctx, o, item)
}

// decideBindings records for each binding the right that the user lacks to write it. As
// the API server does, it asks for the verb bind on the role, of all bindings at once, or
// else for all permissions that the role has after the plan.
func (d rights) decideBindings(ctx context.Context) error {
	var bindings []*preview.Object
	var binds []preview.Right
	for i := range d.plan.Objects {
		if o := &d.plan.Objects[i]; endsInApply(o.Action) && isBinding(o) {
			bindings, binds = append(bindings, o), append(binds, rightToBind(o))
		}
	}
	lacking, err := d.filterMissing(ctx, binds)
	if err != nil || len(lacking) == 0 {
		return err
	}
	unbound := map[preview.Right]bool{}
	for _, r := range lacking {
		unbound[r] = true
	}
	roles := access.NewRoles(slices.Concat(d.plan.ReadBodies(), preview.PlannedBodies(d.plan.Objects)))
	held := map[*preview.Object][]preview.Right{}
	var all []preview.Right
	for i, o := range bindings {
		if unbound[binds[i]] {
			held[o] = d.heldRights(roles.With(access.RoleOf(o.Planned).ID()), o.Namespace)
			all = append(all, held[o]...)
		}
	}
	if lacking, err = d.filterMissing(ctx, all); err != nil {
		return err
	}
	lacked := map[preview.Right]bool{}
	for _, r := range lacking {
		lacked[r] = true
	}
	for _, o := range bindings {
		if rest := slices.DeleteFunc(held[o], func(r preview.Right) bool { return !lacked[r] }); len(rest) > 0 {
			d.refuseBinding(o, rest)
		}
	}
	return nil
}

// rightToBind returns the right to bind the role of a binding, whatever the role gives.
func rightToBind(o *preview.Object) preview.Right {
	to := access.RoleOf(o.Planned)
	bind := preview.Right{Verb: "bind", Group: rbacAPIGroup, Resource: "clusterroles", Namespace: o.Namespace, Name: to.Name}
	if to.Is(preview.KindRole) {
		bind.Resource = "roles"
	}
	return bind
}

// endsInApply reports whether an action applies the planned object.
func endsInApply(a preview.Action) bool {
	switch a {
	case preview.ActionCreate, preview.ActionUpdate, preview.ActionReplace, preview.ActionAdopt:
		return true
	}
	return false
}

// refuseBinding decides about a binding whose writer may not bind its role, and lacks
// these rights of it.
func (d rights) refuseBinding(o *preview.Object, lacking []preview.Right) {
	d.missingOfRole(access.RoleOf(o.Planned), lacking)
	d.missing(rightToBind(o), o.ID+" gives what you do not hold yourself")
	o.Action, o.Result, o.ResultBody = preview.ActionUnknown, "", nil
	d.refused(o.ID, preview.ReasonForbidden, "forbidden")
}
