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

// fact is one row of a report's header: a name and its value.
type fact struct {
	name, value string
}

// headFacts says which release of which cluster a plan is about, at the head of
// every form for people. Values are not escaped yet.
func headFacts(p *preview.Plan) []fact {
	rows := headRows(p)
	switch {
	case p.OnMachine():
	case p.ReadMode == preview.ReadOffline:
		rows = append(rows, fact{"cluster", offlineText(p)})
	default:
		rows = append(rows, fact{"cluster", joinTexts("  ", p.Target.Context, p.Target.Server, p.Target.Version)})
	}
	return dropEmpty(rows)
}

// facts returns where the content came from, what it was planned with, and the
// digests: the last thing that is read. What a package is made of stands in it
// when the plan has one; several packages have a section each.
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

// headRows say what is installed, and for a plugin set where.
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

// offlineText returns what an offline plan was compared with, in place of a
// cluster.
func offlineText(p *preview.Plan) string {
	if p.Against == nil {
		return "none was contacted: every object is shown as it would be created"
	}
	return "none was contacted: " + joinTexts(" ", p.Against.Package, p.Against.Version) + " is taken as installed, " + p.Against.ContentDigest
}

func waivedText(n int) string {
	if n == 0 {
		return "no waiver held"
	}
	return preview.Plural(n, "finding") + " waived"
}

// judgedFacts returns how a policy changed a finding.
func judgedFacts(f preview.Finding) []fact {
	var rows []fact
	if f.AlsoIn != "" {
		rows = append(rows, fact{"also in", f.AlsoIn + ", with the same evidence"})
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

// dropEmpty leaves out facts without a value.
func dropEmpty(rows []fact) []fact {
	var out []fact
	for _, row := range rows {
		if row.value != "" {
			out = append(out, row)
		}
	}
	return out
}

// readModeText says how the cluster was read. What that leaves open has a
// section of its own.
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

// signatureText describes a package's signature; empty for a loaded plan, whose
// record of it is not trusted.
func signatureText(v preview.Verification) string {
	return joinTexts("  ", v.Status, prefixLines("by ", v.Identity))
}

func releaseText(p *preview.Plan) string {
	text := p.Release.Name + "  in namespace " + p.Release.Namespace
	if p.Base.Revision > 0 {
		return text + ", now at revision " + strconv.Itoa(p.Base.Revision)
	}
	if p.Against != nil {
		return text
	}
	return text + ", not installed yet"
}

// optionText names the reviewed choices that are not the default.
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

// title names action and packages: "install mongodb 1.10.0". What the package
// requires follows: "with kafka 3.1.0, redis 2.4.1". A release of sections goes
// by its own name: "install flyte-spark: operator 0.1.0, rights".
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

// factLines are not wrapped: digests and references are copied as a whole.
func factLines(rows []fact) []string {
	var out []string
	for _, row := range rows {
		out = append(out, fmt.Sprintf("  %-9s  %s", row.name, line(row.value)))
	}
	return out
}

// detailTitle is the title of where the content came from, and of the digests.
const detailTitle = "DETAILS"

func detailSection(p *preview.Plan) section {
	return section{title: detailTitle, lines: factLines(facts(p))}
}

// countText counts the objects by action, those that occur.
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
