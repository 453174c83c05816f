package review

import (
	"fmt"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// maxListed is the most entries of one list of a package (20), such as the versions that
// were not chosen; the others are counted.
const maxListed = 20

// packageSections returns a section for each package.
func packageSections(p *preview.Plan) []Section {
	var out []Section
	for i := range p.Packages {
		if i == 2*maxListed {
			return append(out, Section{ID: Package, Title: "PACKAGES", Note: fmt.Sprintf("%d more, -o json has them", len(p.Packages)-i)})
		}
		out = append(out, packageSection(p, &p.Packages[i]))
	}
	return out
}

// packageSection returns what is known of a package: what it is, where it came from, why
// this version was chosen, who signed it, and what it was rendered with; of several packages
// its objects too.
func packageSection(p *preview.Plan, pkg *preview.Package) Section {
	s := Section{ID: Package, Title: "PACKAGE", Subject: words.Joined(" ", pkg.Name, pkg.Version), Columns: factColumns(true)}
	s.fact(Plain, "bundle", words.Joined("  ", pkg.Bundle, pkg.Format))
	for _, source := range pkg.Sources {
		s.fact(Plain, source.Kind, source.Reference)
		s.fact(Plain, "  pin", source.Digest)
		s.signature("  signature", source.Verification)
	}
	s.signature("signature", &pkg.Verification)
	for _, step := range pkg.Via {
		s.step(step)
	}
	for i, r := range pkg.Referrers {
		if s.enough(i, len(pkg.Referrers)) {
			break
		}
		s.fact(Plain, first(i, "referrer"), words.Joined("  ", words.Artifact(r.ArtifactType), r.PredicateType, r.Digest))
	}
	if len(pkg.Referrers) > 0 {
		s.fact(Plain, "", "signatures and SBOMs among the referrers were not checked")
	}
	s.fact(Plain, "content", pkg.ContentDigest)
	s.parameters(pkg.Parameters)
	s.fact(Plain, "sandbox", pkg.Isolation)
	for _, note := range pkg.Notes {
		s.fact(Caution, "note", words.Joined(" ", note.Text, words.Enclosed(note.Rule)))
	}
	for i, d := range pkg.Dependencies {
		if s.enough(i, len(pkg.Dependencies)) {
			break
		}
		by := "not provided"
		if d.By != "" {
			by = "provided by " + d.By
		}
		s.fact(Plain, "requires", words.Joined("  ", d.Constraint, by, d.Detail))
	}
	s.fact(Plain, "needs the API", strings.Join(pkg.Requires, ", "))
	if n := len(pkg.RelatedImages); n > 0 {
		s.fact(Plain, "lists", preview.Plural(n, "image")+" as its own")
	}
	if len(p.Packages) > 1 {
		own := objectsOf(p, pkg)
		s.Note = packageCounts(p, pkg, own)
		for _, row := range byKind("", own) {
			row.Cells = row.Cells[1:] // without the action
			s.Rows = append(s.Rows, row)
		}
	}
	return s
}

func objectsOf(p *preview.Plan, pkg *preview.Package) []*preview.Object {
	var own []*preview.Object
	for i := range p.Objects {
		if o := &p.Objects[i]; o.Package == pkg.Name {
			own = append(own, o)
		}
	}
	return own
}

// step adds a step that found the package, such as a catalog.
func (s *Section) step(v preview.ResolutionStep) {
	s.fact(Plain, "via "+v.Kind, words.Joined("  ", v.Reference, words.Prefixed("channel ", v.Channel)))
	s.fact(Plain, "  pin", v.Digest)
	s.signature("  signature", v.Verification)
	s.fact(Plain, "  chosen", v.Why)
	for i, r := range v.Rejected {
		if s.enough(i, len(v.Rejected)) {
			return
		}
		s.fact(Plain, "  not chosen", words.Joined(": ", words.Joined(" ", r.Version, words.Prefixed("of ", r.Catalog)), r.Why))
	}
}

func (s *Section) parameters(p preview.Parameters) {
	if p.Section != nil {
		s.fact(Plain, "into namespace", p.Section.Namespace)
	}
	s.fact(Plain, "install mode", p.InstallMode)
	s.fact(Plain, "watches", strings.Join(p.WatchNamespaces, ", "))
	s.fact(Plain, "certificates", p.Certs)
	s.fact(Plain, "values", p.Values)
	s.fact(Plain, "kube version", p.KubeVersion)
	for i, r := range p.ClusterReads {
		if s.enough(i, len(p.ClusterReads)) {
			return
		}
		s.fact(Plain, first(i, "asked"), words.Joined("  ", r.Kind, r.Name, r.Value))
	}
}

// signature adds who signed. Only a verified signature is good.
func (s *Section) signature(name string, v *preview.Verification) {
	if v == nil {
		return
	}
	tone := Caution
	if v.Status == "verified" {
		tone = Good
	}
	s.fact(tone, name, words.Joined("  ", v.Status, words.Prefixed("by ", v.Identity)))
}

// fact adds a name and a value, if there is one.
func (s *Section) fact(tone Tone, name, value string) {
	if value != "" {
		s.Rows = append(s.Rows, Row{Tone: tone, Cells: []string{name, value}})
	}
}

// enough reports whether entry i of a list is one too many, and then adds how many are left
// out.
func (s *Section) enough(i, all int) bool {
	if i == maxListed {
		s.fact(Plain, "", fmt.Sprintf("and %d more, -o json has them", all-i))
	}
	return i >= maxListed
}

// first returns a name for the first entry of a list, and none for the others.
func first(i int, name string) string {
	if i > 0 {
		return ""
	}
	return name
}

// packageCounts returns how many objects of a package have which action, and how many
// findings they have.
func packageCounts(p *preview.Plan, pkg *preview.Package, own []*preview.Object) string {
	var summary preview.Summary
	of := map[string]bool{"package/" + pkg.Name: true}
	for _, o := range own {
		summary.Add(o.Action)
		of[o.ID] = true
	}
	var found []preview.Finding
	for _, f := range p.Findings {
		if of[f.Object] {
			found = append(found, f)
		}
	}
	var severities []preview.Severity
	for _, g := range verdict.Groups(found, nil) {
		severities = append(severities, g.Severity())
	}
	return words.Joined("   ", objectCounts(len(own), summary), severityCounts(severities))
}
