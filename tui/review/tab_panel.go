package review

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/report"
	"github.com/kubectl-operator/kubectl-operator/preview/risk/pages"
	"github.com/kubectl-operator/kubectl-operator/tui/diffview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// tabPanel holds the tabs of a review, each a list with the details of its
// rows, and what the user does in them.
type tabPanel struct {
	*view
	ctx       context.Context
	table     [tabCount]tabRow
	tab       tab
	tabs      [tabCount]masterDetail
	access    *accessTab
	objects   *objectsTab
	search    search
	only      widget.Query  // for a text that narrows a list
	narrowing bool          // it is being typed
	indexed   *preview.Plan // whose index is made, or was, ahead of its need
	beside    bool          // differences side by side, where there is room
	paths     bool          // differences as a list of fields
	comparing *diffview.Job // nil while no comparison is made
	notice    string        // until the next key
}

// newTabPanel makes the tabs of a view.
func newTabPanel(ctx context.Context, v *view) *tabPanel {
	m := &tabPanel{view: v, ctx: ctx, access: &accessTab{view: v}, objects: &objectsTab{view: v}}
	m.table = [tabCount]tabRow{
		tabSummary:  {page: &summaryTab{view: v}, name: "Summary", short: "Sum"},
		tabFindings: {page: &findingsTab{view: v}, name: "Findings", short: "Find", split: true, detail: true},
		tabAccess:   {page: m.access, name: "Access", short: "Access", detail: true},
		tabObjects:  {page: m.objects, name: "Objects", short: "Obj", split: true, detail: true},
		tabDiff:     {page: &diffTab{view: v}, name: "Diff", short: "Diff", split: true, diff: true},
		tabSource:   {page: &sourceTab{view: v}, name: "Source", short: "Src"},
		tabFiles:    {page: &filesTab{view: v}, name: "Files", short: "Files", split: true, detail: true},
	}
	return m
}

// view holds what every screen and tab of a review is drawn from: the plan, and
// what is known of it. It is shared by pointer; only Update changes it.
type view struct {
	opts  Options
	theme theme.Theme
	keys  frame.KeyMap
	size  frame.Layout
	plain bool // nothing is drawn: see [RunPlain]

	plan      *preview.Plan
	sealed    time.Time
	checklist *checklist
	index     index
	questions []report.Question // that the way the plan was made leaves open
	book      pages.Index       // of rules, made when first asked for
	foreign   foreignFields
	prior     priorAcceptances
	watch     liveWatch

	filter   filters
	branches branches // of the objects tab
	banner   string   // stays until esc: what changed under the review
	failed   error    // what the banner is about, nil when nothing went wrong
	made     int      // how often rows were made
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
func (m *tabPanel) tabBar() (widget.Line, [tabCount][2]int) {
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

// filters hold what the lists show and how they are grouped.
type filters struct {
	access  int    // showAll, …
	group   int    // groupSubject, …
	objects int    // objectsAll, …
	pkg     string // the package that findings, objects and differences are of; empty for all
	only    rowFilter
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

func (m *tabPanel) cycleFilter() {
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

func (m *tabPanel) clearFilter() {
	group := m.filter.group
	m.filter = filters{group: group}
	m.refilter()
}

// refilter shows the lists again, the open one from its top.
func (m *tabPanel) refilter() {
	b := m.activeTab()
	b.pane, b.kind = frame.PaneList, diffview.Facts
	m.refresh()
}

// cyclePackage goes through the packages of a plan that has several, and back to
// all of them.
func (m *tabPanel) cyclePackage() {
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
