package review

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// accessClass is one row of the summary's table: grants a person asks about
// by name.
type accessClass struct {
	name    string
	matches func(*preview.Grant) bool
}

func accessClasses() []accessClass {
	const rbac = "rbac.authorization.k8s.io"
	write, writeRoles := []string{"create", "update", "patch", "delete", "deletecollection"}, []string{"create", "update", "patch", "delete", "deletecollection", "escalate", "bind"}
	return []accessClass{
		{"read secrets", func(g *preview.Grant) bool { return reaches(g, "", "secrets") && does(g, "get", "list", "watch") }},
		{"write workloads", func(g *preview.Grant) bool {
			workload := reaches(g, "", "pods", "replicationcontrollers") || reaches(g, "batch", "jobs", "cronjobs") ||
				reaches(g, "apps", "deployments", "daemonsets", "statefulsets", "replicasets")
			return workload && does(g, write...) || reaches(g, "", "pods/exec", "pods/attach") && does(g, "create", "get")
		}},
		{"change RBAC / escalate", func(g *preview.Grant) bool {
			roles := reaches(g, rbac, "roles", "clusterroles", "rolebindings", "clusterrolebindings")
			return roles && does(g, writeRoles...) ||
				reaches(g, "", "users", "groups", "serviceaccounts") && does(g, "impersonate") ||
				reaches(g, "", "serviceaccounts/token") && does(g, "create")
		}},
		{"wildcard verbs or resources", func(g *preview.Grant) bool {
			return slices.Contains(g.Verbs, "*") || slices.Contains(g.Resources, "*")
		}},
	}
}

// reaches reports whether a grant covers one of some resources of a group.
func reaches(g *preview.Grant, group string, resources ...string) bool {
	if !slices.Contains(g.APIGroups, group) && !slices.Contains(g.APIGroups, "*") {
		return false
	}
	return slices.Contains(g.Resources, "*") || slices.ContainsFunc(resources, func(r string) bool { return slices.Contains(g.Resources, r) })
}

func does(g *preview.Grant, verbs ...string) bool {
	return slices.Contains(g.Verbs, "*") || slices.ContainsFunc(verbs, func(v string) bool { return slices.Contains(g.Verbs, v) })
}

// tally counts the grants of a class that the plan gives.
type tally struct{ cluster, namespaced, changed int }

func count(grants []preview.Grant, c accessClass) tally {
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

// access is the summary's table of access, or two dense lines of it.
func (m *summaryTab) access() []row {
	if len(m.plan.Packages) == 0 {
		return m.accessTaken()
	}
	if m.size.Mode != frame.ModeDouble {
		return m.accessShort()
	}
	since := "new"
	if m.plan.Base.Revision > 0 {
		since = fmt.Sprintf("new since revision %d", m.plan.Base.Revision)
	}
	table := func(role theme.Role, name, cluster, namespaced, changed string) widget.Line {
		return widget.Line{
			widget.Cell(role, name, 31), widget.Cell(theme.Plain, cluster, 15),
			widget.Cell(theme.Plain, namespaced, 13), widget.Text(theme.Plain, changed),
		}
	}
	rows := []row{textRow(table(theme.Heading, "ACCESS ASKED FOR", "cluster-wide", "namespaced", since))}
	number := func(n int) string { return fmt.Sprintf("%7d", n) }
	grants := m.plan.Access.Grants
	for _, c := range accessClasses() {
		rows = append(rows, accessLink(c.name, func() widget.Line {
			t := count(grants, c)
			return table(theme.Plain, c.name, number(t.cluster), number(t.namespaced), number(t.changed))
		}))
	}
	for _, c := range cloudTally(m.plan.Cloud) {
		name := "cloud: " + c.provider + " statements"
		rows = append(rows, accessLink(name, func() widget.Line {
			return table(theme.Caution, name, number(c.statements), "      -", number(c.changed))
		}))
	}
	return rows
}

// accessLink is a table row that opens the access tab. Grants are counted once,
// when it comes into the window.
func accessLink(name string, count func() widget.Line) row {
	line := sync.OnceValue(count)
	return row{
		id: linkAccess + "/" + name, words: func() string { return line().Plain() },
		line: func(int) widget.Line { return line() },
	}
}

func (m *summaryTab) accessShort() []row {
	var parts []string
	for _, c := range accessClasses() {
		t := count(m.plan.Access.Grants, c)
		parts = append(parts, fmt.Sprintf("%s: cluster %d ns %d", c.name, t.cluster, t.namespaced))
	}
	first := widget.Line{widget.Text(theme.Heading, "ACCESS "), widget.Text(theme.Plain, parts[0]+"   "+parts[1])}
	rows := []row{textRow(first), textRow(frame.Plain("       " + strings.Replace(parts[2], " / escalate", "", 1) + "   " + strings.Replace(parts[3], " verbs or resources", "", 1)))}
	var cloud []string
	for _, c := range cloudTally(m.plan.Cloud) {
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

// cloudTally counts cloud statements per provider, declarations included.
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
