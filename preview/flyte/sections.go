package flyte

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
)

// plannedText returns the words before a part that the plan contains: "in the plan, ",
// or "in package NAME of the plan, " if there are several packages.
func plannedText(p *preview.Plan, packages []string) string {
	slices.Sort(packages)
	packages = slices.DeleteFunc(slices.Compact(packages), func(name string) bool { return name == "" })
	if len(p.Packages) < 2 || len(packages) == 0 {
		return "in the plan, "
	}
	what := "package "
	if preview.InSections(p.Packages) {
		what = "section "
	}
	return "in " + what + strings.Join(packages, " and ") + " of the plan, "
}

// packagesOf returns the packages of the plan's objects with the given ids.
func packagesOf(x *index, ids ...string) []string {
	var out []string
	for _, id := range ids {
		if o := x.objects[id]; o != nil {
			out = append(out, o.Package)
		}
	}
	return out
}

// grantingPackages returns the packages whose roles and bindings give an account rights
// to a plugin's custom resource.
func grantingPackages(x *index, account preview.Subject, plugin taskPlugin) []string {
	var out []string
	for _, g := range x.grantsOf(account) {
		alone := []preview.Grant{g}
		if !slices.ContainsFunc(engineVerbs(), func(verb string) bool {
			return allows(alone, account, plugin, plugin.resource, g.Namespace, verb)
		}) {
			continue
		}
		for _, via := range g.Via {
			out = append(out, packagesOf(x, access.ViaRef(via).ID())...)
		}
	}
	return out
}

// templatePackages returns the packages whose templates create any of [projectParts]
// for an account.
func templatePackages(p *preview.Plan, account string) []string {
	own := map[string][]preview.Object{}
	for _, o := range p.Objects {
		own[o.Package] = append(own[o.Package], o)
	}
	var out []string
	for name, objects := range own {
		if bodies := preview.PlannedBodies(objects); len(templateParts(bodies, nil, account)) > 0 {
			out = append(out, name)
		}
	}
	return out
}
