package access

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// maxTuples bounds how far grants are expanded to be compared. Grants beyond
// it are compared whole.
const maxTuples = 1 << 20

// tuple is the smallest permission: one verb on one resource, or on one URL.
// Wildcards stay symbolic. An empty name means every name.
type tuple struct {
	subject, scope, namespace string
	group, resource, name     string
	url                       bool // resource is a URL
	verb                      string
}

// cell is a tuple without its verb: a resource in an API group, or a URL. Resource
// names are not part of it, so that a rule whose resource names change counts as
// changed and not as removed.
type cell struct {
	subject, scope, namespace string
	group, resource           string
	url                       bool
}

func (t tuple) cell() cell {
	return cell{t.subject, t.scope, t.namespace, t.group, t.resource, t.url}
}

// Delta compares two sets of grants by what they permit, not by the names of
// roles and bindings. It returns the planned grants with Change set, and
// behind them, as removed, what of the installed grants no planned grant
// permits any more; sorted by [preview.SortGrants].
//
// A grant is new when nothing of what it reaches was reachable for its
// subject, widened when some was, same when all was, and narrowed when all was
// and verbs or names on it were lost. Neither argument is modified.
func Delta(installed, planned []preview.Grant) []preview.Grant {
	had, has := subjectsOf(installed), subjectsOf(planned)
	before, after := expand(installed, has), expand(planned, had)
	lost := lostCells(before, after)
	out := make([]preview.Grant, 0, len(planned))
	for i, g := range planned {
		g = clone(g)
		if g.Change = preview.GrantNew; had[g.Subject] {
			g.Change = change(g, after.tuples[i], before, lost)
		}
		out = append(out, g)
	}
	for i, g := range installed {
		out = append(out, removedPart(g, before.tuples[i], after)...)
	}
	preview.SortGrants(out)
	return out
}

func subjectsOf(grants []preview.Grant) map[preview.Subject]bool {
	out := map[preview.Subject]bool{}
	for _, g := range grants {
		out[g.Subject] = true
	}
	return out
}

// expansion is a set of grants as single permissions (tuples).
type expansion struct {
	tuples [][]tuple // by grant; nil for one too large to expand, or with nothing to compare
	has    map[tuple]bool
	named  map[tuple]bool  // has, with the name left out
	whole  map[string]bool // keys of the grants too large to expand
	// touched are the cells once more, with anywhere in place of the scope and
	// anything in place of group and resource, for grants that grow to a wider
	// scope or to a wildcard.
	touched map[cell]bool
}

// expand returns grants as tuples. Grants of subjects that the other set does not
// contain are left out, because there is nothing to compare them with.
func expand(grants []preview.Grant, others map[preview.Subject]bool) *expansion {
	e := &expansion{
		has: map[tuple]bool{}, named: map[tuple]bool{}, whole: map[string]bool{}, touched: map[cell]bool{},
	}
	left := maxTuples
	for _, g := range grants {
		if !others[g.Subject] {
			e.tuples = append(e.tuples, nil)
			continue
		}
		n := size(g)
		if n > left {
			e.tuples = append(e.tuples, nil)
			e.whole[grantKey(g)] = true
			continue
		}
		left -= n
		list := tuplesOf(g)
		e.tuples = append(e.tuples, list)
		for _, t := range list {
			e.has[t] = true
			e.touch(t.cell())
			t.name = ""
			e.named[t] = true
		}
	}
	return e
}

// size returns the number of tuples of a grant, at most maxTuples+1.
func size(g preview.Grant) int {
	product := func(lengths ...int) int {
		n := 1
		for _, length := range lengths {
			if n *= length; n > maxTuples {
				return maxTuples + 1
			}
		}
		return n
	}
	return product(len(g.APIGroups), len(g.Resources), max(1, len(g.ResourceNames)), len(g.Verbs)) +
		product(len(g.NonResourceURLs), len(g.Verbs))
}

func tuplesOf(g preview.Grant) []tuple {
	base := tuple{subject: subjectKey(g.Subject), scope: g.Scope, namespace: g.Namespace}
	names := g.ResourceNames
	if len(names) == 0 {
		names = []string{""}
	}
	var list []tuple
	for _, verb := range g.Verbs {
		base.verb = verb
		for _, group := range g.APIGroups {
			for _, resource := range g.Resources {
				for _, name := range names {
					t := base
					t.group, t.resource, t.name = group, resource, name
					list = append(list, t)
				}
			}
		}
		for _, url := range g.NonResourceURLs {
			t := base
			t.resource, t.url = url, true
			list = append(list, t)
		}
	}
	return list
}

// covers reports whether the set permits a tuple, directly, through wildcards, or
// through a cluster-wide grant.
func (e *expansion) covers(t tuple) bool {
	scopes := []tuple{t}
	if t.scope == preview.ScopeNamespace {
		wide := t
		wide.scope, wide.namespace = preview.ScopeCluster, ""
		scopes = append(scopes, wide)
	}
	for _, at := range scopes {
		for _, resource := range wildcardResources(t) {
			for _, group := range wildcardForms(t.group) {
				for _, verb := range wildcardForms(t.verb) {
					at.resource, at.group, at.verb, at.name = resource, group, verb, t.name
					if e.has[at] {
						return true
					}
					if at.name = ""; e.has[at] {
						return true
					}
				}
			}
		}
	}
	return false
}

func wildcardForms(s string) []string {
	if s == all {
		return []string{all}
	}
	return []string{s, all}
}

// wildcardResources returns the resource patterns that match a tuple's resource.
// In URLs only a trailing "*" is a wildcard.
func wildcardResources(t tuple) []string {
	list := wildcardForms(t.resource)
	if t.url {
		for i := range t.resource {
			if t.resource[i] == '/' {
				list = append(list, t.resource[:i+1]+all)
			}
		}
		return list
	}
	if _, sub, ok := strings.Cut(t.resource, "/"); ok {
		list = append(list, "*/"+sub)
	}
	return list
}

func change(g preview.Grant, tuples []tuple, before *expansion, lost map[cell]bool) string {
	if tuples == nil {
		if before.whole[grantKey(g)] {
			return preview.GrantSame
		}
		return preview.GrantNew
	}
	covered := 0
	for _, t := range tuples {
		if before.covers(t) {
			covered++
		}
	}
	switch {
	case covered < len(tuples) && (covered > 0 || before.touches(tuples)):
		return preview.GrantWidened
	case covered < len(tuples):
		return preview.GrantNew
	case slices.ContainsFunc(tuples, func(t tuple) bool { return lost[t.cell()] }):
		return preview.GrantNarrowed
	}
	return preview.GrantSame
}

// anything and anywhere stand for what a wildcard can reach. Neither is a
// name the API allows.
const (
	anything = "\x00anything"
	anywhere = "\x00anywhere"
)

func (e *expansion) touch(c cell) {
	if e.touched[c] {
		return
	}
	for _, group := range []string{c.group, anything} {
		for _, resource := range []string{c.resource, anything} {
			at := c
			at.group, at.resource = group, resource
			e.touched[at] = true
			at.scope, at.namespace = anywhere, ""
			e.touched[at] = true
		}
	}
}

// touches reports whether the subject already has any permission on the resources
// of the tuples, in the same scope or in a smaller one.
func (e *expansion) touches(tuples []tuple) bool {
	for _, t := range tuples {
		at := t.cell()
		if at.scope == preview.ScopeCluster {
			at.scope, at.namespace = anywhere, ""
		}
		for _, group := range touching(t.group) {
			for _, resource := range touching(t.resource) {
				if at.group, at.resource = group, resource; e.touched[at] {
					return true
				}
			}
		}
	}
	return false
}

func touching(s string) []string {
	if s == all {
		return []string{anything}
	}
	return []string{s, all}
}

// lostCells returns the cells on which a verb or a name is no longer permitted.
func lostCells(before, after *expansion) map[cell]bool {
	lost := map[cell]bool{}
	for t := range before.has {
		if !after.covers(t) {
			lost[t.cell()] = true
		}
	}
	return lost
}

// removedPart returns the part of an installed grant that is no longer permitted
// at all: the whole grant, or the resources that lost every verb.
func removedPart(g preview.Grant, tuples []tuple, after *expansion) []preview.Grant {
	g = clone(g)
	g.Change, g.Rules = preview.GrantRemoved, []string{}
	if tuples == nil {
		if after.whole[grantKey(g)] {
			return nil
		}
		return []preview.Grant{g}
	}
	kept := map[cell]bool{}
	cells := map[cell]bool{}
	for _, t := range tuples {
		cells[t.cell()] = true
		covered := after.covers(t)
		t.name = ""
		if covered || after.named[t] { // restricted to other names: narrowed, not removed
			kept[t.cell()] = true
		}
	}
	switch len(kept) {
	case 0:
		return []preview.Grant{g}
	case len(cells):
		return nil
	}
	return lostParts(g, kept)
}

// lostParts returns the removed resources of a grant as grants: one for all API
// groups that lost the same resources, one for the URLs.
func lostParts(g preview.Grant, kept map[cell]bool) []preview.Grant {
	at := cell{subject: subjectKey(g.Subject), scope: g.Scope, namespace: g.Namespace}
	var parts []preview.Grant
	for _, group := range g.APIGroups {
		at.group = group
		resources := slices.DeleteFunc(slices.Clone(g.Resources), func(r string) bool { at.resource = r; return kept[at] })
		if len(resources) == 0 {
			continue
		}
		if n := len(parts); n > 0 && slices.Equal(parts[n-1].Resources, resources) {
			parts[n-1].APIGroups = append(parts[n-1].APIGroups, group)
			continue
		}
		part := clone(g)
		part.APIGroups, part.Resources, part.NonResourceURLs = []string{group}, resources, []string{}
		parts = append(parts, part)
	}
	at.group, at.url = "", true
	urls := slices.DeleteFunc(slices.Clone(g.NonResourceURLs), func(u string) bool { at.resource = u; return kept[at] })
	if len(urls) > 0 {
		part := clone(g)
		part.APIGroups, part.Resources, part.ResourceNames, part.NonResourceURLs = []string{}, []string{}, []string{}, urls
		parts = append(parts, part)
	}
	return parts
}

func clone(g preview.Grant) preview.Grant {
	for _, list := range []*[]string{
		&g.APIGroups, &g.Resources, &g.ResourceNames, &g.NonResourceURLs, &g.Verbs, &g.Via, &g.Rules,
	} {
		if *list = slices.Clone(*list); *list == nil {
			*list = []string{}
		}
	}
	return g
}
