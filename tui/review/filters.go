package review

import (
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/diffview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
)

// filters are what the lists show and how they are grouped.
type filters struct {
	access  int    // showAll, …
	group   int    // groupSubject, …
	objects int    // objectsAll, …
	pkg     string // the package that findings, objects and differences are of; empty for all
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

func (m *deck) cycleFilter() {
	switch m.tab {
	case tabAccess:
		m.filter.access = (m.filter.access + 1) % showCount
	case tabObjects:
		m.filter.objects = (m.filter.objects + 1) % objectsCount
	case tabFindings, tabDiff:
		m.cyclePackage()
		return
	default:
		m.notice = "this tab has no filter"
		return
	}
	m.refilter()
}

func (m *deck) clearFilter() {
	group := m.filter.group
	m.filter = filters{group: group}
	m.refilter()
}

// refilter shows the lists again, the open one from its top.
func (m *deck) refilter() {
	b := m.browser()
	b.pane, b.kind = frame.PaneList, diffview.Facts
	m.refresh()
}

// cyclePackage goes through the packages of a plan that has several, and back to
// all of them.
func (m *deck) cyclePackage() {
	names := m.packages()
	if len(names) == 0 {
		m.notice = "this plan has one package: there is nothing to choose between"
		return
	}
	at := slices.Index(names, m.filter.pkg) + 1 // of all packages there is none
	m.filter.pkg = ""
	if at < len(names) {
		m.filter.pkg = names[at]
	}
	m.refilter()
}

// packages are the names of a plan's packages, none where all is of one.
func (m *view) packages() []string {
	if len(m.plan.Packages) < 2 {
		return nil
	}
	names := make([]string, 0, len(m.plan.Packages))
	for i := range m.plan.Packages {
		names = append(names, m.plan.Packages[i].Name)
	}
	return names
}

// ofPackage reports whether an object passes the filter by package.
func (m *view) ofPackage(o *preview.Object) bool {
	return m.filter.pkg == "" || o.Package == m.filter.pkg
}

// itemOfPackage reports whether one of an item's findings is of the package. What
// is of none, such as a finding about the cluster, is shown with each.
func (m *view) itemOfPackage(i int) bool {
	return m.filter.pkg == "" || slices.ContainsFunc(m.board.items[i].findings, func(f *preview.Finding) bool {
		name, isPackage := strings.CutPrefix(f.Object, "package/")
		if o := m.object(f.Object); o != nil && !isPackage {
			name = o.Package
		} else if !isPackage {
			name = ""
		}
		return name == "" || name == m.filter.pkg
	})
}

// packageChip says which package a list is of; empty where all is of one.
func (m *view) packageChip() string {
	if m.packages() == nil {
		return ""
	}
	return "package: " + orAll(m.filter.pkg) + " (P)"
}

func orAll(name string) string {
	if name == "" {
		return "all"
	}
	return name
}
