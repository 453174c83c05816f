package access

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Request is a request that RBAC is asked about, as in a SubjectAccessReview. Resource
// is RESOURCE or RESOURCE/SUBRESOURCE; an empty Namespace means all namespaces, or a
// cluster-scoped resource. With URL, only Verb is set besides.
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

// includesSubject reports whether a grant to the subject granted applies to who: it is
// the same subject, or a group of the ServiceAccount.
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
