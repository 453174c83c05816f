package review

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// holdsData are the kinds with which data goes when they are deleted.
func holdsData(kind string) bool {
	switch kind {
	case "CustomResourceDefinition", "Namespace", "PersistentVolumeClaim", "PersistentVolume", "Secret", "ConfigMap":
		return true
	}
	return false
}

// lossRows say at the top of the summary what is lost for good with a plan, and
// what a removal leaves behind.
func (m *summaryTab) lossRows() []row {
	var rows []row
	if lost := m.byKind(func(o *preview.Object) bool {
		return (o.Action == preview.ActionDelete || o.Action == preview.ActionReplace) && holdsData(o.Kind)
	}); lost != "" {
		rows = append(rows, textRow(widget.Line{widget.Text(theme.Risk, "lost  "), widget.Text(theme.Plain, lost+m.operands())}))
	}
	if len(m.plan.Packages) > 0 {
		return rows
	}
	if kept := m.byKind(func(o *preview.Object) bool { return o.Action == preview.ActionKeep }); kept != "" {
		rows = append(rows, textRow(widget.Line{widget.Text(theme.Strong, "stays "), widget.Text(theme.Plain, kept+", with what they hold")}))
	}
	return rows
}

// byKind counts some objects of the plan by their kind.
func (m *summaryTab) byKind(which func(*preview.Object) bool) string {
	count := map[string]int{}
	var kinds []string
	for i := range m.plan.Objects {
		o := &m.plan.Objects[i]
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

// countsLosses names the rules whose findings count what goes with an object.
func countsLosses(rule string) bool {
	return rule == rules.CRDDeleted.Name || rule == rules.NamespaceDeleted.Name
}

// operands is what goes with the definitions and namespaces that are deleted, as
// it was counted for their findings.
func (m *summaryTab) operands() string {
	var parts []string
	for _, f := range m.plan.Findings {
		if _, with, ok := strings.Cut(f.Title, "and with it "); ok && countsLosses(f.Rule) && with != "no objects" && with != "nothing of others" {
			parts = append(parts, with)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "; with them " + strings.Join(parts, ", ")
}

// accessTaken is the summary's part on access of a plan that gives none.
func (m *summaryTab) accessTaken() []row {
	subjects := map[preview.Subject]bool{}
	for _, g := range m.plan.Access.Grants {
		subjects[g.Subject] = true
	}
	text := fmt.Sprintf("%s of %s", preview.Plural(len(m.plan.Access.Grants), "grant"), preview.Plural(len(subjects), "subject"))
	return []row{accessLink("ACCESS TAKEN AWAY", func() widget.Line {
		return widget.Line{widget.Text(theme.Heading, "ACCESS TAKEN AWAY  "), widget.Text(theme.Plain, text)}
	})}
}
