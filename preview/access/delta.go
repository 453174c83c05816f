package access

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// maxTuples is how many single permissions the grants of a set are expanded into, at
// most, to compare them. Further grants are compared as a whole.
const maxTuples = 1 << 20

// tuple is a single permission: one verb on one resource or URL. A wildcard is kept as
// "*". An empty name means all names.
type tuple struct {
	subject, scope, namespace string
	group, resource, name     string
	url                       bool // resource is a URL
	verb                      string
}

// cell is a tuple without verb and name: a resource in an API group, or a URL. So a
// rule whose resourceNames change counts as changed, and not as removed.
type cell struct {
	subject, scope, namespace string
	group, resource           string
	url                       bool
}

func (t tuple) cell() cell {
	return cell{t.subject, t.scope, t.namespace, t.group, t.resource, t.url}
}

// Delta compares two sets of grants by what they permit, whatever the names of roles
// and bindings. It returns the planned grants with Change set, and as removed the parts
// of installed grants that no planned grant permits any more, sorted by
// [preview.SortGrants].
//
// A grant is new if its subject had nothing of it before, widened if it had some, same
// if it had all, and narrowed if it had all and lost verbs or names on the same
// resources. Neither argument is modified.
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

// expansion is a set of grants, expanded to single permissions.
type expansion struct {
	tuples [][]tuple // by grant; nil if it is too large, or its subject has nothing to compare
	has    map[tuple]bool
	named  map[tuple]bool  // like has, with empty names
	whole  map[string]bool // grantKey of grants that are too large to expand
	// touched holds the cells of all tuples, and each again with anywhere for its scope
	// and anything for its group and resource, to find grants that became cluster-wide
	// or wildcards.
	touched map[cell]bool
}

// expand returns the expansion of grants. Grants of subjects that are not in others are
// not expanded, because there is nothing to compare them with.
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

// size returns the number of tuples of a grant, or maxTuples+1 if there are more.
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

// covers reports whether the grants permit a tuple: as it is, by a wildcard, or in the
// whole cluster.
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

// wildcardResources returns the resources of a rule that include the tuple's resource:
// itself and wildcards. For a URL, "*" is a wildcard only at the end.
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

// anything and anywhere stand for all resources and for all scopes that a wider grant
// includes. Neither is a valid name in the API.
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

// touches reports whether the grants permit anything on the resources of the tuples, in
// the same scope or within it.
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

// lostCells returns the cells in which before permits a verb or a name that after does not.
func lostCells(before, after *expansion) map[cell]bool {
	lost := map[cell]bool{}
	for t := range before.has {
		if !after.covers(t) {
			lost[t.cell()] = true
		}
	}
	return lost
}

// removedPart returns the parts of an installed grant that permit nothing any more: the
// resources that lost every verb, or the whole grant.
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

// lostParts returns the resources of a grant that are not in kept as grants: one for
// all API groups with the same lost resources, and one for URLs.
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
