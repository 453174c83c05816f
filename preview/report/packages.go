package report

import (
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

const (
	maxBeside = 20 // referrers that are listed one by one
	maxListed = 40 // of anything else in the head
)

// packageText returns name, version, bundle and format of a package on one line.
func packageText(pkg *preview.Package) string {
	return joinTexts("  ", pkg.Name, pkg.Version, pkg.Bundle, pkg.Format)
}

// packageFacts returns rows about a package: sources, how a catalog chose it,
// parameters, dependencies and signature.
func packageFacts(pkg *preview.Package) []fact {
	var rows []fact
	for _, s := range pkg.Sources {
		rows = append(rows, fact{"source", joinTexts("  ", s.Kind, s.Reference)}, fact{"", s.Digest})
		if s.Verification != nil {
			rows = append(rows, fact{"", "signature " + signatureText(*s.Verification)})
		}
	}
	for _, v := range pkg.Via {
		rows = append(rows, fact{"via", joinTexts("  ", v.Kind, v.Reference, channelText(v.Channel))}, fact{"", v.Digest})
		if v.Verification != nil {
			rows = append(rows, fact{"", "signature " + signatureText(*v.Verification)})
		}
		rows = append(rows, fact{"", prefixLines("chosen: ", v.Why)})
		for i, r := range v.Rejected {
			if i == maxBeside {
				rows = append(rows, fact{"", fmt.Sprintf("and %d more not chosen", len(v.Rejected)-i)})
				break
			}
			rows = append(rows, fact{"", joinTexts("  ", "not chosen: "+joinTexts(" ", r.Version, prefixLines("of ", r.Catalog)), r.Why)})
		}
	}
	if params := parameterText(pkg.Parameters); params != "" {
		rows = append(rows, fact{"rendered", params})
	}
	if pkg.Isolation != "" {
		rows = append(rows, fact{"sandbox", pkg.Isolation})
	}
	rows = append(rows, dependencyRows(pkg.Dependencies)...)
	rows = append(rows, fact{"signature", signatureText(pkg.Verification)})
	rows = append(rows, referrerRows(pkg.Referrers)...)
	if extra := len(rows) - 3*maxListed; extra > 0 {
		rows = append(rows[:3*maxListed], fact{"", fmt.Sprintf("and %d more, -o json has them", extra)})
	}
	return rows
}

// dependencyRows returns a row for each thing that a package requires, with what
// provides it.
func dependencyRows(dependencies []preview.Dependency) []fact {
	var rows []fact
	for i, d := range dependencies {
		name := ""
		if i == 0 {
			name = "requires"
		}
		if i == maxListed {
			return append(rows, fact{"", fmt.Sprintf("and %d more, -o json has them", len(dependencies)-i)})
		}
		rows = append(rows, fact{name, joinTexts("  ", d.Constraint, "provided by "+orDefault(d.By, "nothing"), d.Detail)})
	}
	return rows
}

// referrerRows returns a row for each OCI referrer of the content, such as an SBOM.
func referrerRows(referrers []preview.Referrer) []fact {
	var rows []fact
	for i, r := range referrers {
		name := ""
		if i == 0 {
			name = "beside"
		}
		if i == maxBeside {
			return append(rows, fact{"", fmt.Sprintf("and %d more", len(referrers)-i)})
		}
		rows = append(rows, fact{name, joinTexts("  ", orDefault(r.ArtifactType, "of no type"), r.PredicateType, r.Digest)})
	}
	return rows
}

func parameterText(params preview.Parameters) string {
	var watch, into string
	if params.Section != nil {
		into = "into namespace " + params.Section.Namespace
	}
	if len(params.WatchNamespaces) > 0 {
		watch = "watching " + strings.Join(params.WatchNamespaces, ", ")
	}
	return joinTexts("  ", into, params.InstallMode, watch, prefixLines("certs ", params.Certs),
		prefixLines("for Kubernetes ", params.KubeVersion), prefixLines("values ", params.Values))
}

// packageSections returns a section for each package of a plan that has several, else
// none.
func packageSections(p *preview.Plan, l layout) []section {
	if len(p.Packages) < 2 {
		return nil
	}
	members := map[string]*preview.Plan{} // of which only objects and findings are filled in
	owner := map[string]string{}
	for _, pkg := range p.Packages {
		members[pkg.Name] = &preview.Plan{}
	}
	for i := range p.Objects {
		o := &p.Objects[i]
		if part := members[o.Package]; part != nil {
			part.Objects = append(part.Objects, *o)
			owner[o.ID] = o.Package
		}
	}
	for _, f := range p.Findings {
		name := strings.TrimPrefix(f.Object, "package/")
		if of, ok := owner[f.Object]; ok {
			name = of
		}
		if part := members[name]; part != nil {
			part.Findings = append(part.Findings, f)
		}
	}
	var out []section
	for i := range p.Packages {
		pkg := &p.Packages[i]
		out = append(out, packageSection(pkg, members[pkg.Name], l))
	}
	return out
}

func packageSection(pkg *preview.Package, part *preview.Plan, l layout) section {
	s := section{title: "PACKAGE", subject: joinTexts(" ", pkg.Name, pkg.Version), note: preview.Plural(len(part.Objects), "object")}
	if found := findingCounts(part); found != "" {
		s.note += ", " + found
	}
	rows := append([]fact{{"bundle", joinTexts("  ", pkg.Bundle, pkg.Format)}, {"content", pkg.ContentDigest}}, packageFacts(pkg)...)
	for _, row := range dropEmpty(rows) {
		s.lines = append(s.lines, fmt.Sprintf("  %-9s  %s", row.name, line(row.value)))
	}
	if len(part.Objects) > 0 {
		var all []*preview.Object
		for i := range part.Objects {
			all = append(all, &part.Objects[i])
		}
		s.lines = append(s.lines, "  objects")
		s.lines = append(s.lines, byKind(all, l)...)
	}
	return s
}

// findingCounts returns the number of findings for each severity that occurs: "1
// critical, 2 warnings".
func findingCounts(p *preview.Plan) string {
	var found []string
	all := groups(p)
	for _, form := range severities {
		if n := len(groupsOf(all, form.severity)); n > 0 {
			word := strings.ToLower(form.title)
			if n == 1 {
				word = strings.TrimSuffix(word, "s")
			}
			found = append(found, fmt.Sprintf("%d %s", n, word))
		}
	}
	return strings.Join(found, ", ")
}
