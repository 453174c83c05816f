package access

import (
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// rest returns the extent of an account that reaches none of the higher ones.
func (s *search) rest(from preview.Subject) Extent {
	for namespace := range s.admin {
		if namespace != from.Namespace {
			return Namespaces
		}
	}
	out := higher(s.plainRights(), s.plainWithGroups(from))
	if len(s.admin) > 0 {
		return higher(out, OwnNamespace)
	}
	return out
}

// plainRights returns the highest extent of a single grant among all that the search has
// gained. Of the account that it began with, whose search others share, it counts only
// if those act as it.
func (s *search) plainRights() Extent {
	if s.plain != "" {
		return s.plain
	}
	s.plain = Nothing
	for i, o := range s.origins {
		for _, g := range o.rules {
			s.plain = higher(s.plain, plainExtent(g))
		}
		if i > 0 || s.admin[""] || s.admin[o.subject.Namespace] {
			s.plain = higher(s.plain, s.plainWithGroups(o.subject))
		}
		if s.plain == ClusterWrites {
			break // no grant alone has a higher one
		}
	}
	return s.plain
}

// plainWithGroups returns the highest extent of a single grant of a subject and its
// groups.
func (n *AccountGraph) plainWithGroups(subject preview.Subject) Extent {
	out := n.plainOf(subject)
	of := preview.Subject{Kind: subject.Kind, Namespace: subject.Namespace}
	ofGroups, known := n.plainGroups[of]
	if !known {
		ofGroups = Nothing
		for _, group := range groupsOfAccount(subject) {
			ofGroups = higher(ofGroups, n.plainOf(group))
		}
		n.plainGroups[of] = ofGroups
	}
	return higher(out, ofGroups)
}

// plainOf returns the highest extent of a single grant of a subject.
func (n *AccountGraph) plainOf(subject preview.Subject) Extent {
	out, known := n.plain[subject]
	if !known {
		out = Nothing
		for _, g := range n.held[subject] {
			out = higher(out, plainExtent(g))
		}
		n.plain[subject] = out
	}
	return out
}

func higher(a, b Extent) Extent {
	if CompareExtents(b, a) < 0 {
		return b
	}
	return a
}

// plainExtent returns the extent of a single grant: Reads, OwnNamespace or
// ClusterWrites.
func plainExtent(g preview.Grant) Extent {
	writes := slices.ContainsFunc(g.Verbs, func(verb string) bool { return !slices.Contains([]string{"get", "list", "watch"}, verb) })
	switch {
	case writes && g.Scope == preview.ScopeCluster && len(g.Resources) > 0:
		return ClusterWrites
	case writes:
		return OwnNamespace
	}
	return Reads
}
