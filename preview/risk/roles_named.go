package risk

import (
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
)

// roleBound returns the level of the verb bind. With resourceNames it is the level of the
// worst of the named ClusterRoles, High for roles that are not known, and Critical
// without names or with many.
func roleBound(c *scan, g preview.Grant, part shape) Level {
	if len(g.ResourceNames) == 0 || len(g.ResourceNames) > manyNames || !part.has("clusterroles") && g.Scope == preview.ScopeCluster {
		return Critical
	}
	if c.roles == nil {
		c.roles = c.judgeRoles()
	}
	worst := None
	for _, name := range g.ResourceNames {
		level, known := c.roles[name]
		if !known {
			level = High // a role of the cluster, or one to come
		}
		worst = max(worst, level)
	}
	return worst
}

// judgeRoles returns, for each ClusterRole that the plan brings, that was read or that
// is built in, the highest level of its rules if it is bound in the whole cluster.
func (c *scan) judgeRoles() map[string]Level {
	c.roles = map[string]Level{} // roles that bind roles are not followed
	var bodies []map[string]any
	for i := range c.plan.Objects {
		if o := &c.plan.Objects[i]; o.Planned != nil && o.Is(preview.KindClusterRole) {
			bodies = append(bodies, o.Planned)
		}
	}
	for _, list := range c.around.reads {
		for _, body := range list {
			if preview.IsKind(body, preview.KindClusterRole) {
				bodies = append(bodies, body)
			}
		}
	}
	bodies = slices.Concat(access.BuiltIn(), bodies)
	levels := map[string]Level{}
	var bindings []map[string]any
	for _, body := range bodies {
		name := preview.RefOf(body).Name
		if _, known := levels[name]; known {
			continue
		}
		levels[name] = Notice
		bindings = append(bindings, bindingTo(name))
	}
	for _, g := range access.Compute(access.Input{Objects: slices.Concat(bodies, bindings)}) {
		for _, m := range c.matchGrant(g) {
			levels[g.Subject.Name] = max(levels[g.Subject.Name], m.level)
		}
	}
	return levels
}

// bindingTo returns a ClusterRoleBinding of a ClusterRole to a user with the role's
// name.
func bindingTo(role string) map[string]any {
	return map[string]any{
		"apiVersion": access.APIVersion, "kind": "ClusterRoleBinding", "metadata": map[string]any{"name": role},
		"roleRef":  map[string]any{"apiGroup": rbac, "kind": "ClusterRole", "name": role},
		"subjects": []any{map[string]any{"apiGroup": rbac, "kind": "User", "name": role}},
	}
}

// tokenSecrets returns the names of Secrets of type kubernetes.io/service-account-token
// in the plan and in the cluster, by namespace.
func (c *scan) tokenSecrets() map[string][]string {
	out := map[string][]string{}
	add := func(body map[string]any) {
		if preview.IsKind(body, preview.KindSecret) && preview.String(body, "type") == "kubernetes.io/service-account-token" {
			namespace := preview.String(body, "metadata", "namespace")
			out[namespace] = append(out[namespace], preview.String(body, "metadata", "name"))
		}
	}
	for i := range c.plan.Objects {
		add(c.plan.Objects[i].Planned)
	}
	for _, list := range c.around.reads {
		for _, body := range list {
			add(body)
		}
	}
	return out
}
