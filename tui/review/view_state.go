package review

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/report"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/pages"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
)

// view is what every screen and tab of a review is drawn from: the plan, and what is
// known of it. It is shared by pointer; only Update changes it.
type view struct {
	theme   theme.Theme
	size    frame.Layout
	settles bool // contested fields can be decided about here
	replans bool // the plan can be made again
	plain   bool // nothing is drawn: see [RunPlain]

	plan      *preview.Plan
	checklist *checklist
	index     index
	questions []report.Question // that the way the plan was made leaves open
	book      pages.Index       // of rules, made when first asked for
	foreign   foreignFields
	prior     priorAcceptances
	moved     map[string]string // live objects that changed since the plan was made, by id: how

	filter   filters
	branches branches // of the objects tab
	banner   string   // stays until esc: what changed under the review
}

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

// page makes the content of a tab: rows, and a document about each. It reads
// the view and changes nothing but what it remembers between the two.
type page interface {
	rows() []row
	// doc is the detail of a row. Only tabs whose rows have one are asked.
	doc(id string, width int) document
	// count returns the number beside the name of the tab; -1 for none.
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

// newTable makes the tabs of a view, and returns the one of access besides: it is asked
// for the subjects of its rows.
func newTable(v *view) (table [tabCount]tabRow, access *accessTab) {
	access = &accessTab{view: v}
	return [tabCount]tabRow{
		tabSummary:  {page: &summaryTab{view: v}, name: "Summary", short: "Sum"},
		tabFindings: {page: &findingsTab{view: v}, name: "Findings", short: "Find", split: true, detail: true},
		tabAccess:   {page: access, name: "Access", short: "Access", detail: true},
		tabObjects:  {page: &objectsTab{view: v}, name: "Objects", short: "Obj", split: true, detail: true},
		tabDiff:     {page: &diffTab{view: v}, name: "Diff", short: "Diff", split: true, diff: true},
		tabSource:   {page: &sourceTab{view: v}, name: "Source", short: "Src"},
		tabFiles:    {page: &filesTab{view: v}, name: "Files", short: "Files", split: true, detail: true},
	}, access
}

// show makes a plan the one that is drawn. Marks of an earlier one stay where the
// evidence is the same.
func (m *view) show(p *preview.Plan) {
	kept := marks{}
	if m.checklist != nil {
		kept = m.checklist.marks
	}
	m.plan, m.checklist = p, newChecklist(p, kept)
	m.index, m.branches = index{plan: p, board: m.checklist}, branches{}
	m.questions = report.OpenQuestions(p)
	m.filter = startFilters(p)
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

// filters hold what the lists show and how they are grouped.
type filters struct {
	access  int    // showAll, …
	group   int    // groupSubject, …
	objects int    // objectsAll, …
	pkg     string // the package that findings, objects and differences are of; empty for all
	only    rowFilter
}

// startFilters begins an upgrade with what is new: the rest was approved
// before. It is counted beside the filter.
func startFilters(p *preview.Plan) filters {
	f := filters{}
	if p.Base.Revision > 0 {
		f.access = showNewOrRisky
	}
	return f
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
	return m.filter.pkg == "" || slices.ContainsFunc(m.checklist.items[i].Findings, func(f *preview.Finding) bool {
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
	return "package: " + packageOrAll(m.filter.pkg) + " (P)"
}

func packageOrAll(name string) string {
	if name == "" {
		return "all"
	}
	return name
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

func (m *view) tiny() bool { return m.size.Mode == frame.ModeTiny }

// paneHeight is the lines a list or document has.
func (m *view) paneHeight() int {
	if m.bannerText() != "" {
		return m.size.Body - 1
	}
	return m.size.Body
}

// stale reports whether the cluster is known not to be what the plan under
// review was made on.
func (m *view) stale() bool { return len(m.moved) > 0 }

// staleText says in one line what moved, and what to do.
func (m *view) staleText() string {
	if !m.stale() {
		return ""
	}
	id := slices.Sorted(maps.Keys(m.moved))[0]
	text := frame.ShortKind(frame.ObjectName(id)) + " " + m.moved[id]
	if n := len(m.moved) - 1; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	if !m.replans {
		return "stale: " + text
	}
	return "stale (R): " + text
}

// bannerText is the line above the body, empty when there is none. Where the
// header has no room for it, it says that the plan is stale.
func (m *view) bannerText() string {
	if m.banner == "" && m.size.Mode == frame.ModeSingle {
		return m.staleText()
	}
	return m.banner
}

// rulePages are the pages of all rules, made when the first is asked for.
func (m *view) rulePages() pages.Index {
	if m.book == nil {
		m.book = pages.New()
	}
	return m.book
}

// filtered says that a filter keeps rows from being searched.
func (m *view) filtered() string {
	if m.filter.access == showAll && m.filter.objects == objectsAll && m.filter.pkg == "" && m.filter.only.find == nil {
		return ""
	}
	return "; filters hide rows, F clears one"
}
