package preview

import "slices"

// ServedResource is a resource or subresource that an API server serves, named as in
// RBAC: "pods", "pods/log". Verbs are sorted.
type ServedResource struct {
	Group      string   `json:"group"`
	Resource   string   `json:"resource"`
	Namespaced bool     `json:"namespaced"`
	Verbs      []string `json:"verbs"`
}

// Discovery lists the resources that an API server serves. Unanswered are the API
// versions, as GROUP/VERSION, whose aggregated API server did not answer.
type Discovery struct {
	Served     []ServedResource
	Unanswered []string
}

// The resources that wildcards are matched against ([Wildcards.Against]).
const (
	AgainstCluster = "cluster"  // those that the cluster serves, and of the plan's CRDs
	AgainstBuiltIn = "built-in" // from Kubernetes itself, and from the plan's CRDs
)

// Wildcards lists the resources that RBAC rules with wildcards match. It is no fact: a
// CRD that is added to the cluster widens a wildcard and makes no plan stale. For a
// loaded plan it is computed again, against the built-in kinds.
type Wildcards struct {
	// Against is cluster or built-in: the resources that wildcards were
	// expanded against.
	Against string `json:"against"`
	// Version is the Kubernetes release whose kinds are meant by built-in.
	Version string `json:"version,omitempty"`
	// Why says why the cluster could not be asked; empty if it was.
	Why string `json:"why,omitempty"`
	// Unanswered lists API versions that the cluster has and whose resources it could
	// not list: they are missing in meanings.
	Unanswered []string `json:"unanswered,omitempty"`
	// Meanings lists the expansion of each rule with a wildcard.
	Meanings []WildcardExpansion `json:"meanings"`
	// More counts the rules with wildcards beyond those listed.
	More int `json:"more,omitempty"`
}

// WildcardExpansion lists the resources that one RBAC rule with a wildcard matches.
// Scope, API groups, resources and verbs come from the rule's grants.
type WildcardExpansion struct {
	// Scope of the grants: cluster or namespace.
	Scope string `json:"scope"`
	// APIGroups of the rule as written.
	APIGroups []string `json:"apiGroups"`
	// Resources of the rule as written.
	Resources []string `json:"resources"`
	// Verbs of the rule as written.
	Verbs []string `json:"verbs"`
	// Count is the number of resources and sub-resources matched.
	Count int `json:"count"`
	// Dangerous lists resources that lead to more access, the worst first.
	Dangerous []ResourceAccess `json:"dangerous"`
	// Others lists the remaining matched resources, sorted.
	Others []ResourceAccess `json:"others"`
	// More counts the matched resources beyond those listed.
	More int `json:"more,omitempty"`
	// NotServed are resources the rule names and the cluster does not serve.
	NotServed []string `json:"notServed,omitempty"`
}

// ResourceAccess is a resource, as RESOURCE[/SUBRESOURCE] or RESOURCE.GROUP[/SUBRESOURCE],
// and what may be done with it.
type ResourceAccess struct {
	// Resource as RBAC names it, with its group: RESOURCE.GROUP/SUBRESOURCE.
	Resource string `json:"resource"`
	// Verbs that the rule permits on the resource.
	Verbs []string `json:"verbs"`
}

// Expansion returns what the wildcards of a grant match; nil if it has none, is
// removed, or is beyond the limit of the list.
func (w *Wildcards) Expansion(g Grant) *WildcardExpansion {
	if w == nil || g.Change == GrantRemoved {
		return nil
	}
	for i := range w.Meanings {
		m := &w.Meanings[i]
		if m.Scope == g.Scope && slices.Equal(m.APIGroups, g.APIGroups) && slices.Equal(m.Resources, g.Resources) &&
			slices.Equal(m.Verbs, g.Verbs) {
			return m
		}
	}
	return nil
}
