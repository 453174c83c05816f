package review

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// How the access tab groups grants.
const (
	groupSubject = iota
	groupResource
	groupRole
	groupCount
)

// What the access tab shows.
const (
	showAll = iota
	showRisky
	showNew
	showNewOrRisky
	showCount
)

// isChanged reports whether a grant is more than what was installed before.
func isChanged(change string) bool {
	return change == preview.GrantNew || change == preview.GrantWidened
}

// risky reports whether a rule that is more than information matched.
func (m *view) risky(rules []string) bool {
	return m.index.danger(rules) <= preview.Warning.Rank()
}

func (m *view) showsGrant(change string, rules []string) bool {
	switch m.filter.access {
	case showRisky:
		return m.risky(rules)
	case showNew:
		return change != preview.GrantSame
	case showNewOrRisky:
		return change != preview.GrantSame || m.risky(rules)
	}
	return true
}

// Row ids of the access tab: a kind, and what of it.
const (
	grantPrefix   = "grant/" // and the position of a row
	cloudPrefix   = "cloud/"
	declPrefix    = "declared/"
	reachPrefix   = "reach/"
	missingPrefix = "missing/"
)

// accessTab shows who may do what once the plan is applied.
type accessTab struct {
	*view
	grants []grantGroup // the rows of grants, as they were made last
}

func (m *accessTab) count() int { return len(m.plan.Access.Grants) + len(m.plan.Cloud.Permissions) }

// rows lists effective grants by what they are grouped by, then where
// accounts get by acting as others, cloud permissions, and what the person
// installing lacks.
func (m *accessTab) rows() []row {
	m.grants = m.merge()
	shown := map[int]bool{} // grants, which may be of several rows
	for _, g := range m.grants {
		for _, at := range g.of {
			shown[at] = true
		}
	}
	rows := []row{m.accessChips(len(shown))}
	if len(m.grants) > 0 {
		rows = append(rows, m.accessHeading())
	}
	last := ""
	for i, g := range m.grants {
		if i == 0 || g.group != last {
			rows = append(rows, m.groupHeading(g, i))
			last = g.group
		}
		rows = append(rows, m.grantRow(i))
	}
	if len(m.grants) == 0 {
		rows = append(rows, textRow(frame.Plain(m.noGrants())))
	}
	return slices.Concat(rows, m.reachRows(), m.cloudRows(), m.missingRows())
}

// noGrants says why the list is empty.
func (m *accessTab) noGrants() string {
	if n := len(m.plan.Access.Grants); n > 0 {
		return "nothing to show with this filter: " + preview.Plural(n, "grant") + " in all, F shows them"
	}
	return "this plan gives nobody any access in Kubernetes"
}

// accessChips says how the list is grouped and filtered.
func (m *accessTab) accessChips(shown int) row {
	group := []string{"subject", "resource", "role"}[m.filter.group]
	show := []string{"all", "risky", "new", "new or risky"}[m.filter.access]
	held := 0
	for _, g := range m.plan.Access.Grants {
		if g.Held {
			held++
		}
	}
	text := fmt.Sprintf("group: %s (g)   show: %s (f)   %d of %d grants", group, show, shown, len(m.plan.Access.Grants))
	if held > 0 {
		text += fmt.Sprintf(", %d held", held)
	}
	return textRow(widget.Line{widget.Text(theme.Strong, text)})
}

// sectionRow is the heading of a part of the list.
func sectionRow(title string) row {
	return textRow(widget.Line{widget.Text(theme.Heading, title)})
}

// reachRows lists where accounts get by acting as others.
func (m *accessTab) reachRows() []row {
	var rows []row
	for i := range m.plan.Findings {
		f := &m.plan.Findings[i]
		if f.Rule != rules.AccessReach.Name {
			continue
		}
		if len(rows) == 0 {
			rows = append(rows, textRow(widget.Blank()), sectionRow("REACHED BY ACTING AS OTHERS"))
		}
		_, who := statement(f)
		way := strings.Join(waySteps(f), " > ")
		rows = append(rows, row{
			id: reachPrefix + strconv.Itoa(i), object: f.Object, copy: f.Evidence, text: who + " " + f.Evidence,
			line: func(width int) widget.Line {
				name := min(max(width/4, minWho), 30)
				return widget.Line{widget.Tail(theme.Caution, who, name), widget.Text(theme.Plain, "  "+way)}
			},
		})
	}
	return rows
}

// waySteps are the steps of a way, as the rule joins them behind the account.
func waySteps(f *preview.Finding) []string {
	way := f.Evidence
	if _, after, ok := strings.Cut(way, ": "); ok {
		way = after
	}
	return strings.Split(way, ", which ")
}

// cloudRows lists permissions in clouds, then signs of others.
func (m *accessTab) cloudRows() []row {
	var rows []row
	for i, c := range m.plan.Cloud.Permissions {
		if m.showsGrant(c.Change, c.Rules) {
			rows = append(rows, m.cloudRow(i, c))
		}
	}
	for i, d := range m.plan.Cloud.Declared {
		text := d.Provider + "  asked for, without saying which actions  " + d.Origin
		rows = append(rows, row{id: declPrefix + strconv.Itoa(i), text: text, copy: text, explain: "cloud access is asked for, and the plan does not say which",
			line: func(int) widget.Line { return widget.Line{widget.Text(theme.Caution, text)} }})
	}
	if len(rows) == 0 {
		return nil
	}
	return append([]row{textRow(widget.Blank()), sectionRow("CLOUD")}, rows...)
}

// cloudRow is one statement: provider, actions, on what, from where.
func (m *accessTab) cloudRow(i int, c preview.CloudPermission) row {
	role := theme.Plain
	if m.risky(c.Rules) {
		role = theme.Caution
	}
	actions := strings.Join(slices.Concat(c.Actions, c.Roles), " ")
	who := c.Provider + " " + strings.ToLower(c.Effect)
	on, change := strings.Join(c.Resources, ", "), m.changeMark(c.Change, c.Rules)
	text := strings.Join([]string{who, actions, on, c.Origin, change}, " ")
	return row{
		id: cloudPrefix + strconv.Itoa(i), copy: text, text: text,
		explain: fmt.Sprintf("%s %s on %s in %s", c.Effect, actions, on, c.Provider),
		line: func(width int) widget.Line {
			w := columnsOf(width, width >= wideAccess)
			return widget.Line{
				widget.Cell(theme.Plain, who, w.scope), widget.Cell(role, actions, w.verbs), widget.Cell(role, on, w.resources),
				widget.Tail(theme.Plain, c.Origin, max(0, w.from-1)), frame.Plain(" ")[0], widget.Text(theme.Plain, change),
			}
		},
	}
}

// missingRows lists what the person installing may not do and would have to.
func (m *accessTab) missingRows() []row {
	missing := m.plan.Access.Installer.Missing
	if len(missing) == 0 {
		return nil
	}
	rows := []row{textRow(widget.Blank()), sectionRow("YOU LACK")}
	for i, r := range missing {
		text := strings.Join(frame.NonEmpty(r.Verb, r.Resource), " ")
		rows = append(rows, row{
			id: missingPrefix + strconv.Itoa(i), text: text + " " + r.Why, copy: text, explain: "you may not " + text + ": " + r.Why,
			line: func(int) widget.Line {
				return widget.Line{widget.Text(theme.Fail, "x "), widget.Text(theme.Plain, text+"   "+r.Why)}
			},
		})
	}
	return rows
}
