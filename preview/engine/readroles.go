package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
)

// maxHeld bounds how many bindings of the cluster a plan records.
const maxHeld = 1000

// readRoles reads what the cluster holds besides the plan and grants rest on:
// bindings to the plan's accounts and roles, the roles that bindings name and
// the plan does not bring, and the ClusterRoles that aggregated ones collect.
func (d *decider) readRoles(ctx context.Context) error {
	objects := slices.Concat(preview.SealedBodies(d.plan.Objects), installedBodies(d.plan))
	if len(d.plan.Packages) == 0 || !access.Touches(objects) {
		return nil
	}
	d.Tell("reading the roles and bindings of the cluster")
	roles, mayList, err := d.listRBAC(ctx, "ClusterRole")
	if err != nil {
		return err
	}
	bindings, err := d.listBindings(ctx)
	if err != nil {
		return err
	}
	held := d.readHeld(objects, bindings, roles)
	sealed := preview.SealedBodies(d.plan.Objects)
	named := access.RoleRefs(slices.Concat(sealed, held))
	// A role that the plan takes away is no more.
	own := d.plan.ObjectsByID()
	named = slices.DeleteFunc(named, func(ref preview.Ref) bool { return own[ref.ID()] != nil })
	read, err := d.readNamed(ctx, named)
	if err != nil {
		return err
	}
	ids := access.Collecting(sealed, slices.Concat(held, read))
	if len(ids) > 0 && !mayList {
		d.cannotCollect(ids, "which ClusterRoles it collects may not be read")
	} else {
		for _, body := range access.Collected(ids, sealed, d.Others(roles)) {
			d.addRead(preview.RefOf(body).ID(), body)
		}
	}
	return d.readWays(ctx, bindings, roles)
}

// readNamed reads roles by their names.
func (d *decider) readNamed(ctx context.Context, refs []preview.Ref) (bodies []map[string]any, err error) {
	for i, r := range d.cluster.Read(ctx, refs) {
		id := refs[i].ID()
		switch {
		case r.Err == nil && r.Body != nil:
			d.addRead(id, r.Body)
			bodies = append(bodies, r.Body)
		case r.Err == nil:
			d.plan.Reads = append(d.plan.Reads, preview.Read{ID: id})
		case preview.ReasonOf(r.Err) == preview.ReasonForbidden:
			d.unknown(id, "forbidden")
		default:
			return nil, fmt.Errorf("reading %s: %w", id, r.Err)
		}
	}
	return bodies, nil
}

// listBindings lists the bindings of the cluster, as many as the user may.
func (d *decider) listBindings(ctx context.Context) ([]map[string]any, error) {
	bindings, allowed, err := d.listRBAC(ctx, "ClusterRoleBinding")
	if err != nil {
		return nil, err
	}
	if !allowed {
		d.unknown(kindID("ClusterRoleBinding"), access.HeldUnknown+"forbidden")
	}
	list, allowed, err := d.listRBAC(ctx, "RoleBinding")
	if err != nil {
		return nil, err
	}
	if !allowed {
		if list, err = d.listLocalBindings(ctx); err != nil {
			return nil, err
		}
	}
	return append(bindings, list...), nil
}

// maxLocal bounds in how many namespaces RoleBindings are listed one by one.
const maxLocal = 50

// listLocalBindings lists the RoleBindings of the namespaces that the plan
// touches, where those of the whole cluster may not be listed. Those of other
// namespaces may give its accounts something too, so the plan says which were
// seen and is not complete.
func (d *decider) listLocalBindings(ctx context.Context) ([]map[string]any, error) {
	var bindings []map[string]any
	var seen, forbidden []string
	for _, namespace := range slices.Sorted(maps.Keys(d.namespaces)) {
		if !d.namespaces[namespace] || len(seen)+len(forbidden) == maxLocal {
			continue
		}
		list, err := d.cluster.List(ctx, access.APIVersion, "RoleBinding", namespace, "")
		switch {
		case err != nil && preview.Answered(err):
			forbidden = append(forbidden, namespace)
			continue
		case err != nil:
			return nil, fmt.Errorf("listing the RoleBindings of namespace %s: %w", namespace, err)
		}
		seen = append(seen, namespace)
		bindings = append(bindings, list...)
	}
	why := "forbidden"
	if len(seen) > 0 {
		why += "; seen were only those of namespace " + strings.Join(seen, ", ")
		if len(forbidden) > 0 {
			why += ", and not those of " + strings.Join(forbidden, ", ")
		}
	}
	d.unknown(kindID("RoleBinding"), access.HeldUnknown+why)
	return bindings, nil
}

// readHeld records the bindings of the cluster that matter to the plan.
func (d *decider) readHeld(objects, bindings, roles []map[string]any) []map[string]any {
	held := access.Held(objects, d.Others(bindings), d.Others(roles))
	slices.SortFunc(held, func(a, b map[string]any) int {
		return strings.Compare(preview.RefOf(a).ID(), preview.RefOf(b).ID())
	})
	if len(held) > maxHeld {
		d.unknown(kindID("ClusterRoleBinding"), fmt.Sprintf("what the cluster already gives the plan's accounts: of %d bindings the first %d were read", len(held), maxHeld))
		held = held[:maxHeld]
	}
	for _, body := range held {
		d.addRead(preview.RefOf(body).ID(), body)
	}
	return held
}

// kindID stands for all objects of a kind in the list of what is not known.
func kindID(kind string) string {
	return preview.Ref{APIVersion: access.APIVersion, Kind: kind, Name: "*"}.ID()
}
