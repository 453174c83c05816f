package tabs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/tui/describe"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// propertyList builds rows of a name and a value, for a width. Values are never
// cut: the rest of a long one is in the rows below. The key y copies a value.
type propertyList struct {
	width int
	shift int // by which rows that cannot be selected stand further left
	rows  []Row
}

// newPropertyList returns an empty list for the width of the tab.
func (m *View) newPropertyList() *propertyList {
	if m.Size.Mode == frame.ModeTiny {
		return &propertyList{width: m.Size.Width - len(" >")}
	}
	return &propertyList{width: m.Size.Width - len(" > "), shift: len("> ")}
}

func (f *propertyList) heading(text string) {
	if len(f.rows) > 0 {
		f.rows = append(f.rows, textRow(widget.Blank()))
	}
	f.rows = append(f.rows, textRow(widget.Line{widget.Text(theme.Heading, text)}))
}

func (f *propertyList) add(name, value string) { f.addAs(theme.Plain, name, value) }

func (f *propertyList) addAs(role theme.Role, name, value string) {
	if value == "" {
		return
	}
	column := 16
	if f.width < wideRow {
		column = 9
	}
	safe := textsafe.Line(value)
	for i, piece := range textsafe.Wrap(safe, max(8, f.width-column)) {
		if i == 0 {
			line := widget.Line{widget.Cell(theme.Plain, name, column), widget.Text(role, piece)}
			f.rows = append(f.rows, Row{
				ID: "fact/" + strconv.Itoa(len(f.rows)), Text: name + " " + safe, Copy: safe, Line: func(int) widget.Line { return line },
			})
			continue
		}
		f.rows = append(f.rows, textRow(widget.Line{widget.Cell(theme.Plain, "", column+f.shift), widget.Text(role, piece)}))
	}
}

// sourceTab shows where the content comes from, with every digest in full.
type sourceTab struct{ *View }

func (m *sourceTab) Count() int { return -1 }

func (m *sourceTab) Doc(string, int) Document { return Document{} }

// Rows returns the sources of everything in the plan, with every digest in full.
func (m *sourceTab) Rows() []Row {
	p, f := m.Plan, m.newPropertyList()
	f.heading("PLAN")
	f.add("digest", p.Digest)
	f.add("content", p.ContentDigest)
	f.add("asked for", strings.Join(frame.NonEmpty(p.Request.Action, p.Request.Reference, p.Request.Version, p.Request.Channel), "  "))
	f.add("by the file", p.Request.File)
	if p.OnMachine() {
		f.add("set", p.Release.Name)
	} else {
		f.add("release", p.Release.Namespace+"/"+p.Release.Name)
		f.add("base", describe.Base(p))
	}
	f.add("ruleset", strconv.Itoa(p.Ruleset))
	if p.Policy != nil {
		f.add("policy", strings.Join(frame.NonEmpty(p.Policy.Path, p.Policy.SHA256), "  "))
	}
	f.add("expires", p.Options.Expires)
	f.add("tool", p.Tool.Version)
	for i := range p.Packages {
		m.packageFacts(f, &p.Packages[i])
	}
	m.imageFacts(f)
	if p.Platform != "" {
		setFacts(f, p)
	}
	if p.OnMachine() {
		return f.rows
	}
	clusterFacts(f, p)
	f.heading(fmt.Sprintf("STEPS  (%d)", len(p.Stages)))
	for i, s := range p.Stages {
		f.add(fmt.Sprintf("%d %s", i+1, s.ID), fmt.Sprintf("%s, times out after %s", preview.Plural(len(s.Objects), "object"), s.Timeout))
	}
	return f.rows
}

func clusterFacts(f *propertyList, p *preview.Plan) {
	f.heading("CLUSTER")
	switch {
	case p.LacksLiveState():
		f.add("read", "no cluster was contacted")
	case p.ReadMode == preview.ReadOffline:
		f.add("read", "the bundles that OLM has and would have")
	default:
		f.add("read", string(p.ReadMode))
	}
	f.add("context", p.Target.Context)
	f.add("server", p.Target.Server)
	f.add("version", p.Target.Version)
	f.add("uid", p.Target.Identity)
	f.add("as", p.Target.Who())
	if len(p.Reads) > 0 {
		f.add("reads", preview.Plural(len(p.Reads), "object")+" that the plan depends on and does not change")
	}
	f.add("options", describe.Options(p.Options))
}

// imageFacts appends the images that the plan's pods run, and which objects use them.
func (m *sourceTab) imageFacts(f *propertyList) {
	images := m.Plan.Images
	if len(images) == 0 {
		return
	}
	platforms, moved := risk.PinnedPlatforms(m.Plan), m.movedTags()
	pinned := 0
	for _, image := range images {
		if image.Pinned {
			pinned++
		}
	}
	f.heading(fmt.Sprintf("IMAGES  (%d, %d by digest)", len(images), pinned))
	for _, image := range images {
		role := theme.Caution
		if image.Pinned {
			role = theme.Plain
		}
		f.addAs(role, describe.ImagePin(image), image.Reference)
		if image.Digest != "" && !strings.Contains(image.Reference, image.Digest) {
			f.add("  today", image.Digest)
		}
		for _, other := range moved[image.Reference] {
			f.addAs(theme.Caution, "  ! moved", other)
		}
		runsOn := strings.Join(platforms[image.Reference], ", ")
		switch {
		case runsOn != "":
		case m.Plan.Platform == "":
			runsOn = "not read; known with --pin-images"
		default:
			runsOn = "not read"
		}
		f.add("  platforms", runsOn)
		f.add("  used by", describe.UsedBy(image.UsedBy))
	}
}

// movedTags returns the evidence that tags of images were moved to other digests since
// the installed revision, by the image that it names.
func (m *sourceTab) movedTags() map[string][]string {
	out := map[string][]string{}
	for _, f := range m.Plan.Findings {
		if f.Rule != rules.ImageMoved.Name {
			continue
		}
		for _, piece := range f.Pieces {
			if piece.Item != nil {
				out[piece.Item.Name] = append(out[piece.Item.Name], piece.What)
			}
		}
	}
	return out
}

// packageFacts appends the section about a package: what it is, where it came
// from, why this version was chosen, who signed it, its SBOMs, and what
// happened when its objects were rendered.
func (m *sourceTab) packageFacts(f *propertyList, pkg *preview.Package) {
	title := "PACKAGE " + strings.Join(frame.NonEmpty(pkg.Name, pkg.Version), " ")
	if len(m.Plan.Packages) > 1 {
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
		stepFacts(f, v)
	}
	referrerFacts(f, pkg.Referrers)
	f.add("content", pkg.ContentDigest)
	parameterFacts(f, pkg.Parameters)
	f.add("sandbox", pkg.Isolation)
	for _, note := range pkg.Notes {
		f.addAs(theme.Caution, "note", strings.Join(frame.NonEmpty(note.Text, "("+note.Rule+")"), " "))
	}
	for _, d := range pkg.Dependencies {
		by := "provided by " + d.By
		if d.By == "" {
			by = "not provided"
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

// stepFacts appends one step by which the package was found, such as a catalog:
// why this one was chosen, and the candidates that were not.
func stepFacts(f *propertyList, v preview.ResolutionStep) {
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

// signatureFact appends who signed. A signature that was not verified stands
// out by its colour.
func signatureFact(f *propertyList, name string, v preview.Verification) {
	role := theme.Caution
	if v.Status == "verified" {
		role = theme.Good
	}
	f.addAs(role, name, describe.Signature(v))
}

// referrerFacts appends the artifacts that refer to the content, such as SBOMs
// and provenance.
func referrerFacts(f *propertyList, list []preview.Referrer) {
	for i, r := range list {
		name := ""
		if i == 0 {
			name = "beside it"
		}
		f.add(name, strings.Join(frame.NonEmpty(describe.Referrer(r.ArtifactType), r.PredicateType, r.Digest), "  "))
	}
	if len(list) > 0 {
		f.add("", "signatures and SBOMs beside it were not checked")
	}
}

func parameterFacts(f *propertyList, p preview.Parameters) {
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

// packageCounts returns how many objects of a package have which action, and
// how many findings are about them.
func (m *View) packageCounts(name string) string {
	var objects []preview.Object
	grave := map[preview.Severity]int{}
	for i := range m.Plan.Objects {
		o := &m.Plan.Objects[i]
		if o.Package != name {
			continue
		}
		objects = append(objects, preview.Object{Action: o.Action})
		if at := m.index.itemsOf(o.ID); len(at) > 0 {
			grave[m.Checklist.Items[at[0]].Severity()]++
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
