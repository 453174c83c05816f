package review

import (
	"strconv"

	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// tab is one of the tabs of REVIEW.
type tab int

const (
	tabSummary tab = iota
	tabFindings
	tabAccess
	tabObjects
	tabDiff
	tabSource
	tabFiles // of a plugin set, else not there
	tabCount
)

// tabRow is everything the review knows of a tab.
type tabRow struct {
	name, short string
	split       bool // list and detail side by side where there is room
	diff        bool // the detail is how the row's object would change
	count       func(*review) int
	rows        func(*review) []row
	doc         func(m *review, id string, width int) document
}

// tabTable is the whole list.
func tabTable() [tabCount]tabRow {
	return [tabCount]tabRow{
		tabSummary: {name: "Summary", short: "Sum", rows: summaryRows},
		tabFindings: {name: "Findings", short: "Find", split: true, rows: findingRows, doc: findingDoc,
			count: func(m *review) int { return len(m.board.items) }},
		tabAccess: {name: "Access", short: "Access", rows: accessRows, doc: accessDoc,
			count: func(m *review) int { return len(m.plan.Access.Grants) + len(m.plan.Cloud.Permissions) }},
		tabObjects: {name: "Objects", short: "Obj", split: true, rows: objectRows, doc: objectDoc,
			count: func(m *review) int { return len(m.plan.Objects) }},
		tabDiff:   {name: "Diff", short: "Diff", split: true, rows: diffRows, diff: true},
		tabSource: {name: "Source", short: "Src", rows: sourceRows},
		tabFiles: {name: "Files", short: "Files", split: true, rows: fileRows, doc: fileDoc,
			count: func(m *review) int { return len(m.plan.Files) }},
	}
}

// shownTabs are the tabs that the plan has something for, in their order.
func (m *review) shownTabs() []tab {
	switch {
	case m.plan == nil || m.plan.Platform == "":
		return []tab{tabSummary, tabFindings, tabAccess, tabObjects, tabDiff, tabSource}
	case m.plan.OnMachine():
		return []tab{tabSummary, tabFindings, tabFiles, tabSource}
	}
	return []tab{tabSummary, tabFindings, tabFiles, tabAccess, tabObjects, tabDiff, tabSource}
}

// tabBar draws the tabs and the columns each takes, for the mouse.
func (m *review) tabBar() (widget.Line, [tabCount][2]int) {
	var line widget.Line
	var at [tabCount][2]int
	gap, x := 2, 0
	if m.size.Mode == frame.ModeSingle {
		gap = 1
	}
	for i, t := range m.shownTabs() {
		spec := m.table[t]
		label := strconv.Itoa(i+1) + " " + spec.name
		if m.size.Mode == frame.ModeSingle {
			label = strconv.Itoa(i+1) + " " + spec.short
		}
		if spec.count != nil {
			label += " " + strconv.Itoa(spec.count(m))
		}
		role, text := theme.Plain, " "+label+" "
		if t == m.tab {
			role, text = theme.Current, "["+label+"]"
		}
		span := widget.Text(role, text)
		at[t] = [2]int{x, x + len(text)}
		line = append(line, span, widget.Text(theme.Plain, "  "[:gap-1]))
		x += len(text) + gap - 1
	}
	return line, at
}
