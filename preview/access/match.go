package access

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Reaches reports whether a grant permits a verb on a resource of an API group,
// whatever its resourceNames and scope. It matches as the RBAC authorizer does: "*" as
// resource includes subresources, "*/SUB" includes SUB of every resource, and "pods/*"
// has no special meaning.
func Reaches(g preview.Grant, group, resource, verb string) bool {
	return hasGroup(g, group) && hasResource(g.Resources, resource) && HasVerb(g, verb)
}

// HasVerb reports whether a grant has a verb or "*".
func HasVerb(g preview.Grant, verb string) bool {
	return slices.Contains(g.Verbs, verb) || slices.Contains(g.Verbs, all)
}

func hasGroup(g preview.Grant, group string) bool {
	return slices.Contains(g.APIGroups, group) || slices.Contains(g.APIGroups, all)
}

func hasResource(resources []string, resource string) bool {
	if slices.Contains(resources, resource) || slices.Contains(resources, all) {
		return true
	}
	_, sub, ok := strings.Cut(resource, "/")
	return ok && slices.Contains(resources, "*/"+sub)
}
