package tui

import (
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// filters are what the lists show and how they are grouped.
type filters struct {
	access  int // showAll, …
	group   int // groupSubject, …
	objects int // objectsAll, …
}

// What the objects tab shows.
const (
	objectsAll = iota
	objectsChanged
	objectsUnchanged
	objectsFindings
	objectsOutside
	objectsCount
)

// startFilters begins an upgrade with what is new: the rest was approved
// before. It is counted beside the filter.
func startFilters(p *preview.Plan) filters {
	f := filters{}
	if p.Base.Revision > 0 {
		f.access = showNewOrRisky
	}
	return f
}

func (m *review) cycleFilter() {
	switch m.tab {
	case tabAccess:
		m.filter.access = (m.filter.access + 1) % showCount
	case tabObjects:
		m.filter.objects = (m.filter.objects + 1) % objectsCount
	default:
		m.notice = "this tab has no filter"
		return
	}
	m.refilter()
}

func (m *review) clearFilter() {
	group := m.filter.group
	m.filter = filters{group: group}
	m.refilter()
}

// refilter shows the list again from its top.
func (m *review) refilter() {
	b := m.browser()
	b.pane, b.kind = paneList, docFacts
	m.refreshTab(m.tab)
}
