package review

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
)

// packageFacts is the section of a package: what it is, where it came from, why
// this version, who signed it, what lies beside it and what making its objects
// did.
func (m *sourceTab) packageFacts(f *facts, pkg *preview.Package) {
	title := "PACKAGE " + strings.Join(frame.NonEmpty(pkg.Name, pkg.Version), " ")
	if len(m.plan.Packages) > 1 {
		title += "  (" + m.packageCounts(pkg.Name) + ")"
	}
	f.heading(title)
	f.add("bundle", pkg.Bundle)
	f.add("format", pkg.Format)
	for _, s := range pkg.Sources {
		f.add(s.Kind, s.Reference)
		f.add("  pin", s.Digest)
		if s.Verification != nil {
			signatureFact(f, "  signature", *s.Verification)
		}
	}
	signatureFact(f, "signature", pkg.Verification)
	for _, v := range pkg.Via {
		viaFacts(f, v)
	}
	besideFacts(f, pkg.Referrers)
	f.add("content", pkg.ContentDigest)
	parameterFacts(f, pkg.Parameters)
	f.add("confined", pkg.Isolation)
	for _, note := range pkg.Notes {
		f.addAs(theme.Caution, "note", strings.Join(frame.NonEmpty(note.Text, "("+note.Rule+")"), " "))
	}
	for _, d := range pkg.Dependencies {
		by := "met by " + d.By
		if d.By == "" {
			by = "met by nothing"
		}
		f.add("requires", strings.Join(frame.NonEmpty(d.Constraint, by, d.Detail), "  "))
	}
	for _, api := range pkg.Requires {
		f.add("needs the API", api)
	}
	if n := len(pkg.RelatedImages); n > 0 {
		f.add("lists", preview.Plural(n, "image")+" as its own")
	}
}

// viaFacts is a step on the way, such as a catalog: why it led here, and which
// candidates it did not lead to.
func viaFacts(f *facts, v preview.Via) {
	reference := v.Reference
	if v.Channel != "" {
		reference += "  channel " + v.Channel
	}
	f.add("via "+v.Kind, reference)
	f.add("  pin", v.Digest)
	if v.Verification != nil {
		signatureFact(f, "  signature", *v.Verification)
	}
	f.add("  chosen", v.Why)
	for _, r := range v.Rejected {
		candidate := r.Version
		if r.Catalog != "" {
			candidate += " of " + r.Catalog
		}
		f.add("  not chosen", strings.Join(frame.NonEmpty(strings.TrimSpace(candidate), r.Why), ": "))
	}
}

// signatureFact says who signed; what was not verified stands out.
func signatureFact(f *facts, name string, v preview.Verification) {
	role := theme.Caution
	if v.Status == "verified" {
		role = theme.Good
	}
	f.addAs(role, name, signature(v))
}

// signature is empty for a loaded plan: what it recorded, nothing vouches for.
func signature(v preview.Verification) string {
	if v.Identity == "" {
		return v.Status
	}
	return v.Status + "  by " + v.Identity
}

// besideFacts lists what refers to the content, such as SBOMs and provenance.
func besideFacts(f *facts, list []preview.Referrer) {
	for i, r := range list {
		name := ""
		if i == 0 {
			name = "beside it"
		}
		f.add(name, strings.Join(frame.NonEmpty(referrerWord(r.ArtifactType), r.PredicateType, r.Digest), "  "))
	}
	if len(list) > 0 {
		f.add("", "nobody has checked what lies beside it")
	}
}

// referrerWord says what an artifact is, as far as its type tells.
func referrerWord(mediaType string) string {
	for _, known := range []struct{ part, word string }{
		{"spdx", "SBOM"}, {"cyclonedx", "SBOM"}, {"in-toto", "provenance"}, {"slsa", "provenance"}, {"sigstore", "signature"}, {"cosign", "signature"}, {"notary", "signature"},
	} {
		if strings.Contains(mediaType, known.part) {
			return known.word + ", " + mediaType
		}
	}
	if mediaType == "" {
		return "of no type"
	}
	return mediaType
}

func parameterFacts(f *facts, p preview.Parameters) {
	if p.Section != nil {
		f.add("into namespace", p.Section.Namespace)
	}
	f.add("install mode", p.InstallMode)
	f.add("watches", strings.Join(p.WatchNamespaces, ", "))
	f.add("certificates", p.Certs)
	f.add("values", p.Values)
	f.add("kube version", p.KubeVersion)
	for i, r := range p.ClusterReads {
		name := ""
		if i == 0 {
			name = "asked"
		}
		f.add(name, strings.Join(frame.NonEmpty(r.Kind, r.Name, r.Value), "  "))
	}
}

// packageCounts counts the objects of a package by action, and the findings
// about them.
func (m *view) packageCounts(name string) string {
	var objects []preview.Object
	grave := map[preview.Severity]int{}
	for i := range m.plan.Objects {
		o := &m.plan.Objects[i]
		if o.Package != name {
			continue
		}
		objects = append(objects, preview.Object{Action: o.Action})
		if at := m.index.itemsOf(o.ID); len(at) > 0 {
			grave[m.board.items[at[0]].severity()]++
		}
	}
	s := preview.Summarize(objects)
	parts := []string{preview.Plural(len(objects), "object")}
	for _, a := range preview.Actions() {
		if n := s.Count(a); n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d %s", a.Symbol(), n, a))
		}
	}
	for _, sv := range []preview.Severity{preview.Critical, preview.Warning, preview.NotKnown} {
		if n := grave[sv]; n > 0 {
			sign, _ := frame.SeveritySign(sv, false)
			parts = append(parts, strings.TrimSpace(sign)+strconv.Itoa(n))
		}
	}
	return strings.Join(parts, "  ")
}
