package access

import (
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Collecting returns the ids of those ClusterRoles among objects and existing
// that bindings among them lead to and that the aggregation controller fills:
// what they permit depends on every ClusterRole of the cluster.
func Collecting(objects, existing []map[string]any) []string {
	roles := newRoleSet(Input{Objects: objects, Existing: existing})
	given := idsOf(slices.Concat(objects, existing))
	seen := map[string]bool{}
	var ids []string
	for _, list := range [][]map[string]any{objects, existing} {
		for _, body := range list {
			if !isBinding(body) {
				continue
			}
			for _, id := range roles.members(RoleOf(body).ID()) {
				if !seen[id] && given[id] && preview.Map(roles.roles[id], "aggregationRule") != nil {
					seen[id] = true
					ids = append(ids, id)
				}
			}
		}
	}
	return ids
}

// Collected returns those of existing, ClusterRoles of the cluster, whose rules
// the aggregation controller adds to the ClusterRoles with these ids. Roles that
// objects bring are not among them.
func Collected(ids []string, objects, existing []map[string]any) []map[string]any {
	roles := newRoleSet(Input{Objects: objects, Existing: existing})
	stored := idsOf(existing)
	seen := idsOf(objects)
	var out []map[string]any
	for _, id := range ids {
		for _, member := range roles.members(id) {
			if !seen[member] && stored[member] {
				seen[member] = true
				out = append(out, roles.roles[member])
			}
		}
	}
	return out
}
