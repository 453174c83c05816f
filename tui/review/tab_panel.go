package review

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/kubectl-operator/kubectl-operator/tui/diffview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// tabPanel holds the tabs of a review, each a list with the details of its
// rows, and what the user has open and is typing there.
type tabPanel struct {
	*tabs.View
	ctx       context.Context
	opts      Options
	keys      frame.KeyMap
	sealed    time.Time
	watch     liveWatch
	failed    error // what the banner is about, nil when nothing went wrong
	table     [tabs.Count]tabs.TabRow
	tab       tabs.Tab
	tabs      [tabs.Count]masterDetail
	access    *tabs.AccessTab
	search    search
	only      widget.Query // for a text that narrows a list
	narrowing bool         // it is being typed
	lookups   lookups
	beside    bool // differences side by side, where there is room
	paths     bool // differences as a list of fields
	comparing comparison
	notice    string // until the next key
}

// newTabPanel returns the tabs of a review, still without a plan.
func newTabPanel(ctx context.Context, opts Options) *tabPanel {
	v := &tabs.View{Theme: opts.Theme(), Settles: opts.Settle != nil, Chooses: opts.Choose != nil, Replans: opts.Resolve != nil}
	m := &tabPanel{View: v, ctx: ctx, opts: opts, keys: frame.NewKeyMap(), comparing: comparison{still: opts.NoMotion}}
	m.lookups = lookups{view: v, ctx: ctx, prior: opts.PriorAcceptance}
	m.table, m.access = tabs.NewTable(v)
	return m
}

// tabBar returns the line of the tabs, and the columns of each tab, for the mouse.
func (m *tabPanel) tabBar() (widget.Line, [tabs.Count][2]int) {
	var line widget.Line
	var at [tabs.Count][2]int
	gap, x := 2, 0
	if m.Size.Mode == frame.ModeSingle {
		gap = 1
	}
	for i, t := range m.ShownTabs() {
		spec := m.table[t]
		label := strconv.Itoa(i+1) + " " + spec.Name
		if m.Size.Mode == frame.ModeSingle {
			label = strconv.Itoa(i+1) + " " + spec.Short
		}
		if n := spec.Count(); n >= 0 {
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

func (m *tabPanel) cycleFilter() {
	switch m.tab {
	case tabs.Access:
		m.Filter.Access = (m.Filter.Access + 1) % tabs.ShowCount
	case tabs.Objects:
		m.Filter.Objects = (m.Filter.Objects + 1) % tabs.ObjectsCount
	case tabs.Findings, tabs.Diff:
		m.cyclePackage()
		return
	default:
		m.notice = "this tab has no filter"
		return
	}
	m.refilter()
}

func (m *tabPanel) clearFilter() {
	group := m.Filter.Group
	m.Filter = tabs.Filters{Group: group}
	m.refilter()
}

// refilter shows the lists with changed filters.
func (m *tabPanel) refilter() {
	b := m.activeTab()
	b.pane, b.kind = frame.PaneList, diffview.Facts
	m.refresh()
}

// cyclePackage shows the next package of a plan with several, after the last
// one all of them.
func (m *tabPanel) cyclePackage() {
	names := m.Packages()
	if len(names) == 0 {
		m.notice = "this plan has one package: there is nothing to choose between"
		return
	}
	at := slices.Index(names, m.Filter.Package) + 1 // of all packages there is none
	m.Filter.Package = ""
	if at < len(names) {
		m.Filter.Package = names[at]
	}
	m.refilter()
}
