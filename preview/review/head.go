package review

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
)

// head returns the first facts of a review: the release, or the plugin set and its
// location, what applies the plan, and the cluster.
func head(p *preview.Plan) []Fact {
	rows := append(headRows(p), Fact{"applied by", AppliedBy(p)})
	switch {
	case p.OnMachine():
	case p.ReadMode == preview.ReadOffline:
		rows = append(rows, Fact{"cluster", offlineText(p)})
	default:
		rows = append(rows, Fact{"cluster", words.Joined("  ", p.Target.Context, p.Target.Server, p.Target.Version)})
	}
	return dropEmpty(rows)
}

// detailSection returns what identifies the plan: its request, its options and digests, and
// how the cluster was read.
func detailSection(p *preview.Plan) Section {
	rows := []Fact{
		{"review", p.Digest}, {"content", p.ContentDigest}, {"ruleset", strconv.Itoa(p.Ruleset)},
		{"request", words.Joined("  ", p.Request.Action, p.Request.Reference, p.Request.Version, words.Prefixed("channel ", p.Request.Channel))},
		{"file", p.Request.File}, {"base", p.Base.Digest},
	}
	if p.Policy != nil {
		rows = append(rows, Fact{"policy", words.Joined("  ", p.Policy.Path, p.Policy.SHA256, waivedText(len(p.Policy.Waived)))})
	}
	rows = append(rows, Fact{"expires", p.Options.Expires}, Fact{"choices", optionText(p.Options, preview.DefaultConflicts(command(p)))})
	if !p.OnMachine() && p.ReadMode != preview.ReadOffline {
		rows = append(rows, Fact{"cluster", words.Joined("  ", words.Prefixed("uid ", p.Target.Identity), words.Prefixed("as ", p.Target.Who()))})
		if n := len(p.Reads); n > 0 {
			rows = append(rows, Fact{"reads", preview.Plural(n, "object") + " that the plan depends on and does not change"})
		}
	}
	if !p.OnMachine() {
		rows = append(rows, Fact{"mode", readModeText(p.ReadMode)})
	}
	return facts(Details, "DETAILS", append(rows, Fact{"tool", p.Tool.Version}), true)
}

// headRows returns the release of a plan, and for a plugin set its location and
// generations.
func headRows(p *preview.Plan) []Fact {
	if p.Platform == "" || p.Location == nil || p.Generation == nil {
		return []Fact{{"release", releaseText(p)}}
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
	rows := []Fact{
		{"set", p.Release.Name + "  for " + p.Platform}, {"location", p.Location.Path},
		{"host", p.Location.Host}, {"installed", generation},
	}
	if a := p.Against; a != nil {
		rows = []Fact{rows[0], {"against", words.Joined("  ", a.Reference, words.Joined(" ", a.Package, a.Version), a.ContentDigest)},
			{"", "taken as installed; the location was not read"}}
	}
	if !p.OnMachine() {
		rows = append([]Fact{{"release", releaseText(p)}}, rows...)
	}
	return rows
}

// offlineText returns, in place of the cluster, what an offline plan was compared with.
func offlineText(p *preview.Plan) string {
	if p.Against == nil {
		return "none was contacted: every object is shown as it would be created"
	}
	taken := words.Joined(" ", p.Against.Package, p.Against.Version) + " is taken as installed, " + p.Against.ContentDigest
	if carrier(p) != "" {
		return words.Joined("  ", p.Target.Context, p.Target.Server, p.Target.Version) + ": by OLM, whose " + taken
	}
	return "none was contacted: " + taken
}

func waivedText(n int) string {
	if n == 0 {
		return "no waiver held"
	}
	return preview.Plural(n, "finding") + " waived"
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

// Title returns the action and what it acts on: "install mongodb 1.10.0", followed by
// what the package requires, "with kafka 3.1.0, redis 2.4.1"; for a release of several
// sections its name, "install flyte-spark: operator 0.1.0, rights".
func Title(p *preview.Plan) string {
	if len(p.Packages) == 0 {
		return words.Joined(" ", p.Request.Action, p.Release.Name)
	}
	text, between := p.Request.Action, [...]string{" ", " with ", ", "}
	if verdict.Downgrades(p) {
		text = "downgrade"
	}
	if preview.InSections(p.Packages) {
		text, between = words.Joined(" ", text, p.Release.Name), [...]string{": ", ", ", ", "}
	}
	before := verdict.OlderVersions(p)
	for i, pkg := range p.Packages {
		version := pkg.Version
		if old := before[pkg.Name]; old != "" && old != version {
			version = old + " -> " + version
		}
		text += between[min(i, 2)] + words.Joined(" ", pkg.Name, version)
	}
	return text
}

// countText returns the number of objects, in all and for each action that occurs; for
// a plugin set that of the files.
func countText(p *preview.Plan) string {
	if p.OnMachine() {
		return fileCounts(p.Files)
	}
	files := ""
	if n := len(p.Files); n > 0 {
		files = preview.Plural(n, "file")
	}
	return words.Joined("   ", objectCounts(len(p.Objects), p.Summary), files)
}

// objectCounts returns a number of objects, in all and for each action that occurs.
func objectCounts(all int, of preview.Summary) string {
	parts := []string{preview.Plural(all, "object")}
	for _, action := range preview.Actions() {
		if n := of.Count(action); n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d %s", action.Symbol(), n, action))
		}
	}
	return strings.Join(parts, "   ")
}

// fileCounts returns the number of files, in all and for each action that occurs.
func fileCounts(files []preview.File) string {
	return preview.Plural(len(files), "file") + "   " + preview.FileCounts(files, "   ")
}
