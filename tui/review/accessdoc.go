package review

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/access"
	"github.com/kubectl-operator/kubectl-operator/preview/report"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
)

// doc is what stands behind a row.
func (m *accessTab) doc(id string, width int) document {
	b := &frame.Builder{Width: width}
	if i, ok := rowIndex(id, grantPrefix, len(m.grants)); ok {
		m.grantsDoc(b, m.grants[i])
	}
	if i, ok := rowIndex(id, reachPrefix, len(m.plan.Findings)); ok {
		m.reachDoc(b, &m.plan.Findings[i])
	}
	if i, ok := rowIndex(id, cloudPrefix, len(m.plan.Cloud.Permissions)); ok {
		m.cloudDoc(b, m.plan.Cloud.Permissions[i])
	}
	if i, ok := rowIndex(id, declPrefix, len(m.plan.Cloud.Declared)); ok {
		d := m.plan.Cloud.Declared[i]
		b.Heading("Cloud access is asked for, without saying which actions")
		b.Blank()
		b.Pair("provider", d.Provider)
		b.Pair("origin", d.Origin)
	}
	if i, ok := rowIndex(id, missingPrefix, len(m.plan.Access.Installer.Missing)); ok {
		r := m.plan.Access.Installer.Missing[i]
		b.Heading("You may not " + r.Verb + " " + r.Resource)
		b.Blank()
		b.Text(theme.Plain, "   ", r.Why)
		b.Text(theme.Plain, "   ", "Without this right the apply stops before its first write. This prints roles with all rights that the plan needs:")
		b.Text(theme.Plain, "   ", report.RoleCommand(m.plan))
	}
	return document{lines: b.Lines}
}

func rowIndex(id, prefix string, n int) (int, bool) {
	rest, ok := strings.CutPrefix(id, prefix)
	if !ok {
		return 0, false
	}
	i, err := strconv.Atoi(rest)
	return i, err == nil && i >= 0 && i < n
}

// grantsDoc spells out the grants of a row, and the rules they come from.
func (m *accessTab) grantsDoc(b *frame.Builder, group grantGroup) {
	b.Heading(capital(m.explainGroup(group)))
	for _, at := range group.of {
		b.Blank()
		m.grantFacts(b, m.plan.Access.Grants[at])
	}
	seen := map[string]bool{}
	for _, at := range group.of {
		if id := roleID(m.plan.Access.Grants[at]); !seen[id] {
			seen[id] = true
			m.rawRules(b, id, group)
			m.findingsOf(b, id)
		}
	}
	b.Blank()
	b.Text(theme.Plain, "   ", "e shows the role's exact YAML, d its difference to the cluster, c asks what the subject can do")
}

func (m *accessTab) grantFacts(b *frame.Builder, g preview.Grant) {
	b.Pair("subject", subjectName(g.Subject))
	b.Pair("scope", strings.TrimSpace(g.Scope+" "+g.Namespace))
	b.Pair("verbs", strings.Join(g.Verbs, ", "))
	b.Pair("api groups", quoted(g.APIGroups))
	b.Pair("resources", strings.Join(g.Resources, ", "))
	b.Pair("only names", strings.Join(g.ResourceNames, ", "))
	b.Pair("urls", strings.Join(g.NonResourceURLs, ", "))
	if meaning := m.plan.Access.Wildcards.Of(g); meaning != nil {
		b.Pair("wildcard", access.MeaningText(meaning))
		b.Pair("", access.AgainstText(m.plan.Access.Wildcards))
	}
	b.Pair("change", changeText(g))
	b.Pair("through", strings.Join(g.Via, " "))
	b.Pair("rules", strings.Join(g.Rules, ", "))
}

// changeText says how a grant changes, or that the plan has no part in it.
func changeText(g preview.Grant) string {
	if g.Held {
		return g.Change + ", given by the cluster already"
	}
	return g.Change
}

// rawRules lists the rules of a role that the grants of a row were made of, as
// the role states them.
func (m *accessTab) rawRules(b *frame.Builder, id string, group grantGroup) {
	o := m.object(id)
	if o == nil {
		return
	}
	body := o.Sealed
	if body == nil {
		body = o.LiveBody
	}
	first := true
	for i, rule := range access.Rules(body) {
		if !slices.ContainsFunc(group.of, func(at int) bool { return overlaps(rule, m.plan.Access.Grants[at]) }) {
			continue
		}
		if first {
			b.Heading("As the role states it" + placeOf(o))
			first = false
		}
		parts := []string{"verbs " + strings.Join(rule.Verbs, ", ")}
		if len(rule.Resources) > 0 {
			parts = append(parts, "groups "+quoted(rule.APIGroups), "resources "+strings.Join(rule.Resources, ", "))
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

func placeOf(o *preview.Object) string {
	if place := o.Origin.Place(); place != "" {
		return "  " + place
	}
	return ""
}

// overlaps reports whether a rule gives part of what a grant permits.
func overlaps(rule, g preview.Grant) bool {
	share := func(a, b []string) bool {
		return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
	}
	if !share(rule.Verbs, g.Verbs) {
		return false
	}
	if len(g.NonResourceURLs) > 0 {
		return share(rule.NonResourceURLs, g.NonResourceURLs)
	}
	return share(rule.APIGroups, g.APIGroups) && share(rule.Resources, g.Resources) && slices.Equal(rule.ResourceNames, g.ResourceNames)
}

// reachDoc is a way to the rights of others, step by step.
func (m *accessTab) reachDoc(b *frame.Builder, f *preview.Finding) {
	b.Heading(f.Title)
	b.Blank()
	_, who := statement(f)
	b.Text(theme.Strong, "   ", who)
	for i, step := range waySteps(f) {
		b.Text(theme.Plain, "   ", fmt.Sprintf("%d  %s", i+1, step))
	}
	b.Heading("Why it matters")
	b.Text(theme.Plain, "   ", f.Why)
	m.reduce(b, f)
}

func (m *accessTab) cloudDoc(b *frame.Builder, c preview.CloudPermission) {
	b.Heading(c.Effect + " in " + c.Provider)
	b.Blank()
	b.Pair("actions", strings.Join(c.Actions, ", "))
	b.Pair("resources", strings.Join(c.Resources, ", "))
	b.Pair("roles", strings.Join(c.Roles, ", "))
	if len(c.Conditions) > 0 {
		b.Pair("conditions", frame.ShortValue(c.Conditions))
	}
	b.Pair("change", c.Change)
	b.Pair("origin", c.Origin)
	b.Pair("rules", strings.Join(c.Rules, ", "))
	m.findingsOf(b, c.Origin)
}

func quoted(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = strconv.Quote(s)
	}
	return strings.Join(out, ", ")
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
