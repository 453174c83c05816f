package access

import (
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// CollectedInCluster is the reason why the rules of an aggregated ClusterRole are not
// known offline.
const CollectedInCluster = "its rules are collected from all ClusterRoles with a label, also from those of the cluster, which was not asked"

// AggregatingRoles returns the ids of the aggregated ClusterRoles among objects and
// existing that bindings among them name. What they permit depends on all ClusterRoles
// of the cluster.
func AggregatingRoles(objects, existing []map[string]any) []string {
	roles := newRoleSet(Input{Objects: objects, Existing: existing})
	given := idsOf(slices.Concat(objects, existing))
	w := newWalk()
	for _, list := range [][]map[string]any{objects, existing} {
		for _, body := range list {
			if isBinding(body) {
				w.from(roles, RoleOf(body).ID())
			}
		}
	}
	return slices.DeleteFunc(w.found, func(id string) bool {
		return !given[id] || preview.Map(roles.role(id), "aggregationRule") == nil
	})
}

// AggregatedRoles returns the ClusterRoles among existing whose rules the aggregation
// controller adds to the ClusterRoles with these ids. Roles in objects are left out.
func AggregatedRoles(ids []string, objects, existing []map[string]any) []map[string]any {
	roles := newRoleSet(Input{Objects: objects, Existing: existing})
	stored := idsOf(existing)
	for id := range idsOf(objects) {
		delete(stored, id)
	}
	return roles.with(ids, stored)
}

// with returns the given objects that are roles with these ids, or that these aggregate.
func (s *roleSet) with(ids []string, given map[string]bool) (out []map[string]any) {
	w := newWalk()
	for _, id := range ids {
		w.from(s, id)
	}
	for _, id := range w.found {
		if given[id] {
			out = append(out, s.role(id))
		}
	}
	return out
}

// Roles finds roles among objects, each with the roles that it aggregates.
type Roles struct {
	set   *roleSet
	given map[string]bool
	with  map[string][]map[string]any // what With returned, by id
}

// NewRoles returns the roles among objects. Of two with the same id the later one counts.
func NewRoles(objects []map[string]any) *Roles {
	return &Roles{set: newRoleSet(Input{Existing: objects}), given: idsOf(objects), with: map[string][]map[string]any{}}
}

// With returns a role, by its id, and those whose rules the aggregation controller adds to
// it, as far as they are among the objects.
func (r *Roles) With(id string) []map[string]any {
	if known, ok := r.with[id]; ok {
		return known
	}
	r.with[id] = r.set.with([]string{id}, r.given)
	return r.with[id]
}
