package access

import (
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Overlap reports whether two grants permit some request both; subjects and scopes are not
// compared. "*" stands for every verb, API group, resource or URL, and no
// names for every name (RBAC rules of rbac.authorization.k8s.io/v1).
func Overlap(a, b preview.Grant) bool {
	if !share(a.Verbs, b.Verbs) {
		return false
	}
	if share(a.NonResourceURLs, b.NonResourceURLs) {
		return true
	}
	return share(a.APIGroups, b.APIGroups) && share(a.Resources, b.Resources) &&
		(len(a.ResourceNames) == 0 || len(b.ResourceNames) == 0 || share(a.ResourceNames, b.ResourceNames))
}

func share(a, b []string) bool {
	return slices.Contains(a, "*") && len(b) > 0 || slices.Contains(b, "*") && len(a) > 0 ||
		slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}
