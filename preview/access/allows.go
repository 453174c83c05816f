package access

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Request is a question to the authorizer, as in a SubjectAccessReview. Resource
// is RESOURCE or RESOURCE/SUBRESOURCE; an empty Namespace means all namespaces, or
// a cluster-scoped resource. A request with a URL has only a verb besides.
type Request struct {
	Namespace, Verb, Group, Resource, Name string
	URL                                    string
}

// Allows reports whether grants, except removed ones, permit a request to a
// subject, directly or through the groups of a ServiceAccount. It decides as the
// RBAC authorizer does (kubernetes plugin/pkg/auth/authorizer/rbac and
// pkg/apis/rbac/v1/evaluation_helpers.go).
func Allows(grants []preview.Grant, subject preview.Subject, r Request) bool {
	return slices.ContainsFunc(grants, func(g preview.Grant) bool {
		return g.Change != preview.GrantRemoved && includesSubject(subject, g.Subject) && permits(g, r)
	})
}

// includesSubject reports whether a grant to one subject applies to another, such
// as a group to its members.
func includesSubject(who, granted preview.Subject) bool {
	if who == granted {
		return true
	}
	if who.Kind != preview.SubjectServiceAccount || granted.Kind != preview.SubjectGroup {
		return false
	}
	switch granted.Name {
	case groupAuthenticated, groupAccounts, groupAccounts + ":" + who.Namespace:
		return true
	}
	return false
}

func permits(g preview.Grant, r Request) bool {
	if !HasVerb(g, r.Verb) {
		return false
	}
	if r.URL != "" {
		return g.Scope == preview.ScopeCluster && slices.ContainsFunc(g.NonResourceURLs, func(pattern string) bool {
			prefix, wild := strings.CutSuffix(pattern, all)
			return pattern == r.URL || wild && strings.HasPrefix(r.URL, strings.TrimRight(prefix, all))
		})
	}
	if g.Scope == preview.ScopeNamespace && g.Namespace != r.Namespace {
		return false
	}
	return hasGroup(g, r.Group) && hasResource(g.Resources, r.Resource) &&
		(len(g.ResourceNames) == 0 || slices.Contains(g.ResourceNames, r.Name))
}
