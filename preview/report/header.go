package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
)

// fact is a row of a table in a report: a name and its value, such as "cluster".
type fact struct {
	name, value string
}

// headFacts returns the rows at the top of every report for people: the release, or the
// plugin set and its location, and the cluster. Values are not escaped yet.
func headFacts(p *preview.Plan) []fact {
	rows := append(headRows(p), fact{"applied by", AppliedBy(p)})
	switch {
	case p.OnMachine():
	case p.ReadMode == preview.ReadOffline:
		rows = append(rows, fact{"cluster", offlineText(p)})
	default:
		rows = append(rows, fact{"cluster", joinTexts("  ", p.Target.Context, p.Target.Server, p.Target.Version)})
	}
	return dropEmpty(rows)
}

// facts returns the rows of DETAILS: the packages, how the cluster was read, options
// and digests. The facts of a package are among them if the plan has only one; else
// each package has a section.
func facts(p *preview.Plan) []fact {
	var rows []fact
	for i := range p.Packages {
		if i == maxListed {
			rows = append(rows, fact{"", fmt.Sprintf("and %d more", len(p.Packages)-i)})
			break
		}
		rows = append(rows, fact{"package", packageText(&p.Packages[i])})
		if len(p.Packages) == 1 {
			rows = append(rows, packageFacts(&p.Packages[i])...)
		}
	}
	if !p.OnMachine() && p.ReadMode != preview.ReadOffline {
		rows = append(rows, fact{"cluster", joinTexts("  ", prefixLines("uid ", p.Target.Identity), prefixLines("as ", p.Target.Who()))},
			fact{"mode", readModeText(p.ReadMode)})
	}
	if p.Policy != nil {
		rows = append(rows, fact{"policy", joinTexts("  ", p.Policy.Path, p.Policy.SHA256, waivedText(len(p.Policy.Waived)))})
	}
	if p.Options.Expires != "" {
		rows = append(rows, fact{"expires", p.Options.Expires})
	}
	if options := optionText(p.Options, preview.DefaultConflicts(command(p))); options != "" {
		rows = append(rows, fact{"choices", options})
	}
	rows = append(rows, fact{"content", p.ContentDigest}, fact{"review", p.Digest},
		fact{"ruleset", strconv.Itoa(p.Ruleset)})
	return dropEmpty(rows)
}

// headRows returns the release of a plan, and for a plugin set its location and
// generations.
func headRows(p *preview.Plan) []fact {
	if p.Platform == "" || p.Location == nil || p.Generation == nil {
		return []fact{{"release", releaseText(p)}}
	}
	generation := "no generation of this tool's"
	if p.Generation.From > 0 {
		generation = "generation " + strconv.Itoa(p.Generation.From)
	}
	if p.Generation.To != p.Generation.From {
		generation += ", this would be generation " + strconv.Itoa(p.Generation.To)
	}
	if from := p.Generation.Restores; from != nil {
		generation += " with the files of generation " + strconv.Itoa(*from)
	}
	rows := []fact{
		{"set", p.Release.Name + "  for " + p.Platform}, {"location", p.Location.Path},
		{"host", p.Location.Host}, {"installed", generation},
	}
	if a := p.Against; a != nil {
		rows = []fact{rows[0], {"against", joinTexts("  ", a.Reference, joinTexts(" ", a.Package, a.Version), a.ContentDigest)},
			{"", "taken as installed; the location was not read"}}
	}
	if !p.OnMachine() {
		rows = append([]fact{{"release", releaseText(p)}}, rows...)
	}
	return rows
}

// offlineText returns, in place of the cluster, what an offline plan was compared with.
func offlineText(p *preview.Plan) string {
	if p.Against == nil {
		return "none was contacted: every object is shown as it would be created"
	}
	taken := joinTexts(" ", p.Against.Package, p.Against.Version) + " is taken as installed, " + p.Against.ContentDigest
	if carrier(p) != "" {
		return joinTexts("  ", p.Target.Context, p.Target.Server, p.Target.Version) + ": by OLM, whose " + taken
	}
	return "none was contacted: " + taken
}

func waivedText(n int) string {
	if n == 0 {
		return "no waiver held"
	}
	return preview.Plural(n, "finding") + " waived"
}

// judgedFacts returns rows about what a policy made of a finding: where else the
// finding is, and whether it was waived or its severity changed.
func judgedFacts(f preview.Finding) []fact {
	var rows []fact
	if f.AlsoIn != "" {
		rows = append(rows, fact{"also in", f.AlsoIn + ", unchanged"})
	}
	if j := f.Judged; j != nil {
		switch j.By {
		case preview.JudgedByWaiver:
			rows = append(rows, fact{"waived", joinTexts("  ", prefixLines("was ", string(j.Was)), "by "+j.Owner, "until "+j.Expires, j.Reason)})
		case preview.JudgedBySeverity:
			rows = append(rows, fact{"policy", joinTexts("  ", prefixLines("was ", string(j.Was)), j.Reason)})
		}
	}
	return rows
}

// dropEmpty returns the rows that have a value.
func dropEmpty(rows []fact) []fact {
	var out []fact
	for _, row := range rows {
		if row.value != "" {
			out = append(out, row)
		}
	}
	return out
}

// readModeText describes how the cluster was read. What that cannot show is listed in
// the section of open questions.
func readModeText(mode preview.ReadMode) string {
	switch mode {
	case preview.ReadDryRun:
		return "server-side dry run (no changes)"
	case preview.ReadGet:
		return "get (reads only, no dry run)"
	case preview.ReadOffline:
		return "offline: no cluster was contacted"
	}
	return string(mode)
}

// signatureText describes the signature of a package; empty for a plan that was loaded
// from a file, whose statement about it is not trusted.
func signatureText(v preview.Verification) string {
	return joinTexts("  ", v.Status, prefixLines("by ", v.Identity))
}

func releaseText(p *preview.Plan) string {
	text := p.Release.Name + "  in namespace " + p.Release.Namespace
	if p.AppliedBy != nil {
		return text
	}
	if p.Base.Revision > 0 {
		return text + ", now at revision " + strconv.Itoa(p.Base.Revision)
	}
	if p.Against != nil {
		return text
	}
	return text + ", not installed yet"
}

// optionText names the options of a plan that differ from the default, of which
// conflicts is that for field conflicts.
func optionText(o preview.Options, conflicts string) string {
	var parts []string
	d := preview.DefaultOptions()
	if o.Conflicts != conflicts && o.Conflicts != "" {
		parts = append(parts, "conflicts: "+o.Conflicts)
	}
	for _, id := range slices.Sorted(maps.Keys(o.ConflictsOf)) {
		parts = append(parts, "conflicts of "+id+": "+o.ConflictsOf[id])
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
	if o.IncludeCRDs {
		parts = append(parts, "deletes CRDs with all their custom resources")
	}
	if o.IncludeNamespaces {
		parts = append(parts, "deletes namespaces with all they hold")
	}
	if o.Strict {
		parts = append(parts, "skips nothing")
	}
	return strings.Join(parts, ", ")
}

// title returns the action and what it acts on: "install mongodb 1.10.0", followed by
// what the package requires, "with kafka 3.1.0, redis 2.4.1"; for a release of several
// sections its name, "install flyte-spark: operator 0.1.0, rights".
func title(p *preview.Plan) string {
	if len(p.Packages) == 0 {
		return joinTexts(" ", p.Request.Action, p.Release.Name)
	}
	text, between := p.Request.Action, [...]string{" ", " with ", ", "}
	if verdict.Downgrades(p) {
		text = "downgrade"
	}
	if preview.InSections(p.Packages) {
		text, between = joinTexts(" ", text, p.Release.Name), [...]string{": ", ", ", ", "}
	}
	before := verdict.OlderVersions(p)
	for i, pkg := range p.Packages {
		version := pkg.Version
		if old := before[pkg.Name]; old != "" && old != version {
			version = old + " -> " + version
		}
		text += between[min(i, 2)] + joinTexts(" ", pkg.Name, version)
	}
	return text
}

func header(p *preview.Plan, l layout) []string {
	out := []string{l.paint(bold, line(title(p)))}
	out = append(out, factLines(headFacts(p))...)
	out = append(out, "")
	out = append(out, verdictLines(p, l)...)
	out = append(out, "", countText(p))
	if !p.Complete {
		out = append(out, l.paint(yellow, "NOT COMPLETE  ")+preview.Plural(len(p.Unknowns), "thing")+" could not be read; see NOT CHECKED")
	}
	return out
}

// factLines returns the rows as text. They are not wrapped, so that digests and
// references can be copied as a whole.
func factLines(rows []fact) []string {
	var out []string
	for _, row := range rows {
		out = append(out, fmt.Sprintf("  %-9s  %s", row.name, line(row.value)))
	}
	return out
}

// detailTitle is the title of the section with sources, options and digests.
const detailTitle = "DETAILS"

func detailSection(p *preview.Plan) section {
	return section{title: detailTitle, lines: factLines(facts(p))}
}

// countText returns the number of objects, in all and for each action that occurs; for
// a plugin set that of the files.
func countText(p *preview.Plan) string {
	if p.OnMachine() {
		return fileCounts(p.Files)
	}
	parts := []string{preview.Plural(len(p.Objects), "object")}
	for _, action := range preview.Actions() {
		if n := p.Summary.Count(action); n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d %s", action.Symbol(), n, action))
		}
	}
	if n := len(p.Files); n > 0 {
		parts = append(parts, preview.Plural(n, "file"))
	}
	return strings.Join(parts, "   ")
}

func joinTexts(separator string, parts ...string) string {
	var used []string
	for _, part := range parts {
		if part != "" {
			used = append(used, part)
		}
	}
	return strings.Join(used, separator)
}

func prefixLines(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

func channelText(channel string) string { return prefixLines("channel ", channel) }

func orDefault(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}
