package access

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Gains returns the rights that the planned grants give and the installed ones do not
// (gained), and the reverse (lost), whatever the names of roles and bindings: if a role
// is replaced by one of another name with one verb more, that verb is gained. The
// rights are combined to as few grants as possible, with Change set, and with empty Via
// and Rules. Neither argument is modified.
func Gains(installed, planned []preview.Grant) (gained, lost []preview.Grant) {
	subjects := subjectsOf(slices.Concat(installed, planned))
	before, after := expand(installed, subjects), expand(planned, subjects)
	return beyond(planned, after, before, preview.GrantNew), beyond(installed, before, after, preview.GrantRemoved)
}

// beyond returns the rights of grants that the other set does not have.
func beyond(grants []preview.Grant, own, other *expansion, change string) []preview.Grant {
	var out []preview.Grant
	folder := newFolder()
	for i, g := range grants {
		if own.tuples[i] == nil { // too large to expand, or without effect
			if own.whole[grantKey(g)] && !other.whole[grantKey(g)] {
				g = clone(g)
				g.Via, g.Rules, g.Held = []string{}, []string{}, false
				out = append(out, g)
			}
			continue
		}
		for _, t := range own.tuples[i] {
			if !other.covers(t) {
				folder.add(g.Subject, t)
			}
		}
	}
	out = append(out, folder.grants()...)
	for i := range out {
		out[i].Change = change
	}
	preview.SortGrants(out)
	return out
}

// folder combines single permissions to grants: verbs on one resource and name, then
// names with the same verbs, resources with the same verbs and names, and API groups
// with the same resources.
type folder struct {
	subjects map[string]preview.Subject
	verbs    map[tuple][]string // by tuple with an empty verb
}

func newFolder() *folder {
	return &folder{subjects: map[string]preview.Subject{}, verbs: map[tuple][]string{}}
}

func (f *folder) add(subject preview.Subject, t tuple) {
	f.subjects[t.subject] = subject
	verb := t.verb
	t.verb = ""
	if !slices.Contains(f.verbs[t], verb) {
		f.verbs[t] = append(f.verbs[t], verb)
	}
}

func (f *folder) grants() []preview.Grant {
	list := f.rights()
	list = fold(list, func(r *rights) *string { return &r.names })
	list = fold(list, func(r *rights) *string { return &r.resources })
	list = fold(list, func(r *rights) *string { return &r.groups })
	out := make([]preview.Grant, 0, len(list))
	for _, r := range list {
		out = append(out, r.grant(f.subjects[r.subject]))
	}
	return out
}

// rights is a grant whose lists are joined to strings, so that it is comparable. Empty
// names mean all names.
type rights struct {
	subject, scope, namespace       string
	verbs, groups, resources, names string
	url                             bool
}

// separator joins the items of lists; no name in the API contains it.
const separator = "\x00"

func (f *folder) rights() []rights {
	list := make([]rights, 0, len(f.verbs))
	for t, verbs := range f.verbs {
		// A right on every name holds for the named ones as well.
		whole := t
		if whole.name = ""; t.name != "" {
			verbs = slices.DeleteFunc(slices.Clone(verbs), func(verb string) bool { return slices.Contains(f.verbs[whole], verb) })
		}
		if len(verbs) == 0 {
			continue
		}
		slices.Sort(verbs)
		list = append(list, rights{t.subject, t.scope, t.namespace, strings.Join(verbs, separator), t.group, t.resource, t.name, t.url})
	}
	return list
}

// fold combines the rights that differ only in one list, which the function list
// returns. Rights on all names and rights on some never have the same verbs here, so
// they stay separate.
func fold(rightsOf []rights, list func(*rights) *string) []rights {
	values := map[rights][]string{}
	for _, r := range rightsOf {
		value := *list(&r)
		*list(&r) = ""
		values[r] = append(values[r], value)
	}
	out := make([]rights, 0, len(values))
	for r, joined := range values {
		slices.Sort(joined)
		*list(&r) = strings.Join(joined, separator)
		out = append(out, r)
	}
	return out
}

func (r rights) grant(subject preview.Subject) preview.Grant {
	g := preview.Grant{
		Subject: subject, Scope: r.scope, Namespace: r.namespace, Verbs: strings.Split(r.verbs, separator),
		APIGroups: []string{}, Resources: []string{}, ResourceNames: []string{}, NonResourceURLs: []string{}, Via: []string{}, Rules: []string{},
	}
	if r.url {
		g.NonResourceURLs = strings.Split(r.resources, separator)
		return g
	}
	g.APIGroups, g.Resources = strings.Split(r.groups, separator), strings.Split(r.resources, separator)
	if r.names != "" {
		g.ResourceNames = strings.Split(r.names, separator)
	}
	return g
}
