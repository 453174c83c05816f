package access

import "github.com/kubectl-operator/kubectl-operator/preview"

// Collecting returns the ids of the ClusterRoles that objects bring, bind and
// leave to the aggregation controller to fill: what they permit depends on every
// ClusterRole of the cluster.
func Collecting(objects []map[string]any) []string {
	roles := newRoleSet(Input{Objects: objects})
	seen := map[string]bool{}
	var ids []string
	for _, body := range objects {
		if !isBinding(body) {
			continue
		}
		for _, id := range roles.members(RoleOf(body).ID()) {
			if !seen[id] && preview.Map(roles.roles[id], "aggregationRule") != nil {
				seen[id] = true
				ids = append(ids, id)
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
	seen := idsOf(objects)
	var out []map[string]any
	for _, id := range ids {
		for _, member := range roles.members(id) {
			if !seen[member] {
				seen[member] = true
				out = append(out, roles.roles[member])
			}
		}
	}
	return out
}
