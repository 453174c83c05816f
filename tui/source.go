package tui

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// facts collects name and value rows; y copies the value.
type facts struct{ rows []row }

func (f *facts) heading(text string) {
	if len(f.rows) > 0 {
		f.rows = append(f.rows, textRow(widget.Blank()))
	}
	f.rows = append(f.rows, textRow(widget.Line{widget.Text(theme.Heading, text)}))
}

func (f *facts) add(name, value string) {
	if value == "" {
		return
	}
	safe := textsafe.Line(value)
	f.rows = append(f.rows, row{
		id: "fact/" + strconv.Itoa(len(f.rows)), text: name + " " + safe, copy: safe,
		line: func(width int) widget.Line {
			column := 16
			if width < 60 {
				column = 9
			}
			return widget.Line{widget.Cell(theme.Plain, name, column), widget.Text(theme.Plain, safe)}
		},
	})
}

// sourceRows is where everything came from, every digest in full.
func sourceRows(m *review) []row {
	p, f := m.plan, &facts{}
	f.heading("PLAN")
	f.add("digest", p.Digest)
	f.add("content", p.ContentDigest)
	f.add("asked for", strings.Join(words(p.Request.Action, p.Request.Reference, p.Request.Version, p.Request.Channel), "  "))
	f.add("release", p.Release.Namespace+"/"+p.Release.Name)
	f.add("base", base(p))
	f.add("ruleset", strconv.Itoa(p.Ruleset))
	f.add("tool", p.Tool.Version)
	for _, pkg := range p.Packages {
		packageFacts(f, pkg)
	}
	f.heading("CLUSTER")
	f.add("read", string(p.ReadMode))
	f.add("context", p.Target.Context)
	f.add("server", p.Target.Server)
	f.add("version", p.Target.Version)
	f.add("uid", p.Target.Identity)
	f.add("as", p.Target.User)
	f.add("reads", fmt.Sprintf("%d objects that are not changed", len(p.Reads)))
	f.add("options", fmt.Sprintf("conflicts %s, on failure %s, prune %t, adopt %t", p.Options.Conflicts, p.Options.OnFailure, p.Options.Prune, p.Options.Adopt))
	if len(p.Images) > 0 {
		f.heading(fmt.Sprintf("IMAGES  (%d)", len(p.Images)))
	}
	for _, image := range p.Images {
		f.add(pinWord(image), imageText(image))
	}
	f.heading(fmt.Sprintf("STEPS  (%d)", len(p.Stages)))
	for i, s := range p.Stages {
		f.add(fmt.Sprintf("%d %s", i+1, s.ID), fmt.Sprintf("%d objects, gives up after %s", len(s.Objects), s.Timeout))
	}
	return f.rows
}

func packageFacts(f *facts, pkg preview.Package) {
	f.heading("PACKAGE " + pkg.Name)
	f.add("version", pkg.Version)
	f.add("bundle", pkg.Bundle)
	f.add("format", pkg.Format)
	for _, s := range pkg.Sources {
		f.add(s.Kind, s.Reference)
		f.add("pin", s.Digest)
	}
	for _, v := range pkg.Via {
		f.add("via "+v.Kind, strings.Join(words(v.Reference, v.Channel), "  channel "))
		f.add("pin", v.Digest)
		if v.Verification != nil {
			f.add("signature", signature(*v.Verification))
		}
	}
	f.add("signature", signature(pkg.Verification))
	for _, r := range pkg.Referrers {
		f.add("beside", strings.Join(words(r.ArtifactType, r.Digest), "  "))
	}
	f.add("content", pkg.ContentDigest)
	f.add("install mode", pkg.Parameters.InstallMode)
	f.add("watches", strings.Join(pkg.Parameters.WatchNamespaces, ", "))
	f.add("certificates", pkg.Parameters.Certs)
	f.add("values", pkg.Parameters.Values)
	f.add("kube version", pkg.Parameters.KubeVersion)
}

// signature is empty for a loaded plan: what it recorded, nothing vouches for.
func signature(v preview.Verification) string {
	if v.Identity == "" {
		return v.Status
	}
	return v.Status + "  by " + v.Identity
}

// words drops what is empty.
func words(list ...string) []string {
	var out []string
	for _, s := range list {
		if s != "" {
			out = append(out, s)
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

// imageText is a reference and, when it is not in it, the digest it has today.
func imageText(image preview.Image) string {
	if image.Digest == "" || strings.Contains(image.Reference, image.Digest) {
		return image.Reference
	}
	return image.Reference + "  today " + image.Digest
}
