package access

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Gains returns what the planned grants permit and the installed ones do not, and
// what is lost the other way round: each right once, however roles and bindings are
// divided and named, folded to as few grants as say it: new and removed ones, without
// Via and Rules. A role that is replaced by one of another name with one verb more gains that
// verb. Neither argument is modified.
func Gains(installed, planned []preview.Grant) (gained, lost []preview.Grant) {
	subjects := subjectsOf(slices.Concat(installed, planned))
	before, after := expand(installed, subjects), expand(planned, subjects)
	return beyond(planned, after, before, preview.GrantNew), beyond(installed, before, after, preview.GrantRemoved)
}

// beyond returns what grants permit beyond the other set.
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

// folder folds single permissions to grants: verbs of one resource and name, names with
// the same verbs, resources with the same verbs and names, and API groups with the same
// resources.
type folder struct {
	subjects map[string]preview.Subject
	verbs    map[tuple][]string // by tuple without its verb
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

// rights are permissions whose lists are joined, so that they can be compared. An
// empty list of names is every name, and the core group is the empty group.
type rights struct {
	subject, scope, namespace       string
	verbs, groups, resources, names string
	url                             bool
}

// separator joins lists; no name of the API holds it.
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

// fold joins the rights that differ in one list alone, to which list points. A right
// on every name and one on some never have the same verbs, so they stay apart.
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
