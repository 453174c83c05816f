package tabs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/review"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// How the access tab groups grants.
const (
	groupSubject = iota
	GroupResource
	groupRole
	GroupCount
)

// What the access tab shows.
const (
	showAll = iota
	showRisky
	showNew
	showNewOrRisky
	ShowCount
)

func (m *View) showsGrant(change string, rules []string) bool {
	switch m.Filter.Access {
	case showRisky:
		return m.index.isRisky(rules)
	case showNew:
		return change != preview.GrantSame
	case showNewOrRisky:
		return change != preview.GrantSame || m.index.isRisky(rules)
	}
	return true
}

// Row ids of the access tab: a kind, and what of it.
const (
	grantPrefix   = "grant/" // and the position of a row
	cloudPrefix   = "cloud/"
	cloudNone     = "cloud-none"
	ReachPrefix   = "reach/"
	missingPrefix = "missing/"
)

// AccessTab shows who may do what once the plan is applied.
type AccessTab struct {
	*View
	Grants  []grantGroup  // the rows of grants, as they were made last
	columns accessColumns // that their texts need
}

// Count returns the number of grants and of permissions in clouds.
func (m *AccessTab) Count() int { return len(m.Plan.Access.Grants) + len(m.Plan.Cloud.Permissions) }

// Rows lists the grants, in groups by subject, resource or role; then the
// escalation paths of accounts, the permissions in clouds, and the rights that
// the user who applies lacks.
func (m *AccessTab) Rows() []Row {
	m.Grants, m.columns = m.merge(), accessColumns{}
	for i := range m.Grants {
		g := &m.Grants[i]
		g.cells = accessCells{m.scopeText(m.Plan.Access.Grants[g.Of[0]]), verbsText(m.groupVerbs(*g)), m.groupTarget(*g), m.groupSource(*g)}
		m.columns.widest(g.cells)
	}
	m.columns.always = m.Filter.Group == groupRole && m.sharedRoles()
	shown := map[int]bool{} // grants, which may be of several rows
	for _, g := range m.Grants {
		for _, at := range g.Of {
			shown[at] = true
		}
	}
	rows := []Row{m.accessChips(len(shown))}
	if len(m.Grants) > 0 {
		rows = append(rows, m.accessHeading())
	}
	last := ""
	for i, g := range m.Grants {
		if i == 0 || g.group != last {
			rows = append(rows, m.groupHeading(g, i))
			last = g.group
		}
		rows = append(rows, m.GrantRow(i))
	}
	if len(m.Grants) == 0 {
		rows = append(rows, textRow(frame.Plain(m.noGrants())))
	}
	only := m.Filter.Only
	return slices.Concat(rows, only.rows(m.escalationRows()), only.rows(m.cloudRows()), only.rows(m.missingRows()))
}

// noGrants says why the list of grants is empty.
func (m *AccessTab) noGrants() string {
	if n := len(m.Plan.Access.Grants); n > 0 {
		return "nothing to show with this filter: " + preview.Plural(n, "grant") + " in all, F shows them"
	}
	return "this plan gives no access in Kubernetes"
}

// accessChips returns the row that says how the list is grouped and filtered.
func (m *AccessTab) accessChips(shown int) Row {
	group := []string{"subject", "resource", "role"}[m.Filter.Group]
	show := []string{"all", "risky", "new", "new or risky"}[m.Filter.Access]
	held := 0
	for _, g := range m.Plan.Access.Grants {
		if g.Held {
			held++
		}
	}
	text := fmt.Sprintf("group: %s (g)   show: %s (f)   %d of %d grants", group, show, shown, len(m.Plan.Access.Grants))
	if held > 0 {
		text += fmt.Sprintf(", %d held", held)
	}
	return textRow(widget.Line{widget.Text(theme.Strong, text+m.Filter.Only.chip())})
}

// escalationRows lists the privilege escalation paths of accounts.
func (m *AccessTab) escalationRows() []Row {
	var rows []Row
	for i := range m.Plan.Findings {
		f := &m.Plan.Findings[i]
		if f.Rule != rules.AccessReach.Name {
			continue
		}
		if len(rows) == 0 {
			rows = append(rows, textRow(widget.Blank()), sectionRow("PRIVILEGE ESCALATION PATHS"))
		}
		who := frame.ShortKind(f.Claim.Subject)
		way := strings.Join(pathSteps(f), " > ")
		rows = append(rows, Row{
			ID: ReachPrefix + strconv.Itoa(i), Object: f.Object, Copy: f.Evidence, Text: who + " " + f.Evidence,
			Line: func(width int) widget.Line {
				name := min(max(width/4, minWho), 30)
				return widget.Line{widget.Apart(theme.Caution, who, nil, name), widget.Text(theme.Plain, "  "+way)}
			},
		})
	}
	return rows
}

// cloudRows lists the permissions in clouds, then the other signs of cloud access.
func (m *AccessTab) cloudRows() []Row {
	cloud := review.CloudSection(m.Plan)
	var rows []Row
	for i := range cloud.Rows {
		role := theme.Caution
		if c := m.cloudPermission(cloud, i); c != nil {
			if !m.showsGrant(c.Change, c.Rules) {
				continue
			}
			if !m.index.isRisky(c.Rules) {
				role = theme.Plain
			}
		}
		rows = append(rows, cloudRow(cloud, i, role))
	}
	if len(cloud.Lead) > 0 {
		text, looked := "none found in "+preview.Plural(len(m.Plan.Objects), "object"), strings.Join(cloud.Lead, " ")
		rows = append(rows, Row{ID: cloudNone, Text: text, Copy: looked, Explain: looked, Line: func(int) widget.Line { return frame.Plain(text) }})
	}
	if len(rows) == 0 {
		return nil
	}
	return append([]Row{textRow(widget.Blank()), sectionRow(cloud.Title)}, rows...)
}

// cloudPermission returns the permission of row i; nil if the row is about a policy that was
// attached, or about access of which the permissions are not stated.
func (m *AccessTab) cloudPermission(cloud review.Section, i int) *preview.CloudPermission {
	permissions := m.Plan.Cloud.Permissions
	n := i - (len(cloud.Rows) - len(permissions) - len(m.Plan.Cloud.Declared))
	if n < 0 || n >= len(permissions) {
		return nil
	}
	return &permissions[n]
}

// cloudRow returns a row for access to a cloud: how it changes, what it is, and where the
// content states it.
func cloudRow(cloud review.Section, i int, role theme.Role) Row {
	row := cloud.Rows[i]
	change, what, origin := words.Joined(" ", row.Mark, row.Cells[0]), row.Cells[1], row.Cells[cloudOrigin]
	text := words.Joined("  ", change, what, origin)
	return Row{
		ID: cloudPrefix + strconv.Itoa(i), Copy: text, Text: text, Explain: what,
		Line: func(width int) widget.Line {
			room := width - changeWidth
			end := min(nameWidth(origin), max(room/2, room-nameWidth(what)-1))
			at := widget.DifferencesAmong(len(cloud.Rows), i, func(i int) string { return cloud.Rows[i].Cells[1] })
			from := widget.DifferencesAmong(len(cloud.Rows), i, func(i int) string { return cloud.Rows[i].Cells[cloudOrigin] })
			return widget.Line{
				widget.Cell(theme.Plain, change, changeWidth), widget.Apart(role, what, at, room-end-1), widget.Text(theme.Plain, " "),
				widget.Apart(theme.Plain, origin, from, end),
			}
		},
	}
}

// cloudOrigin is the column that says where the content states access to a cloud.
const cloudOrigin = 3

// missingRows lists the rights that applying the plan needs and the user lacks.
func (m *AccessTab) missingRows() []Row {
	missing := review.MissingSection(m.Plan)
	if len(missing.Rows) == 0 {
		return nil
	}
	rows := []Row{textRow(widget.Blank()), sectionRow(missing.Title)}
	for i, row := range missing.Rows {
		text := strings.Join(row.Cells, "   ")
		rows = append(rows, Row{
			ID: missingPrefix + strconv.Itoa(i), Text: text, Copy: row.Cells[0], Explain: "you may not " + strings.Join(row.Cells, ": "),
			Line: func(int) widget.Line {
				return widget.Line{widget.Text(theme.Fail, row.Mark+" "), widget.Text(theme.Plain, text)}
			},
		})
	}
	return rows
}

// cells appends the cells of a row of the review by the names of their columns.
func cells(b *frame.Builder, columns []review.Column, row review.Row) {
	for i, cell := range row.Cells {
		b.Pair(columns[i].Name, cell)
	}
}

// Doc returns the detail of a row: the grants, escalation path or cloud
// permission.
func (m *AccessTab) Doc(id string, width int) Document {
	b := &frame.Builder{Width: width}
	if i, ok := rowIndex(id, grantPrefix, len(m.Grants)); ok {
		m.grantsDoc(b, m.Grants[i])
	}
	if i, ok := rowIndex(id, ReachPrefix, len(m.Plan.Findings)); ok {
		m.escalationDoc(b, &m.Plan.Findings[i])
	}
	cloud := review.CloudSection(m.Plan)
	if i, ok := rowIndex(id, cloudPrefix, len(cloud.Rows)); ok {
		b.Heading("Access to a cloud")
		b.Blank()
		cells(b, cloud.Columns, cloud.Rows[i])
		if c := m.cloudPermission(cloud, i); c != nil {
			m.findingsOf(b, c.Origin)
		}
	}
	if id == cloudNone {
		b.Heading("No access to clouds was found")
		b.Text(theme.Plain, "   ", strings.Join(cloud.Lead, " "))
	}
	if i, ok := rowIndex(id, missingPrefix, len(m.Plan.Access.Installer.Missing)); ok {
		r := m.Plan.Access.Installer.Missing[i]
		b.Heading("You may not " + r.Verb + " " + r.Resource)
		b.Blank()
		b.Text(theme.Plain, "   ", r.Why)
		b.Text(theme.Plain, "   ", "Without this right the apply stops before its first write. This prints roles with all rights that the plan needs:")
		b.Text(theme.Plain, "   ", review.RoleCommand(m.Plan))
	}
	return Document{Lines: b.Lines}
}

func rowIndex(id, prefix string, n int) (int, bool) {
	rest, ok := strings.CutPrefix(id, prefix)
	if !ok {
		return 0, false
	}
	i, err := strconv.Atoi(rest)
	return i, err == nil && i >= 0 && i < n
}

// grantsDoc appends the grants of a row in full, and the rules that they come from.
func (m *AccessTab) grantsDoc(b *frame.Builder, group grantGroup) {
	b.Heading(capitalize(m.explainGroup(group)))
	for _, at := range group.Of {
		b.Blank()
		cells(b, review.GrantColumns(), review.GrantRow(m.Plan, m.Plan.Access.Grants[at]))
	}
	seen := map[string]bool{}
	for _, at := range group.Of {
		if id := roleID(m.Plan.Access.Grants[at]); !seen[id] {
			seen[id] = true
			m.rawRules(b, id, group)
			m.findingsOf(b, id)
		}
	}
	b.Blank()
	b.Text(theme.Plain, "   ", "e shows the role's exact YAML, d its difference to the cluster, c asks what the subject can do")
}

// rawRules appends the rules of a role, as the role states them, from which the
// grants of a row were made.
func (m *AccessTab) rawRules(b *frame.Builder, id string, group grantGroup) {
	o := m.Object(id)
	if o == nil {
		return
	}
	body := o.Planned
	if body == nil {
		body = o.LiveBody
	}
	first := true
	for i, rule := range access.Rules(body) {
		if !slices.ContainsFunc(group.Of, func(at int) bool { return access.Overlap(rule, m.Plan.Access.Grants[at]) }) {
			continue
		}
		if first {
			b.Heading("As the role states it" + words.Prefixed("  ", o.Origin.Place()))
			first = false
		}
		parts := []string{"verbs " + strings.Join(rule.Verbs, ", ")}
		if len(rule.Resources) > 0 {
			parts = append(parts, "groups "+quoteAll(rule.APIGroups), "resources "+strings.Join(rule.Resources, ", "))
		}
		if len(rule.ResourceNames) > 0 {
			parts = append(parts, "names "+strings.Join(rule.ResourceNames, ", "))
		}
		if len(rule.NonResourceURLs) > 0 {
			parts = append(parts, "urls "+strings.Join(rule.NonResourceURLs, ", "))
		}
		b.Text(theme.Plain, "   ", fmt.Sprintf("rule %d: %s", i+1, strings.Join(parts, "; ")))
	}
}

// escalationDoc appends an escalation path, step by step.
func (m *AccessTab) escalationDoc(b *frame.Builder, f *preview.Finding) {
	b.Heading(f.Title)
	b.Blank()
	b.Text(theme.Strong, "   ", frame.ShortKind(f.Claim.Subject))
	for i, step := range pathSteps(f) {
		b.Text(theme.Plain, "   ", fmt.Sprintf("%d  %s", i+1, step))
	}
	b.Heading("Why it matters")
	b.Text(theme.Plain, "   ", f.Why)
	m.reduce(b, m.Reader().Group(item{Findings: []*preview.Finding{f}}))
}

func quoteAll(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = strconv.Quote(s)
	}
	return strings.Join(out, ", ")
}

func capitalize(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// Crds returns the planned CRDs.
func (m *View) Crds() []map[string]any {
	var out []map[string]any
	for i := range m.Plan.Objects {
		if o := &m.Plan.Objects[i]; o.Kind == "CustomResourceDefinition" && o.Planned != nil {
			out = append(out, o.Planned)
		}
	}
	return out
}

// AnswerLines appends the answer to a question whether a subject may do something.
func AnswerLines(b *frame.Builder, subject preview.Subject, q access.Question, a access.Answer) {
	word, role := "no", theme.Strong
	switch {
	case a.Allowed:
		word, role = "yes", theme.Risk
	case len(a.Only) > 0:
		word = "only in part"
	}
	b.Blank()
	b.Text(role, " ", word+": "+SubjectName(subject)+" "+map[bool]string{true: "can ", false: "cannot "}[a.Allowed]+q.Words(a.Request))
	for _, g := range a.By {
		answerGrant(b, g)
	}
	if len(a.Only) > 0 && !a.Allowed {
		b.Text(theme.Plain, "   ", "but it can in these places, or for these names:")
		for _, g := range a.Only {
			answerGrant(b, g)
		}
	}
}

func answerGrant(b *frame.Builder, g preview.Grant) {
	where := "in the whole cluster"
	if g.Scope == preview.ScopeNamespace {
		where = "in namespace " + g.Namespace
	}
	b.Blank()
	b.Text(theme.Plain, "   ", strings.Join(g.Verbs, ", ")+"  "+words.Target(g)+"  "+where)
	b.Text(theme.Plain, "      ", "through "+strings.Join(g.Via, " and ")+"  "+g.Change)
}

// SubjectOf returns the subject of a row of grants, by the row's id; false for
// other rows.
func (m *AccessTab) SubjectOf(id string) (subject preview.Subject, ok bool) {
	i, ok := rowIndex(id, grantPrefix, len(m.Grants))
	if !ok {
		return preview.Subject{}, false
	}
	return m.Plan.Access.Grants[m.Grants[i].Of[0]].Subject, true
}

// pathSteps returns the steps of the escalation paths in the evidence of a finding.
func pathSteps(f *preview.Finding) []string {
	var steps []string
	for _, piece := range f.Pieces {
		if piece.Path == nil {
			continue
		}
		steps = append(steps, piece.Path.Steps...)
		if piece.Path.Gains != "" {
			steps = append(steps, piece.Path.Gains)
		}
	}
	return steps
}
