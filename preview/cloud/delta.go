package cloud

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// maxPairs is the most comparisons for one pair of permissions, maxSet that for the
// permissions of one origin. Larger ones are only compared for equality.
const (
	maxPairs = 1 << 18
	maxSet   = 1 << 14
)

// Delta returns the planned cloud access with Change set on every permission, and the
// installed permissions without a counterpart as removed. Permissions with the same
// provider, origin and effect are compared by action, resource, role and condition.
// Widened means that an action, resource or role was added or a condition removed;
// narrowed the reverse.
func Delta(installed, planned preview.Cloud) preview.Cloud {
	before, after := byOrigin(installed.Permissions), byOrigin(planned.Permissions)
	out := preview.Cloud{Permissions: []preview.CloudPermission{}, Declared: slices.Clone(planned.Declared)}
	for _, p := range planned.Permissions {
		p.Change = change(p, before[originKey(p)], after[originKey(p)])
		out.Permissions = append(out.Permissions, p)
	}
	for _, p := range installed.Permissions {
		if !after[originKey(p)].has(p, before[originKey(p)]) {
			p.Change, p.Rules = preview.GrantRemoved, []string{}
			out.Permissions = append(out.Permissions, p)
		}
	}
	slices.SortStableFunc(out.Permissions, compare)
	return out
}

// permissionSet is the permissions with one provider, origin and effect.
type permissionSet struct {
	list []preview.CloudPermission
	keys map[string]bool
}

func byOrigin(list []preview.CloudPermission) map[string]permissionSet {
	out := map[string]permissionSet{}
	for _, p := range list {
		s := out[originKey(p)]
		if s.keys == nil {
			s.keys = map[string]bool{}
		}
		s.list = append(s.list, p)
		s.keys[key(p)] = true
		out[originKey(p)] = s
	}
	return out
}

// has reports whether the set has a permission that is equal or related to p, which is
// from the set other.
func (s permissionSet) has(p preview.CloudPermission, other permissionSet) bool {
	if s.keys[key(p)] {
		return true
	}
	return !exceedsLimit(s, other) && s.relates(p)
}

func (s permissionSet) relates(p preview.CloudPermission) bool {
	return slices.ContainsFunc(s.list, func(q preview.CloudPermission) bool { return related(p, q) })
}

func exceedsLimit(a, b permissionSet) bool { return len(a.list)*len(b.list) > maxSet }

func originKey(p preview.CloudPermission) string {
	return p.Provider + "\x00" + p.Origin + "\x00" + p.Effect
}

func change(p preview.CloudPermission, before, after permissionSet) string {
	switch {
	case before.keys[key(p)]:
		return preview.GrantSame
	case exceedsLimit(before, after):
		return preview.GrantNew
	case !coveredBy(p, before.list) && before.relates(p):
		return preview.GrantWidened
	case !coveredBy(p, before.list):
		return preview.GrantNew
	}
	for _, old := range before.list {
		if related(old, p) && !coveredBy(old, after.list) {
			return preview.GrantNarrowed
		}
	}
	return preview.GrantSame
}

// coveredBy reports whether other permissions together allow every action of p on every
// resource, and every role.
func coveredBy(p preview.CloudPermission, others []preview.CloudPermission) bool {
	if len(p.Actions)*max(1, len(p.Resources))*len(others) > maxPairs {
		return false
	}
	for _, role := range p.Roles {
		if !slices.ContainsFunc(others, func(o preview.CloudPermission) bool {
			return slices.Contains(o.Roles, role) && resourcesCover(o, p.Resources) && conditionsCover(o, p)
		}) {
			return false
		}
	}
	resources := p.Resources
	if len(resources) == 0 {
		resources = []string{""}
	}
	for _, action := range p.Actions {
		for _, resource := range resources {
			if !slices.ContainsFunc(others, func(o preview.CloudPermission) bool {
				return Covers(o, action) && (resource == "" && len(o.Resources) == 0 || resourceCovers(o, resource)) && conditionsCover(o, p)
			}) {
				return false
			}
		}
	}
	return true
}

// Covers reports whether one of a permission's actions matches an action. Letter case
// is ignored, and "*" and "?" are wildcards.
func Covers(p preview.CloudPermission, action string) bool {
	return slices.ContainsFunc(p.Actions, func(pattern string) bool { return Glob(strings.ToLower(pattern), strings.ToLower(action)) })
}

func resourceCovers(p preview.CloudPermission, resource string) bool {
	return slices.ContainsFunc(p.Resources, func(pattern string) bool { return Glob(pattern, resource) })
}

func resourcesCover(p preview.CloudPermission, resources []string) bool {
	if len(resources) == 0 {
		return len(p.Resources) == 0
	}
	return !slices.ContainsFunc(resources, func(r string) bool { return !resourceCovers(p, r) })
}

// conditionsCover reports whether wide has no conditions, or the same as p.
func conditionsCover(wide, p preview.CloudPermission) bool {
	return len(wide.Conditions) == 0 || conditionText(wide.Conditions) == conditionText(p.Conditions)
}

// related reports whether two permissions have a role or an action in common, also by
// wildcard.
func related(a, b preview.CloudPermission) bool {
	if len(a.Actions)*len(b.Actions) > maxPairs {
		return true
	}
	return slices.ContainsFunc(a.Roles, func(role string) bool { return slices.Contains(b.Roles, role) }) ||
		slices.ContainsFunc(a.Actions, func(action string) bool { return Covers(b, action) }) ||
		slices.ContainsFunc(b.Actions, func(action string) bool { return Covers(a, action) })
}

// Glob reports whether text matches a pattern; "*" stands for any text and "?" for one
// character. It takes time proportional to the product of the lengths. Wildcards in text
// are plain characters, so that a pattern that matches another pattern covers everything
// that one matches.
func Glob(pattern, text string) bool {
	p, t, star, mark := 0, 0, -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, t
			p++
		case p < len(pattern) && (pattern[p] == text[t] || pattern[p] == '?' && text[t] != '*'):
			p++
			t++
		case star >= 0:
			mark++
			p, t = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}
