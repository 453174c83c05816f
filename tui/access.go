package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
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
func (m *review) risky(rules []string) bool {
	for _, r := range rules {
		if m.severe[r] {
			return true
		}
	}
	return false
}

// severeRules are the rules with a critical or warning finding in a plan.
func severeRules(findings []preview.Finding) map[string]bool {
	out := map[string]bool{}
	for _, f := range findings {
		if f.Severity == preview.Critical || f.Severity == preview.Warning {
			out[f.Rule] = true
		}
	}
	return out
}

func (m *review) showsGrant(change string, rules []string) bool {
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

// Row ids of the access tab: a kind and an index into the plan.
const (
	grantPrefix = "grant/"
	cloudPrefix = "cloud/"
	declPrefix  = "declared/"
)

// accessRows lists effective grants, then cloud permissions.
func accessRows(m *review) []row {
	p := m.plan
	shown := []int{}
	for i, g := range p.Access.Grants {
		if m.showsGrant(g.Change, g.Rules) {
			shown = append(shown, i)
		}
	}
	slices.SortStableFunc(shown, func(x, y int) int {
		return strings.Compare(m.groupKey(p.Access.Grants[x]), m.groupKey(p.Access.Grants[y]))
	})
	rows := []row{m.accessChips(len(shown)), m.accessHeading()}
	last := ""
	for _, i := range shown {
		g := p.Access.Grants[i]
		key := m.groupKey(g)
		rows = append(rows, m.grantRow(i, g, key != last))
		last = key
	}
	for i, c := range p.Cloud.Permissions {
		if m.showsGrant(c.Change, c.Rules) {
			rows = append(rows, m.cloudRow(i, c))
		}
	}
	for i, d := range p.Cloud.Declared {
		text := fmt.Sprintf("cloud %s is declared without actions: %s", d.Provider, d.Origin)
		rows = append(rows, linkRow(declPrefix+strconv.Itoa(i), text))
	}
	for _, missing := range p.Access.Installer.Missing {
		text := fmt.Sprintf("you lack: %s %s   %s", missing.Verb, missing.Resource, missing.Why)
		rows = append(rows, textRow(widget.Line{widget.Text(theme.Caution, "! "+text)}))
	}
	if len(rows) == 2 {
		rows = append(rows, textRow(plain(fmt.Sprintf("nothing to show with this filter: %d grants in all, F shows them", len(p.Access.Grants)))))
	}
	return rows
}

func (m *review) groupKey(g preview.Grant) string {
	switch m.filter.group {
	case groupResource:
		return strings.Join(g.Resources, ",") + strings.Join(g.NonResourceURLs, ",")
	case groupRole:
		return strings.Join(g.Via, " ")
	}
	return g.Subject.Kind + "/" + g.Subject.Namespace + "/" + g.Subject.Name
}

// accessChips says how the list is grouped and filtered.
func (m *review) accessChips(shown int) row {
	group := []string{"subject", "resource", "role"}[m.filter.group]
	show := []string{"all", "risky", "new", "new or risky"}[m.filter.access]
	text := fmt.Sprintf("group: %s (g)   show: %s (f)   %d of %d grants", group, show, shown, len(m.plan.Access.Grants))
	held := 0
	for _, g := range m.plan.Access.Grants {
		if g.Held {
			held++
		}
	}
	if held > 0 {
		text += fmt.Sprintf(", %d held", held)
	}
	return textRow(widget.Line{widget.Text(theme.Strong, text)})
}

// accessColumns are the widths of subject, scope, verbs, resources, from and
// change.
func accessColumns(width int) [6]int {
	if width < 90 {
		return [6]int{width * 26 / 100, 9, width * 24 / 100, width - 9 - 10 - width*26/100 - width*24/100, 0, 10}
	}
	rest := width - 11 - 10
	return [6]int{rest * 23 / 100, 11, rest * 27 / 100, rest * 28 / 100, rest - rest*23/100 - rest*27/100 - rest*28/100, 10}
}

func accessLine(width int, roles [6]theme.Role, cells [6]string) widget.Line {
	var line widget.Line
	for i, w := range accessColumns(width) {
		cell := widget.Cell
		if i == 0 || i == 1 || i == 4 {
			cell = widget.Tail // names
		}
		if w > 1 {
			line = append(line, cell(roles[i], cells[i], w-1), widget.Text(theme.Plain, " "))
		}
	}
	return line
}

func (m *review) accessHeading() row {
	return row{line: func(width int) widget.Line {
		h := theme.Heading
		// Headings stand two cells left of the rows.
		shift := plain("  ")
		if m.size.mode == modeTiny {
			shift = nil
		}
		return append(shift, accessLine(width-len("  "), [6]theme.Role{h, h, h, h, h, h},
			[6]string{"subject", "scope", "verbs", "resources", "from", "change"})...)
	}}
}

// changeText says how a grant changes, or that the plan has no part in it.
func changeText(g preview.Grant) string {
	if g.Held {
		return g.Change + ", given by the cluster already"
	}
	return g.Change
}

// grantRow is one grant; its subject is named where the group changes.
func (m *review) grantRow(i int, g preview.Grant, first bool) row {
	subject := subjectName(g.Subject)
	shown := strings.Replace(subject, "SA "+m.plan.Release.Namespace+"/", "SA ", 1)
	if !first && m.filter.group == groupSubject {
		shown = ""
	}
	scope := "cluster"
	if g.Scope == preview.ScopeNamespace {
		scope = "ns " + g.Namespace
		if g.Namespace == m.plan.Release.Namespace {
			scope = "own ns"
		}
	}
	roles := [6]theme.Role{}
	change := g.Change
	if g.Held {
		change = "held"
	}
	switch {
	case m.risky(g.Rules):
		roles[1], roles[3] = theme.Caution, theme.Caution
		change = "! " + change
	case isChanged(g.Change):
		change = "+ " + change
	default:
		change = "= " + change
	}
	cells := [6]string{shown, scope, verbWords(g.Verbs), grantTarget(g), roleName(g), change}
	words := capital(access.Explain(g))
	return row{
		id: grantPrefix + strconv.Itoa(i), object: roleID(g), explain: words,
		copy: subject + " " + strings.Join(cells[1:], " "),
		text: strings.Join(slices.Concat([]string{subject, g.Namespace}, cells[1:], g.Verbs, g.Via), " "),
		line: func(width int) widget.Line { return accessLine(width, roles, cells) },
	}
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func subjectName(s preview.Subject) string {
	name := s.Name
	if s.Namespace != "" {
		name = s.Namespace + "/" + name
	}
	if s.Kind == "ServiceAccount" {
		return "SA " + name
	}
	return strings.ToLower(s.Kind) + " " + name
}

// verbWords lists verbs in the usual order. All of reading, and all of
// writing, become one word each: the rules behind the row spell them out.
func verbWords(verbs []string) string {
	rest := slices.Clone(verbs)
	var out []string
	for _, set := range [][]string{{"read", "get", "list", "watch"}, {"write", "create", "update", "patch", "delete"}} {
		held := slices.DeleteFunc(slices.Clone(set[1:]), func(v string) bool { return !slices.Contains(verbs, v) })
		if len(held) == len(set)-1 {
			out = append(out, set[0])
		} else {
			out = append(out, held...)
		}
		rest = slices.DeleteFunc(rest, func(v string) bool { return slices.Contains(held, v) })
	}
	return strings.Join(append(out, rest...), " ")
}

// roleName is the first role a grant came through, its kind abbreviated.
func roleName(g preview.Grant) string {
	if len(g.Via) == 0 {
		return ""
	}
	parts := strings.Split(g.Via[0], "/")
	kind := map[string]string{"ClusterRole": "CR", "Role": "R"}[parts[0]]
	return strings.TrimSpace(kind + " " + parts[len(parts)-1])
}

// grantTarget is what a grant reaches, groups after resources.
func grantTarget(g preview.Grant) string {
	target := strings.Join(append(slices.Clone(g.Resources), g.NonResourceURLs...), ", ")
	if len(g.ResourceNames) > 0 {
		target += " (" + strings.Join(g.ResourceNames, ", ") + ")"
	}
	if groups := strings.Join(g.APIGroups, ", "); groups != "" {
		target += " in " + groups
	}
	return target
}

// roleID is the object id of the first role a grant came through.
func roleID(g preview.Grant) string {
	if len(g.Via) == 0 {
		return ""
	}
	parts := strings.SplitN(g.Via[0], "/", 3)
	switch len(parts) {
	case 2:
		return preview.Ref{APIVersion: "rbac.authorization.k8s.io/v1", Kind: parts[0], Name: parts[1]}.ID()
	case 3:
		return preview.Ref{APIVersion: "rbac.authorization.k8s.io/v1", Kind: parts[0], Namespace: parts[1], Name: parts[2]}.ID()
	}
	return ""
}

func (m *review) cloudRow(i int, c preview.CloudPermission) row {
	roles := [6]theme.Role{}
	change := "= " + c.Change
	if isChanged(c.Change) {
		change = "+ " + c.Change
	}
	if m.risky(c.Rules) {
		roles[2], roles[3] = theme.Caution, theme.Caution
		change = "! " + c.Change
	}
	actions := strings.Join(append(slices.Clone(c.Actions), c.Roles...), " ")
	cells := [6]string{"cloud " + c.Provider, strings.ToLower(c.Effect), actions, strings.Join(c.Resources, ", "), c.Origin, change}
	return row{
		id: cloudPrefix + strconv.Itoa(i), copy: strings.Join(cells[:], " "), text: strings.Join(cells[:], " "),
		explain: fmt.Sprintf("%s %s on %s in %s", c.Effect, actions, strings.Join(c.Resources, ", "), c.Provider),
		line:    func(width int) widget.Line { return accessLine(width, roles, cells) },
	}
}

// accessDoc is the rules behind a row.
func accessDoc(m *review, id string, width int) document {
	b := &builder{width: width}
	if i, ok := rowIndex(id, grantPrefix, len(m.plan.Access.Grants)); ok {
		m.grantDoc(b, m.plan.Access.Grants[i])
	}
	if i, ok := rowIndex(id, cloudPrefix, len(m.plan.Cloud.Permissions)); ok {
		m.cloudDoc(b, m.plan.Cloud.Permissions[i])
	}
	if i, ok := rowIndex(id, declPrefix, len(m.plan.Cloud.Declared)); ok {
		d := m.plan.Cloud.Declared[i]
		b.heading("Cloud access is declared, the actions are not")
		b.pair("provider", d.Provider)
		b.pair("origin", d.Origin)
	}
	return document{lines: b.lines}
}

func rowIndex(id, prefix string, n int) (int, bool) {
	rest, ok := strings.CutPrefix(id, prefix)
	if !ok {
		return 0, false
	}
	i, err := strconv.Atoi(rest)
	return i, err == nil && i >= 0 && i < n
}

func (m *review) grantDoc(b *builder, g preview.Grant) {
	b.heading(capital(access.Explain(g)))
	b.blank()
	b.pair("subject", subjectName(g.Subject))
	b.pair("scope", strings.TrimSpace(g.Scope+" "+g.Namespace))
	b.pair("verbs", strings.Join(g.Verbs, ", "))
	b.pair("api groups", quoted(g.APIGroups))
	b.pair("resources", strings.Join(g.Resources, ", "))
	b.pair("only names", strings.Join(g.ResourceNames, ", "))
	b.pair("urls", strings.Join(g.NonResourceURLs, ", "))
	if meaning := m.plan.Access.Wildcards.Of(g); meaning != nil {
		b.pair("wildcard", access.MeaningText(meaning))
		b.pair("", access.AgainstText(m.plan.Access.Wildcards))
	}
	b.pair("change", changeText(g))
	b.pair("through", strings.Join(g.Via, " "))
	b.pair("rules", strings.Join(g.Rules, ", "))
	m.findingsOf(b, roleID(g))
	b.blank()
	b.text(theme.Plain, "   ", "e shows the role's exact YAML, d its difference to the cluster")
}

func (m *review) cloudDoc(b *builder, c preview.CloudPermission) {
	b.heading(c.Effect + " in " + c.Provider)
	b.blank()
	b.pair("actions", strings.Join(c.Actions, ", "))
	b.pair("resources", strings.Join(c.Resources, ", "))
	b.pair("roles", strings.Join(c.Roles, ", "))
	if len(c.Conditions) > 0 {
		b.pair("conditions", short(c.Conditions))
	}
	b.pair("change", c.Change)
	b.pair("origin", c.Origin)
	b.pair("rules", strings.Join(c.Rules, ", "))
}

func quoted(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = strconv.Quote(s)
	}
	return strings.Join(out, ", ")
}
