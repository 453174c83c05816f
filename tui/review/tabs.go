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

// page is what a tab shows: rows, and a document about each. It reads the view
// and changes nothing but what it remembers between the two.
type page interface {
	rows() []row
	// doc is the detail of a row. Only tabs whose rows have one are asked.
	doc(id string, width int) document
	// count is what stands beside the name of the tab; -1 for nothing.
	count() int
}

// tabRow is everything the review knows of a tab.
type tabRow struct {
	page
	name, short string
	split       bool // list and detail side by side where there is room
	detail      bool // rows have a document
	diff        bool // the detail is how the row's object would change
}

// shownTabs are the tabs that the plan has something for, in their order.
func (m *view) shownTabs() []tab {
	switch {
	case m.plan == nil || m.plan.Platform == "":
		return []tab{tabSummary, tabFindings, tabAccess, tabObjects, tabDiff, tabSource}
	case m.plan.OnMachine():
		return []tab{tabSummary, tabFindings, tabFiles, tabSource}
	}
	return []tab{tabSummary, tabFindings, tabFiles, tabAccess, tabObjects, tabDiff, tabSource}
}

// tabBar draws the tabs and the columns each takes, for the mouse.
func (m *deck) tabBar() (widget.Line, [tabCount][2]int) {
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
		if n := spec.count(); n >= 0 {
			label += " " + strconv.Itoa(n)
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
