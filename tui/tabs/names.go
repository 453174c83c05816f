package tabs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
)

// nameWidth returns how many cells a name takes.
func nameWidth(name string) int { return textsafe.Width(textsafe.Line(name)) }

// generated matches the names that OLM generates for roles and bindings: the
// name of a version and an account, and a hash in base 36.
var generated = lazyregexp.New(`^(.+)-([0-9a-z]{4})[0-9a-z]{34,42}$`)

// generatedNames returns readable names for objects with a generated name, by
// object id: whose role or binding it is and, where several of a kind are, the
// beginning of its hash.
func (x *Index) generatedNames() map[string]string {
	if x.names != nil {
		return x.names
	}
	x.names = map[string]string{}
	subjects := map[string][]string{}
	for i := range x.plan.Access.Grants {
		g := &x.plan.Access.Grants[i]
		for _, via := range g.Via {
			id := grantorID(via)
			if !generated.MatchString(via) || slices.Contains(subjects[id], g.Subject.Name) {
				continue
			}
			subjects[id] = append(subjects[id], g.Subject.Name)
			of := g.Subject.Name
			if n := len(subjects[id]); n > 1 {
				of = preview.Plural(n, "account")
			}
			x.names[id] = "of " + of
		}
	}
	x.nameDeleted()
	x.tellApart()
	return x.names
}

// tellApart adds the beginning of its hash to the readable name of each object that
// another of its kind and namespace has too, such as the one that it replaces.
func (x *Index) tellApart() {
	alike := func(id string) string { return id[:strings.LastIndexByte(id, '/')+1] + x.names[id] }
	count := map[string]int{}
	for id := range x.names {
		count[alike(id)]++
	}
	named := map[string]string{}
	for id, of := range x.names {
		if count[alike(id)] > 1 {
			of = fmt.Sprintf("%s (%s)", of, generated.FindStringSubmatch(id)[2])
		}
		named[id] = of
	}
	x.names = named
}

// nameDeleted names generated roles and bindings that are deleted: whose they are
// stands in the live binding.
func (x *Index) nameDeleted() {
	for i := range x.plan.Objects {
		o := &x.plan.Objects[i]
		if !generated.MatchString(o.ID) || o.Action != preview.ActionDelete || !strings.HasSuffix(o.Kind, "RoleBinding") {
			continue
		}
		subjects, _ := o.LiveBody["subjects"].([]any)
		if len(subjects) == 0 {
			continue
		}
		of := preview.Plural(len(subjects), "account")
		if first, ok := subjects[0].(map[string]any); ok && len(subjects) == 1 {
			of = preview.String(first, "name")
		}
		x.names[o.ID] = "of " + of
		role := preview.Ref{APIVersion: o.APIVersion, Kind: preview.String(o.LiveBody, "roleRef", "kind"), Name: preview.String(o.LiveBody, "roleRef", "name")}
		if role.Kind == "Role" {
			role.Namespace = o.Namespace
		}
		if generated.MatchString(role.ID()) && x.names[role.ID()] == "" {
			x.names[role.ID()] = "of " + of
		}
	}
}

// generatedName returns the readable name of an object with a generated name,
// empty for others.
func (x *Index) generatedName(id string) string {
	if !generated.MatchString(id) {
		return ""
	}
	return x.generatedNames()[id]
}

// shortName returns kind and name of an object, as lists show them.
func (x *Index) shortName(o *preview.Object) string {
	if of := x.generatedName(o.ID); of != "" {
		return frame.ShortKind(o.Kind) + " " + of
	}
	return frame.ShortKind(frame.ObjectName(o.ID))
}

// nameInTree returns the name of an object, as it is shown below its kind in the tree.
func (x *Index) nameInTree(o *preview.Object) string {
	name := o.Name
	if of := x.generatedName(o.ID); of != "" {
		name = of
	}
	if o.Namespace != "" && o.Namespace != x.plan.Release.Namespace {
		name = o.Namespace + "/" + name
	}
	return name
}

// roleName names the role that a grant comes through. Without subject, a generated
// name leaves out the account, which the heading above the row names already.
func (x *Index) roleName(g *preview.Grant, subject bool) string {
	of := x.generatedName(roleID(*g))
	if of == "" {
		return roleText(*g)
	}
	kind, _, _ := strings.Cut(roleText(*g), " ")
	if !subject {
		_, of, _ = strings.Cut(of, "(")
		if of != "" {
			of = "(" + of
		}
	}
	return strings.TrimSpace(kind + " " + of)
}

// subjectName names a subject. A ServiceAccount in the release namespace has no
// namespace in its name.
func (m *View) subjectName(s preview.Subject) string {
	return strings.Replace(SubjectName(s), "SA "+m.Plan.Release.Namespace+"/", "SA ", 1)
}
