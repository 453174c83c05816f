package tabs

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/review"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// Rows of the summary that lead to a tab. Findings lead to themselves.
const (
	linkFindings = "link/findings"
	linkAccess   = "link/access"
	linkObjects  = "link/objects"
	linkFiles    = "link/files"
)

// LinkTo returns the tab that a row of the summary opens, by its id; false if
// it opens none.
func LinkTo(id string) (Tab, bool) {
	switch {
	case id == linkFindings:
		return Findings, true
	case strings.HasPrefix(id, linkAccess):
		return Access, true
	case id == linkObjects:
		return Objects, true
	case id == linkFiles:
		return Files, true
	}
	return 0, false
}

// How many findings the summary lists, the others counted: at least minShould
// of those that should be looked at, however small the window.
const (
	minShould   = 3
	maxEarlier  = 3
	maxNotKnown = 6
)

// summaryTab shows the whole review on one page.
type summaryTab struct{ *View }

func (m *summaryTab) Count() int { return -1 }

func (m *summaryTab) Doc(string, int) Document { return Document{} }

// Rows returns the whole review on one page: counts, findings by severity, the
// access that is asked for, and how many objects there are. It lists as many
// warnings as the window has room for.
func (m *summaryTab) Rows() []Row {
	if m.Size.Mode == frame.ModeTiny {
		return m.findingRows()
	}
	// More than a window has lines need not be tried.
	should := min(len(m.Checklist.InSection(Section{Severity: preview.Warning})), max(minShould, m.PaneHeight()))
	rows := m.summaryWith(should)
	over := len(rows) - m.PaneHeight()
	listed := len(m.shownItems(Section{Severity: preview.Warning}, should))
	if over <= 0 || listed <= minShould {
		return rows
	}
	if listed == len(m.Checklist.InSection(Section{Severity: preview.Warning})) {
		over++ // one more line says that there are others
	}
	return m.summaryWith(max(minShould, listed-over))
}

// summaryWith returns the rows of the summary with at most should warnings.
func (m *summaryTab) summaryWith(should int) []Row {
	roomy := m.Size.Mode == frame.ModeDouble
	gap := func(rows []Row) []Row {
		if roomy {
			return append(rows, textRow(widget.Blank()))
		}
		return rows
	}
	rows := gap(slices.Concat(m.verdictRows(), []Row{m.counts()}, m.kindRows(), m.lossRows()))
	var listed []int
	for _, s := range sections() {
		listed = append(listed, m.shownItems(s, should)...)
	}
	columns := m.columns(listed)
	for _, s := range sections() {
		if part := m.section(s, m.shownItems(s, should), columns); len(part) > 0 {
			rows = gap(append(rows, part...))
		}
	}
	if m.Plan.OnMachine() {
		return append(rows, m.filesRow())
	}
	rows = gap(append(rows, m.access()...))
	if len(m.Plan.Files) > 0 {
		rows = append(rows, m.filesRow())
	}
	return append(rows, m.uncoveredRow())
}

// counts returns a row with the number of objects for each action that changes
// something.
func (m *summaryTab) counts() Row {
	if m.Plan.OnMachine() {
		return m.fileCounts()
	}
	line := widget.Line{widget.Text(theme.Strong, strconv.Itoa(len(m.Plan.Objects))+" objects")}
	if m.Size.Mode != frame.ModeDouble {
		line = nil
	}
	line = append(line, ActionCounts(m.Plan.Summary, m.Size.Mode == frame.ModeDouble)...)
	if m.Size.Mode != frame.ModeDouble {
		line = append(line, widget.Text(theme.Plain, " plan "+frame.ShortDigest(m.Plan.Digest, 4)))
	}
	if m.Plan.Base.Revision > 0 {
		line = append(line, widget.Text(theme.Plain, fmt.Sprintf("   since revision %d", m.Plan.Base.Revision)))
	}
	if created := verdict.NewNamespaces(m.Plan); created != "" {
		line = append(line, widget.Text(theme.Plain, "   "+created))
	}
	if n := len(m.Foreign.Of); n > 0 && m.Size.Mode == frame.ModeDouble {
		line = append(line, widget.Text(theme.Caution, fmt.Sprintf("   drift: %s", preview.Plural(n, "object"))))
	} else if n > 0 {
		line = append(line, widget.Text(theme.Caution, fmt.Sprintf("  drift %d", n)))
	}
	return textRow(line)
}

// kindRows return rows with how many objects of each kind an install creates, which is
// the size of what is reviewed. What else a plan does with kinds is among its changes.
func (m *summaryTab) kindRows() []Row {
	if m.Size.Mode != frame.ModeDouble || m.Plan.OnMachine() || m.Plan.Verdict == nil || len(m.Plan.Verdict.Changes) > 0 {
		return nil
	}
	counts := map[string]int{}
	for i := range m.Plan.Objects {
		if o := &m.Plan.Objects[i]; o.Action == preview.ActionCreate {
			counts[frame.ShortKind(o.Kind)]++
		}
	}
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		kinds = append(kinds, fmt.Sprintf("%d %s", counts[kind], kind))
	}
	if len(kinds) == 0 {
		return nil
	}
	e := changeEntry{what: strings.Join(kinds, ", ")}
	return e.rows("create", 2, max(m.Size.Width-changeLead-1, changeLead))
}

// fileCounts returns a row with the number of files of a plugin set for each action.
func (m *summaryTab) fileCounts() Row {
	roomy := m.Size.Mode == frame.ModeDouble
	line := FileCounts(m.Plan.Files, roomy)
	if roomy {
		line = append(widget.Line{widget.Text(theme.Strong, preview.Plural(len(m.Plan.Files), "file"))}, line...)
	} else {
		line = append(line, widget.Text(theme.Plain, " plan "+frame.ShortDigest(m.Plan.Digest, 4)))
	}
	if g := m.Plan.Generation; g != nil && roomy {
		line = append(line, widget.Text(theme.Plain, "   generation "+review.GenerationText(g)))
	}
	return textRow(line)
}

// filesRow returns the row that opens the files tab.
func (m *summaryTab) filesRow() Row {
	text := "Browse: " + preview.Plural(len(m.Plan.Files), "file")
	if n := len(m.Plan.ConfigChanges); n > 0 {
		text += ", " + preview.Plural(n, "setting") + " of the config"
	}
	if n := len(m.Plan.Platforms); n > 1 {
		text += ", for " + preview.Plural(n, "platform")
	}
	return linkRow(linkFiles, text)
}

// ActionCounts returns the number of objects for each action, with its symbol;
// roomy adds the actions' names.
func ActionCounts(s preview.Summary, roomy bool) widget.Line {
	var line widget.Line
	for _, a := range preview.Actions() {
		n := s.Count(a)
		if n == 0 {
			continue
		}
		text := fmt.Sprintf("   %s %d %s", a.Symbol(), n, a)
		if !roomy {
			text = fmt.Sprintf("%s%d %s  ", a.Symbol(), n, a)
		}
		line = append(line, widget.Text(frame.ActionRole(a), text))
	}
	if len(line) == 0 {
		return frame.Plain("no objects")
	}
	return line
}

// shownItems returns the indexes of a section's items that the summary lists.
// If only one would be left out, it is listed too, because saying so takes as
// much room. Critical items fill the window at most: the heading counts all of
// them, and the key n goes through them.
func (m *summaryTab) shownItems(s Section, should int) []int {
	at := m.Checklist.InSection(s)
	limit := len(at)
	switch {
	case s.Severity == preview.Info:
		return nil
	case s.Severity == preview.Critical:
		limit = max(minShould, m.PaneHeight())
	case s.Earlier:
		limit = maxEarlier
	case s.Severity == preview.Warning:
		limit = should
	case s.Severity == preview.NotKnown:
		limit = maxNotKnown
	}
	if len(at) <= limit+1 {
		return at
	}
	return at[:limit]
}

// section returns the heading and the findings of a section. If there is no
// critical finding, it says so.
func (m *summaryTab) section(s Section, listed []int, columns findingColumns) []Row {
	at := m.Checklist.InSection(s)
	questions := s.Severity == preview.NotKnown && len(m.questions) > 0
	if s.Severity == preview.Info || len(at) == 0 && !questions && s.Severity != preview.Critical {
		return nil
	}
	rows := []Row{m.sectionHeading(s, at, columns)}
	for _, i := range listed {
		rows = append(rows, m.findingRow(i, columns, true))
	}
	if more := len(at) - len(listed); more > 0 {
		rows = append(rows, linkRow(linkFindings, fmt.Sprintf("   … %d more", more)))
	}
	if questions {
		rows = append(rows, m.questionsRow())
	}
	return rows
}

func (m *summaryTab) sectionHeading(s Section, at []int, columns findingColumns) Row {
	title := fmt.Sprintf("%s  (%d)", s.title(), len(at))
	switch {
	case s.Severity.Gates() && len(at) > 0:
		return m.mustLookHeading(s, at, columns)
	case s.Severity == preview.Critical:
		title = s.title() + "  (none)"
	case s.Earlier:
		title += m.priorText(at)
	case len(at) == 0:
		title = s.title()
	}
	return textRow(widget.Line{widget.Text(theme.Heading, title)})
}

// mustLookHeading returns the heading of findings that gate. It counts those
// that are left each time it is drawn, because marks change without new rows.
func (m *summaryTab) mustLookHeading(s Section, at []int, columns findingColumns) Row {
	return Row{Text: s.title(), Line: func(width int) widget.Line {
		title := fmt.Sprintf("%s  (%d of %d left)", s.title(), m.Checklist.remainingOf(s.Severity), len(at))
		if m.Size.Mode != frame.ModeDouble {
			return widget.Line{widget.Text(theme.Heading, title)}
		}
		what, who := columns.fit(width - findingMark)
		return append(widget.Line{widget.Cell(theme.Heading, title, findingMark+what+who+2*columnGap+2)}, widget.Text(theme.Plain, "what it means"))
	}}
}

// priorText says with which revision, and by whom, findings were accepted, if
// it was one revision for all.
func (m *summaryTab) priorText(at []int) string {
	revision := m.Checklist.Items[at[0]].First().AcceptedIn
	for _, i := range at {
		if m.Checklist.Items[i].First().AcceptedIn != revision {
			return ""
		}
	}
	return "  " + strings.TrimSpace(m.acceptance(revision))
}

// uncoveredRow returns a row with the numbers of all objects, grants and
// information, which the sections above do not list.
func (m *summaryTab) uncoveredRow() Row {
	s := m.Plan.Summary
	info := len(m.Checklist.OfSeverity(preview.Info))
	text := fmt.Sprintf("Browse: %d objects (%d unchanged), %s", len(m.Plan.Objects), s.Unchanged, preview.Plural(len(m.Plan.Access.Grants), "grant"))
	if info > 0 {
		text += fmt.Sprintf(", %d info", info)
	}
	return linkRow(linkObjects, text)
}

// accessClass is one row of the summary's table of access: a class of grants
// with a name that users know, such as reading Secrets.
type accessClass struct {
	name    string
	matches func(*preview.Grant) bool
}

func accessClasses() []accessClass {
	const rbac = "rbac.authorization.k8s.io"
	write, writeRoles := []string{"create", "update", "patch", "delete", "deletecollection"}, []string{"create", "update", "patch", "delete", "deletecollection", "escalate", "bind"}
	return []accessClass{
		{"read secrets", func(g *preview.Grant) bool {
			return coversResource(g, "", "secrets") && hasVerb(g, "get", "list", "watch")
		}},
		{"write workloads", func(g *preview.Grant) bool {
			workload := coversResource(g, "", "pods", "replicationcontrollers") || coversResource(g, "batch", "jobs", "cronjobs") ||
				coversResource(g, "apps", "deployments", "daemonsets", "statefulsets", "replicasets")
			return workload && hasVerb(g, write...) || coversResource(g, "", "pods/exec", "pods/attach") && hasVerb(g, "create", "get")
		}},
		{"change RBAC / escalate", func(g *preview.Grant) bool {
			roles := coversResource(g, rbac, "roles", "clusterroles", "rolebindings", "clusterrolebindings")
			return roles && hasVerb(g, writeRoles...) ||
				coversResource(g, "", "users", "groups", "serviceaccounts") && hasVerb(g, "impersonate") ||
				coversResource(g, "", "serviceaccounts/token") && hasVerb(g, "create")
		}},
		{"wildcard verbs or resources", func(g *preview.Grant) bool {
			return slices.Contains(g.Verbs, "*") || slices.Contains(g.Resources, "*")
		}},
	}
}

// coversResource reports whether a grant covers one of the resources of an API group.
func coversResource(g *preview.Grant, group string, resources ...string) bool {
	if !slices.Contains(g.APIGroups, group) && !slices.Contains(g.APIGroups, "*") {
		return false
	}
	return slices.Contains(g.Resources, "*") || slices.ContainsFunc(resources, func(r string) bool { return slices.Contains(g.Resources, r) })
}

func hasVerb(g *preview.Grant, verbs ...string) bool {
	return slices.Contains(g.Verbs, "*") || slices.ContainsFunc(verbs, func(v string) bool { return slices.Contains(g.Verbs, v) })
}

// tally is how many grants of a class the plan gives: in the cluster, in
// namespaces, and how many of them are new or wider.
type tally struct{ cluster, namespaced, changed int }

func countGrants(grants []preview.Grant, c accessClass) tally {
	var t tally
	for i := range grants {
		g := &grants[i]
		if g.Change == preview.GrantRemoved || g.Held || !c.matches(g) {
			continue
		}
		if g.Scope == preview.ScopeCluster {
			t.cluster++
		} else {
			t.namespaced++
		}
		if isChanged(g.Change) {
			t.changed++
		}
	}
	return t
}

// access returns the summary's table of access; in smaller windows, two lines.
func (m *summaryTab) access() []Row {
	if len(m.Plan.Packages) == 0 {
		return m.accessTaken()
	}
	if m.Size.Mode != frame.ModeDouble {
		return m.accessShort()
	}
	since := "new"
	if m.Plan.Base.Revision > 0 {
		since = fmt.Sprintf("new since revision %d", m.Plan.Base.Revision)
	}
	table := func(role theme.Role, name, cluster, namespaced, changed string) widget.Line {
		return widget.Line{
			widget.Cell(role, name, 31), widget.Cell(theme.Plain, cluster, 15),
			widget.Cell(theme.Plain, namespaced, 13), widget.Text(theme.Plain, changed),
		}
	}
	rows := []Row{textRow(table(theme.Heading, "ACCESS ASKED FOR", "cluster-wide", "namespaced", since))}
	number := func(n int) string { return fmt.Sprintf("%7d", n) }
	grants := m.Plan.Access.Grants
	for _, c := range accessClasses() {
		rows = append(rows, accessLink(c.name, func() widget.Line {
			t := countGrants(grants, c)
			return table(theme.Plain, c.name, number(t.cluster), number(t.namespaced), number(t.changed))
		}))
	}
	for _, c := range cloudTally(m.Plan.Cloud) {
		name := "cloud: " + c.provider + " statements"
		rows = append(rows, accessLink(name, func() widget.Line {
			return table(theme.Caution, name, number(c.statements), "      -", number(c.changed))
		}))
	}
	return rows
}

// accessLink returns a row of the table that opens the access tab. count is
// called once, when the row is first drawn.
func accessLink(name string, count func() widget.Line) Row {
	line := sync.OnceValue(count)
	return Row{
		ID: linkAccess + "/" + name, words: func() string { return line().Plain() },
		Line: func(int) widget.Line { return line() },
	}
}

func (m *summaryTab) accessShort() []Row {
	var parts []string
	for _, c := range accessClasses() {
		t := countGrants(m.Plan.Access.Grants, c)
		parts = append(parts, fmt.Sprintf("%s: cluster %d ns %d", c.name, t.cluster, t.namespaced))
	}
	first := widget.Line{widget.Text(theme.Heading, "ACCESS "), widget.Text(theme.Plain, parts[0]+"   "+parts[1])}
	rows := []Row{textRow(first), textRow(frame.Plain("       " + strings.Replace(parts[2], " / escalate", "", 1) + "   " + strings.Replace(parts[3], " verbs or resources", "", 1)))}
	var cloud []string
	for _, c := range cloudTally(m.Plan.Cloud) {
		cloud = append(cloud, c.provider+" "+strconv.Itoa(c.statements))
	}
	if len(cloud) > 0 {
		rows = append(rows, textRow(frame.Plain("       cloud "+strings.Join(cloud, "  "))))
	}
	return rows
}

type cloudCount struct {
	provider            string
	statements, changed int
}

// cloudTally returns the number of permissions in each cloud, other signs of
// access included.
func cloudTally(c preview.Cloud) []cloudCount {
	var out []cloudCount
	add := func(provider string, changed bool) {
		i := slices.IndexFunc(out, func(c cloudCount) bool { return c.provider == provider })
		if i < 0 {
			i = len(out)
			out = append(out, cloudCount{provider: provider})
		}
		out[i].statements++
		if changed {
			out[i].changed++
		}
	}
	for _, p := range c.Permissions {
		if p.Change != preview.GrantRemoved {
			add(p.Provider, isChanged(p.Change))
		}
	}
	for _, d := range c.Declared {
		add(d.Provider, false)
	}
	slices.SortFunc(out, func(a, b cloudCount) int { return strings.Compare(a.provider, b.provider) })
	return out
}

// lossRows say which objects with data the plan deletes.
func (m *summaryTab) lossRows() []Row {
	var rows []Row
	if lost := m.byKind(func(o *preview.Object) bool {
		return (o.Action == preview.ActionDelete || o.Action == preview.ActionReplace) && holdsData(o.Kind)
	}); lost != "" {
		rows = append(rows, textRow(widget.Line{widget.Text(theme.Risk, "lost  "), widget.Text(theme.Plain, lost+m.operands())}))
	}
	return rows
}

// byKind returns, as text, the number of objects of each kind for which the
// function which returns true.
func (m *summaryTab) byKind(which func(*preview.Object) bool) string {
	count := map[string]int{}
	var kinds []string
	for i := range m.Plan.Objects {
		o := &m.Plan.Objects[i]
		if !which(o) {
			continue
		}
		if count[o.Kind]++; count[o.Kind] == 1 {
			kinds = append(kinds, o.Kind)
		}
	}
	slices.Sort(kinds)
	var parts []string
	for _, kind := range kinds {
		parts = append(parts, preview.Plural(count[kind], frame.ShortKind(kind)))
	}
	return strings.Join(parts, ", ")
}

// operands returns what is deleted together with CRDs and Namespaces, as their
// findings count it.
func (m *summaryTab) operands() string {
	var parts []string
	for _, f := range m.Plan.Findings {
		if f.AlsoDeleted != "" {
			parts = append(parts, f.AlsoDeleted)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "; with them " + strings.Join(parts, ", ")
}

// accessTaken returns the row about access for a plan that only takes access away.
func (m *summaryTab) accessTaken() []Row {
	subjects := map[preview.Subject]bool{}
	for _, g := range m.Plan.Access.Grants {
		subjects[g.Subject] = true
	}
	text := fmt.Sprintf("%s of %s", preview.Plural(len(m.Plan.Access.Grants), "grant"), preview.Plural(len(subjects), "subject"))
	return []Row{accessLink("ACCESS TAKEN AWAY", func() widget.Line {
		return widget.Line{widget.Text(theme.Heading, "ACCESS TAKEN AWAY  "), widget.Text(theme.Plain, text)}
	})}
}

// holdsData reports whether objects of a kind hold data that is lost when they
// are deleted.
func holdsData(kind string) bool {
	switch kind {
	case "CustomResourceDefinition", "Namespace", "PersistentVolumeClaim", "PersistentVolume", "Secret", "ConfigMap":
		return true
	}
	return false
}

// isChanged reports whether a grant gives more than what was installed before:
// its change is "new" or "widened".
func isChanged(change string) bool {
	return change == preview.GrantNew || change == preview.GrantWidened
}
