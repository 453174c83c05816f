package review

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// facts collects name and value rows for a width. Values are never cut: what
// does not fit goes on in the next rows. y copies a value.
type facts struct {
	width int
	shift int // by which rows that cannot be selected stand further left
	rows  []row
}

// newFacts collects rows for a list of the tab.
func (m *view) newFacts() *facts {
	if m.size.Mode == frame.ModeTiny {
		return &facts{width: m.size.Width - len(" >")}
	}
	return &facts{width: m.size.Width - len(" > "), shift: len("> ")}
}

func (f *facts) heading(text string) {
	if len(f.rows) > 0 {
		f.rows = append(f.rows, textRow(widget.Blank()))
	}
	f.rows = append(f.rows, textRow(widget.Line{widget.Text(theme.Heading, text)}))
}

func (f *facts) add(name, value string) { f.addAs(theme.Plain, name, value) }

func (f *facts) addAs(role theme.Role, name, value string) {
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
			f.rows = append(f.rows, row{
				id: "fact/" + strconv.Itoa(len(f.rows)), text: name + " " + safe, copy: safe, line: func(int) widget.Line { return line },
			})
			continue
		}
		f.rows = append(f.rows, textRow(widget.Line{widget.Cell(theme.Plain, "", column+f.shift), widget.Text(role, piece)}))
	}
}

// sourceTab shows where everything came from.
type sourceTab struct{ *view }

func (m *sourceTab) count() int { return -1 }

func (m *sourceTab) doc(string, int) document { return document{} }

// rows is where everything came from, every digest in full.
func (m *sourceTab) rows() []row {
	p, f := m.plan, m.newFacts()
	f.heading("PLAN")
	f.add("digest", p.Digest)
	f.add("content", p.ContentDigest)
	f.add("asked for", strings.Join(frame.NonEmpty(p.Request.Action, p.Request.Reference, p.Request.Version, p.Request.Channel), "  "))
	f.add("by the file", p.Request.File)
	if p.OnMachine() {
		f.add("set", p.Release.Name)
	} else {
		f.add("release", p.Release.Namespace+"/"+p.Release.Name)
		f.add("base", base(p))
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
		f.add(fmt.Sprintf("%d %s", i+1, s.ID), fmt.Sprintf("%s, gives up after %s", preview.Plural(len(s.Objects), "object"), s.Timeout))
	}
	return f.rows
}

func clusterFacts(f *facts, p *preview.Plan) {
	f.heading("CLUSTER")
	if p.ReadMode == preview.ReadOffline {
		f.add("read", "no cluster was contacted")
	} else {
		f.add("read", string(p.ReadMode))
	}
	f.add("context", p.Target.Context)
	f.add("server", p.Target.Server)
	f.add("version", p.Target.Version)
	f.add("uid", p.Target.Identity)
	f.add("as", p.Target.User)
	if len(p.Reads) > 0 {
		f.add("reads", preview.Plural(len(p.Reads), "object")+" that the plan rests on and does not change")
	}
	f.add("options", optionWords(p.Options))
}

// optionWords says which choices steer the apply.
func optionWords(o preview.Options) string {
	parts := []string{"conflicts " + o.Conflicts, "on failure " + o.OnFailure}
	for _, choice := range []struct {
		on   bool
		text string
	}{
		{o.Prune, "deletes what left the set"}, {!o.Prune, "keeps what left the set"}, {o.Adopt, "adopts"}, {o.Strict, "strict"},
		{o.IncludeCRDs, "deletes definitions and all their objects"},
		{o.IncludeNamespaces, "deletes namespaces and all they hold"},
	} {
		if choice.on {
			parts = append(parts, choice.text)
		}
	}
	return strings.Join(parts, ", ")
}

// imageFacts lists the images that pods of the plan run, and by whom.
func (m *sourceTab) imageFacts(f *facts) {
	images := m.plan.Images
	if len(images) == 0 {
		return
	}
	platforms := risk.PinnedPlatforms(m.plan)
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
		f.addAs(role, pinWord(image), image.Reference)
		if image.Digest != "" && !strings.Contains(image.Reference, image.Digest) {
			f.add("  today", image.Digest)
		}
		for _, other := range m.movedFrom(image.Reference) {
			f.addAs(theme.Caution, "  ! moved", other)
		}
		runsOn := strings.Join(platforms[image.Reference], ", ")
		switch {
		case runsOn != "":
		case m.plan.Platform == "":
			runsOn = "not read; known with --pin-images"
		default:
			runsOn = "not read"
		}
		f.add("  platforms", runsOn)
		f.add("  used by", usedBy(image.UsedBy))
	}
}

// maxUsers are the objects named beside an image.
const maxUsers = 4

func usedBy(ids []string) string {
	var names []string
	for i, id := range ids {
		if i == maxUsers && len(ids) > maxUsers+1 {
			names = append(names, fmt.Sprintf("%d more", len(ids)-i))
			break
		}
		names = append(names, frame.ShortKind(frame.ObjectName(id)))
	}
	return strings.Join(names, ", ")
}

// movedFrom is what findings say of a tag that moved since the installed
// revision.
func (m *sourceTab) movedFrom(reference string) []string {
	var out []string
	for _, f := range m.plan.Findings {
		if f.Rule != rules.ImageMoved.Name {
			continue
		}
		for _, part := range strings.Split(f.Evidence, "; ") {
			if strings.Contains(part, reference) {
				out = append(out, part)
			}
		}
	}
	return out
}

func base(p *preview.Plan) string {
	if p.Base.Revision == 0 {
		return "not installed yet"
	}
	return fmt.Sprintf("revision %d  %s", p.Base.Revision, p.Base.Digest)
}

func pinWord(image preview.Image) string {
	if image.Pinned {
		return "by digest"
	}
	return "by tag"
}
