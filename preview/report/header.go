package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// fact is one row of the head: what a plan is about.
type fact struct {
	name, value string
}

// facts are the head of every human format. Values are not escaped yet.
func facts(p *preview.Plan) []fact {
	rows := []fact{{"release", releaseText(p)}}
	for _, pkg := range p.Packages {
		rows = append(rows, fact{"package", joined("  ", pkg.Name, pkg.Version, pkg.Bundle, pkg.Format)})
		for _, s := range pkg.Sources {
			rows = append(rows, fact{"source", joined("  ", s.Kind, s.Reference)}, fact{"", s.Digest})
		}
		for _, v := range pkg.Via {
			rows = append(rows, fact{"via", joined("  ", v.Kind, v.Reference, channelText(v.Channel))}, fact{"", v.Digest})
			if v.Verification != nil {
				rows = append(rows, fact{"", "signature " + signatureText(*v.Verification)})
			}
		}
		if params := parameterText(pkg.Parameters); params != "" {
			rows = append(rows, fact{"rendered", params})
		}
		rows = append(rows, fact{"signature", signatureText(pkg.Verification)})
		rows = append(rows, besideRows(pkg.Referrers)...)
	}
	if p.ReadMode == preview.ReadOffline {
		rows = append(rows, fact{"cluster", "none was contacted: every object is shown as it would be created"})
	} else {
		rows = append(rows, fact{"cluster", joined("  ", p.Target.Context, p.Target.Server, p.Target.Version)},
			fact{"", joined("  ", prefixed("uid ", p.Target.Identity), prefixed("as ", p.Target.User))},
			fact{"read by", string(p.ReadMode)})
	}
	if options := optionText(p.Options); options != "" {
		rows = append(rows, fact{"choices", options})
	}
	rows = append(rows, fact{"content", p.ContentDigest}, fact{"review", p.Digest},
		fact{"ruleset", strconv.Itoa(p.Ruleset)})
	var out []fact
	for _, row := range rows {
		if row.value != "" {
			out = append(out, row)
		}
	}
	return out
}

// signatureText is empty for a plan that was loaded: what it recorded, nothing
// vouches for.
func signatureText(v preview.Verification) string {
	return joined("  ", v.Status, prefixed("by ", v.Identity))
}

// maxBeside bounds the referrers that are listed one by one.
const maxBeside = 20

// besideRows list what else refers to the content.
func besideRows(referrers []preview.Referrer) []fact {
	var rows []fact
	for i, r := range referrers {
		name := ""
		if i == 0 {
			name = "beside"
		}
		if i == maxBeside {
			return append(rows, fact{"", fmt.Sprintf("and %d more", len(referrers)-i)})
		}
		rows = append(rows, fact{name, joined("  ", orDefault(r.ArtifactType, "of no type"), r.Digest)})
	}
	return rows
}

func releaseText(p *preview.Plan) string {
	text := p.Release.Name + "  in namespace " + p.Release.Namespace
	if p.Base.Revision > 0 {
		return text + ", now at revision " + strconv.Itoa(p.Base.Revision)
	}
	return text + ", not installed yet"
}

func parameterText(params preview.Parameters) string {
	var watch string
	if len(params.WatchNamespaces) > 0 {
		watch = "watching " + strings.Join(params.WatchNamespaces, ", ")
	}
	return joined("  ", params.InstallMode, watch, prefixed("certs ", params.Certs),
		prefixed("for Kubernetes ", params.KubeVersion), prefixed("values ", params.Values))
}

// optionText names the reviewed choices that are not the default.
func optionText(o preview.Options) string {
	var parts []string
	d := preview.DefaultOptions()
	if o.Conflicts != d.Conflicts && o.Conflicts != "" {
		parts = append(parts, "conflicts: "+o.Conflicts)
	}
	if o.Adopt {
		parts = append(parts, "adopts existing objects")
	}
	if o.OnFailure != d.OnFailure && o.OnFailure != "" {
		parts = append(parts, "on failure: "+o.OnFailure)
	}
	if !o.Prune {
		parts = append(parts, "prunes nothing")
	}
	return strings.Join(parts, ", ")
}

// title is what is done to what: "install mongodb 1.10.0".
func title(p *preview.Plan) string {
	words := []string{p.Request.Action}
	if len(p.Packages) == 0 {
		words = append(words, p.Release.Name)
	}
	for _, pkg := range p.Packages {
		words = append(words, pkg.Name, pkg.Version)
	}
	return joined(" ", words...)
}

func header(p *preview.Plan, l layout) []string {
	out := []string{l.paint(bold, line(title(p)))}
	for _, row := range facts(p) {
		// Not wrapped: digests and references are copied as a whole.
		out = append(out, fmt.Sprintf("  %-9s  %s", row.name, line(row.value)))
	}
	out = append(out, "", countText(p))
	if !p.Complete {
		out = append(out, l.paint(yellow, "NOT COMPLETE  ")+plural(len(p.Unknowns), "thing")+" could not be read; see NOT KNOWN")
	}
	return out
}

// countText counts the objects by action, those that occur.
func countText(p *preview.Plan) string {
	parts := []string{plural(len(p.Objects), "object")}
	for _, action := range preview.Actions() {
		if n := p.Summary.Count(action); n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d %s", action.Symbol(), n, action))
		}
	}
	if n := len(p.Files); n > 0 {
		parts = append(parts, plural(n, "file"))
	}
	return strings.Join(parts, "   ")
}

func joined(separator string, parts ...string) string {
	var used []string
	for _, part := range parts {
		if part != "" {
			used = append(used, part)
		}
	}
	return strings.Join(used, separator)
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

func channelText(channel string) string { return prefixed("channel ", channel) }

func orDefault(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}
