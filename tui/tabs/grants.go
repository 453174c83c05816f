package tabs

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/words"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// grantGroup is one row of the access tab: grants under the same heading that
// differ only in their resources or only in their verbs.
type grantGroup struct {
	group string // subject, resource or role
	Of    []int  // positions in the plan's grants
	risky bool
	cells accessCells // what the row says
}

// accessCells are the texts in the columns of a row, without the last column,
// which says how the grant changes.
type accessCells struct{ scope, verbs, target, from string }

// merge makes the rows of the grants that pass the filter. Groups with risky
// grants come first, and in each group the rows with the most severe findings;
// of equal ones, those for the whole cluster.
func (m *AccessTab) merge() []grantGroup {
	var out []grantGroup
	at := map[string]int{}
	dangerous := map[string]bool{}
	for i, g := range m.Plan.Access.Grants {
		if !m.showsGrant(g.Change, g.Rules) || m.Filter.Only.find != nil && !m.Filter.Only.passes(grantWords(&m.Plan.Access.Grants[i])) {
			continue
		}
		risky := m.index.isRisky(g.Rules)
		for _, group := range m.groupsOf(g) {
			dangerous[group] = dangerous[group] || risky
			key := strings.Join([]string{group, mergeKey(g), strconv.FormatBool(risky)}, "\x00")
			if n, ok := at[key]; ok {
				out[n].Of = append(out[n].Of, i)
				continue
			}
			at[key] = len(out)
			out = append(out, grantGroup{group: group, Of: []int{i}, risky: risky})
		}
	}
	out = m.mergeVerbs(out)
	slices.SortStableFunc(out, func(x, y grantGroup) int {
		return cmp.Or(preview.FalseFirst(!dangerous[x.group], !dangerous[y.group]), strings.Compare(x.group, y.group), m.danger(x)-m.danger(y))
	})
	return out
}

// danger returns the rank of a row in its group. A lower one is worse.
func (m *AccessTab) danger(row grantGroup) int {
	rank := 2*preview.Info.Rank() + 1
	for _, i := range row.Of {
		g := &m.Plan.Access.Grants[i]
		narrow := 0
		if g.Scope != preview.ScopeCluster {
			narrow = 1
		}
		rank = min(rank, 2*m.index.danger(g.Rules)+narrow)
	}
	return rank
}

// mergeVerbs merges rows about the same resources: the verbs that several roles
// give are listed in one row.
func (m *AccessTab) mergeVerbs(rows []grantGroup) []grantGroup {
	var out []grantGroup
	at := map[string]int{}
	for _, row := range rows {
		g := m.Plan.Access.Grants[row.Of[0]]
		g.Verbs = nil
		key := strings.Join([]string{row.group, mergeKey(g), strings.Join(m.groupResources(row), ","), strconv.FormatBool(row.risky)}, "\x00")
		if n, ok := at[key]; ok {
			out[n].Of = append(out[n].Of, row.Of...)
			continue
		}
		at[key] = len(out)
		out = append(out, row)
	}
	return out
}

// groupResources returns the resources of a row, and groupVerbs the verbs on
// each of them, both sorted.
func (m *AccessTab) groupResources(row grantGroup) []string {
	return m.unionOf(row, func(g preview.Grant) []string { return g.Resources })
}

func (m *AccessTab) groupVerbs(row grantGroup) []string {
	return m.unionOf(row, func(g preview.Grant) []string { return g.Verbs })
}

func (m *AccessTab) unionOf(row grantGroup, of func(preview.Grant) []string) []string {
	var list []string
	for _, at := range row.Of {
		list = append(list, of(m.Plan.Access.Grants[at])...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// mergeKey returns the fields, as one key, that are equal in all grants of a
// row. Resource names belong to one resource, so that grants restricted to
// names get rows of their own.
func mergeKey(g preview.Grant) string {
	parts := []string{SubjectName(g.Subject), g.Scope, g.Namespace, strings.Join(g.APIGroups, ","), strings.Join(g.Verbs, ","), g.Change, strconv.FormatBool(g.Held)}
	if len(g.ResourceNames) > 0 || len(g.NonResourceURLs) > 0 {
		parts = append(parts, strings.Join(g.Resources, ","), strings.Join(g.ResourceNames, ","), strings.Join(g.NonResourceURLs, ","))
	}
	return strings.Join(parts, "\x01")
}

// groupsOf returns the headings under which a grant is listed.
func (m *AccessTab) groupsOf(g preview.Grant) []string {
	switch m.Filter.Group {
	case GroupResource:
		var out []string
		for _, r := range g.Resources {
			out = append(out, r+words.Prefixed(" in ", strings.Join(frame.NonEmpty(g.APIGroups...), ", ")))
		}
		return append(out, g.NonResourceURLs...)
	case groupRole:
		if len(g.Via) > 0 {
			return g.Via[:1]
		}
	}
	return []string{SubjectName(g.Subject)}
}

// sharedRoles reports whether, in the list by role, a role is given to several
// subjects.
func (m *AccessTab) sharedRoles() bool {
	for i := 1; i < len(m.Grants); i++ {
		if m.Grants[i].group == m.Grants[i-1].group && m.Grants[i].cells.from != m.Grants[i-1].cells.from {
			return true
		}
	}
	return false
}

// groupHeading returns the heading of a group of rows: its subject, resource or role.
func (m *AccessTab) groupHeading(g grantGroup, at int) Row {
	n := 0
	for _, other := range m.Grants[at:] {
		if other.group != g.group {
			break
		}
		n += len(other.Of)
	}
	first := m.Plan.Access.Grants[g.Of[0]]
	title, extent := strings.Replace(g.group, "SA "+m.Plan.Release.Namespace+"/", "SA ", 1), ""
	switch m.Filter.Group {
	case groupSubject:
		extent = m.summary(first.Subject)
	case groupRole:
		if of := m.index.generatedName(roleID(first)); of != "" {
			kind, _, _ := strings.Cut(g.group, "/")
			title = kind + " " + of
		} else if !m.columns.always {
			title += "  of " + m.subjectName(first.Subject)
		}
	}
	return Row{Text: strings.TrimSpace(g.group + " " + extent), Line: func(width int) widget.Line {
		line, count := widget.Line{widget.Text(theme.Heading, title)}, frame.Plain(preview.Plural(n, "grant")+" ")
		if room := width - line.Width() - count.Width() - 3; extent != "" && room > 0 {
			line = append(line, widget.Text(theme.Risk, "  "+frame.Clip(extent, room)))
		}
		return widget.Spread(line, count, width)
	}}
}

// wideAccess is the width, in cells, from which a row also shows the role that
// a grant comes from.
const wideAccess = 90

// accessColumns are the widths of the columns, gaps included, in cells. The
// last column gets the rest.
type accessColumns struct {
	scope, verbs, resources, from int
	always                        bool // from is there in narrow windows, too
}

const changeWidth = 11

// widest makes the columns as wide as the texts of a row need.
func (c *accessColumns) widest(cells accessCells) {
	c.scope, c.verbs = max(c.scope, nameWidth(cells.scope)), max(c.verbs, nameWidth(cells.verbs))
	c.from = max(c.from, nameWidth(cells.from))
}

// fit divides a width among columns that need that much. Resources get what the
// other columns leave, which get no more than they need.
func (c accessColumns) fit(width int) accessColumns {
	out := accessColumns{scope: min(max(c.scope, len("scope")), 15) + 1}
	if width < wideRow {
		out.scope = min(out.scope, 8)
	}
	rest := max(20, width-out.scope-changeWidth)
	out.verbs = min(max(c.verbs, len("verbs"))+1, rest*9/20)
	if c.always || width >= wideAccess {
		out.from = min(max(c.from, len("subject"))+1, rest*3/10)
	}
	out.resources = rest - out.verbs - out.from
	return out
}

func (m *AccessTab) accessHeading() Row {
	from := "from"
	if m.Filter.Group == groupRole {
		from = "subject"
	}
	columns := m.columns
	return Row{Line: func(width int) widget.Line {
		// Headings stand further left than rows.
		shift := widget.Text(theme.Plain, "  ")
		if m.Size.Mode == frame.ModeTiny {
			shift = widget.Text(theme.Plain, "")
		}
		c := columns.fit(width - 2)
		return widget.Line{
			shift, widget.Cell(theme.Plain, "scope", c.scope), widget.Cell(theme.Plain, "verbs", c.verbs), widget.Cell(theme.Plain, "resources", c.resources),
			widget.Cell(theme.Plain, from, c.from), widget.Text(theme.Plain, "change"),
		}
	}}
}

// GrantRow returns the row of the i-th group of grants.
func (m *AccessTab) GrantRow(i int) Row {
	group := m.Grants[i]
	g := m.Plan.Access.Grants[group.Of[0]]
	role := theme.Plain
	if group.risky {
		role = theme.Caution
	}
	scope, verbs, target, from := group.cells.scope, group.cells.verbs, group.cells.target, group.cells.from
	change := m.index.changeMark(g.Change, g.Rules)
	if g.Held {
		change = strings.Replace(change, g.Change, "held", 1)
	}
	var search []string
	for _, at := range group.Of {
		one := m.Plan.Access.Grants[at]
		search = append(search, grantWords(&one))
	}
	columns, rows, prefix := m.columns, m.Grants, groupPrefix(g)
	return Row{
		ID: grantPrefix + strconv.Itoa(i), Object: roleID(g), Explain: m.explainGroup(group),
		Copy: strings.Join([]string{SubjectName(g.Subject), scope, strings.Join(m.groupVerbs(group), " "), target}, " "),
		Text: strings.Join(append(search, scope, verbs, change), " "),
		Line: func(width int) widget.Line {
			c := columns.fit(width)
			differs := func(of func(accessCells) string) widget.Differences {
				return widget.DifferencesAmong(len(rows), i, func(n int) string {
					if rows[n].group != rows[i].group {
						return "" // it stands below another heading
					}
					return of(rows[n].cells)
				})
			}
			targetAt, fromAt := differs(func(c accessCells) string { return c.target }), differs(func(c accessCells) string { return c.from })
			line := widget.Line{widget.Tail(role, scope, c.scope-1), frame.Plain(" ")[0], widget.Apart(theme.Plain, verbs, nil, c.verbs-1), frame.Plain(" ")[0]}
			line = append(line, targetSpans(role, target, prefix, targetAt, c.resources-1)...)
			line = append(line, frame.Plain(" ")[0])
			if c.from > 0 {
				line = append(line, widget.Apart(theme.Plain, from, fromAt, c.from-1), frame.Plain(" ")[0])
			}
			return append(line, widget.Text(theme.Plain, change))
		},
	}
}

// targetSpans returns the resources of a row in that many cells. prefix, the API group
// before them, is cut only if it would leave less than a quarter for the resources.
func targetSpans(role theme.Role, target, prefix string, at widget.Differences, cells int) widget.Line {
	rest, ok := strings.CutPrefix(target, prefix)
	if !ok || prefix == "" || nameWidth(target) <= cells {
		return widget.Line{widget.Apart(role, target, at, cells)}
	}
	group := min(nameWidth(prefix), cells*3/4)
	before, after := at.Split(len(prefix))
	return widget.Line{widget.Apart(role, prefix, before, group), widget.Apart(role, rest, after, cells-group)}
}

// explainGroup says in a sentence what a row permits.
func (m *AccessTab) explainGroup(group grantGroup) string {
	g := m.Plan.Access.Grants[group.Of[0]]
	if len(group.Of) > 1 {
		g.Resources, g.Verbs = m.groupResources(group), m.groupVerbs(group)
	}
	return SubjectName(g.Subject) + " " + words.Explain(g)
}

func (m *AccessTab) scopeText(g preview.Grant) string {
	switch {
	case g.Scope != preview.ScopeNamespace:
		return "cluster"
	case g.Namespace == m.Plan.Release.Namespace:
		return "own ns"
	}
	return "ns " + g.Namespace
}

// groupTarget returns the resources of a row; in the list by resource, its subject.
func (m *AccessTab) groupTarget(group grantGroup) string {
	g := m.Plan.Access.Grants[group.Of[0]]
	only := ""
	if len(g.ResourceNames) > 0 {
		only = " (" + strings.Join(g.ResourceNames, ", ") + ")"
	}
	if m.Filter.Group == GroupResource {
		return m.subjectName(g.Subject) + only
	}
	resources := g.Resources
	if len(group.Of) > 1 && only == "" && len(g.NonResourceURLs) == 0 {
		resources = m.groupResources(group)
	}
	return groupPrefix(g) + resourcesText(g.APIGroups, resources) + strings.Join(g.NonResourceURLs, ", ") + only
}

// groupSource names the roles of a row; in the list by role, its subject.
func (m *AccessTab) groupSource(group grantGroup) string {
	g := m.Plan.Access.Grants[group.Of[0]]
	if m.Filter.Group == groupRole {
		return m.subjectName(g.Subject)
	}
	roles := map[string]bool{}
	for _, at := range group.Of {
		roles[roleText(m.Plan.Access.Grants[at])] = true
	}
	if len(roles) > 1 {
		return preview.Plural(len(roles), "role")
	}
	return m.index.roleName(&g, m.Filter.Group != groupSubject)
}

// grantWords returns the text by which a search finds a grant.
func grantWords(g *preview.Grant) string {
	return strings.Join([]string{SubjectName(g.Subject), g.Namespace, words.Target(*g), strings.Join(g.Verbs, " "), strings.Join(g.Via, " "), g.Change}, " ")
}
