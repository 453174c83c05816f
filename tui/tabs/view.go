package tabs

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/review"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
)

// View is the state from which every screen and tab of a review is drawn: the plan,
// and what is known about it. All share a pointer to it; only Update changes it.
type View struct {
	Theme   theme.Theme
	Size    frame.Layout
	Settles bool // contested fields can be decided about here
	Chooses bool // settings that need less can be chosen here
	Replans bool // the plan can be made again
	Plain   bool // the review is lines of text, and no screen is drawn

	Plan      *preview.Plan
	Checklist *Checklist
	index     Index
	questions []review.Question // that the way the plan was made leaves open
	reader    *review.Reader    // made when first asked for
	Foreign   ForeignFields
	Prior     PriorAcceptances
	Moved     map[string]string // live objects that changed since the plan was made, by id: how

	// Chosen are the flags of settings that were chosen in the review, and that the
	// plan was made with.
	Chosen []string

	Filter   Filters
	Branches branches // of the objects tab
	Banner   string   // stays until esc: what changed under the review
}

// Tab is one of the tabs of the REVIEW screen.
type Tab int

// The tabs, in the order of their numbers.
const (
	Summary Tab = iota
	Findings
	Access
	Objects
	Diff
	Source
	Files // of a plugin set, else not there
	Count
)

// page makes the rows of a tab, and the detail of each row. It reads the view,
// and changes only what it remembers from making rows to making a detail.
type page interface {
	Rows() []Row
	// Doc is the detail of a row. Only tabs whose rows have one are asked.
	Doc(id string, width int) Document
	// Count returns the number beside the name of the tab; -1 for none.
	Count() int
}

// TabRow describes a tab: its content, its name, and how it is laid out.
type TabRow struct {
	page
	Name, Short string
	Split       bool // list and detail side by side where there is room
	Detail      bool // rows have a document
	Diff        bool // the detail is how the row's object would change
}

// NewTable returns all tabs of a view, and the access tab itself, which can
// name the subjects of its rows.
func NewTable(v *View) (table [Count]TabRow, access *AccessTab) {
	access = &AccessTab{View: v}
	return [Count]TabRow{
		Summary:  {page: &summaryTab{View: v}, Name: "Summary", Short: "Sum"},
		Findings: {page: &findingsTab{View: v}, Name: "Findings", Short: "Find", Split: true, Detail: true},
		Access:   {page: access, Name: "Access", Short: "Access", Detail: true},
		Objects:  {page: &objectsTab{View: v}, Name: "Objects", Short: "Obj", Split: true, Detail: true},
		Diff:     {page: &diffTab{View: v}, Name: "Diff", Short: "Diff", Split: true, Diff: true},
		Source:   {page: &sourceTab{View: v}, Name: "Source", Short: "Src"},
		Files:    {page: &filesTab{View: v}, Name: "Files", Short: "Files", Split: true, Detail: true},
	}, access
}

// Show makes the view show another plan. Marks of the former one are kept where
// the evidence is the same.
func (m *View) Show(p *preview.Plan) {
	kept := Marks{}
	if m.Checklist != nil {
		kept = m.Checklist.Marks
	}
	m.Plan, m.Checklist = p, newChecklist(p, kept)
	m.index, m.Branches = Index{plan: p, board: m.Checklist}, branches{}
	m.questions, m.reader = review.OpenQuestions(p), nil
	m.Filter = startFilters(p)
}

// ShownTabs returns the tabs in which the plan has content, in order.
func (m *View) ShownTabs() []Tab {
	switch {
	case m.Plan == nil || m.Plan.Platform == "":
		return []Tab{Summary, Findings, Access, Objects, Diff, Source}
	case m.Plan.OnMachine():
		return []Tab{Summary, Findings, Files, Source}
	}
	return []Tab{Summary, Findings, Files, Access, Objects, Diff, Source}
}

// Filters say what the lists show and how they are grouped.
type Filters struct {
	Access  int    // showAll, …
	Group   int    // groupSubject, …
	Objects int    // objectsAll, …
	Package string // the package that findings, objects and differences are of; empty for all
	Only    RowFilter
}

// startFilters returns the filters with which a review begins. For an upgrade, the
// access tab shows only new and risky grants, because the others were approved before.
func startFilters(p *preview.Plan) Filters {
	f := Filters{}
	if p.Base.Revision > 0 {
		f.Access = showNewOrRisky
	}
	return f
}

// Packages returns the names of a plan's packages, nil if there is only one.
func (m *View) Packages() []string {
	if len(m.Plan.Packages) < 2 {
		return nil
	}
	names := make([]string, 0, len(m.Plan.Packages))
	for i := range m.Plan.Packages {
		names = append(names, m.Plan.Packages[i].Name)
	}
	return names
}

// ofPackage reports whether an object is of the package that the lists show.
func (m *View) ofPackage(o *preview.Object) bool {
	return m.Filter.Package == "" || o.Package == m.Filter.Package
}

// ItemOfPackage reports whether a finding of item i is of the package that the
// lists show, or of no package, such as one about the cluster.
func (m *View) ItemOfPackage(i int) bool {
	return m.Filter.Package == "" || slices.ContainsFunc(m.Checklist.Items[i].Findings, func(f *preview.Finding) bool {
		name, isPackage := strings.CutPrefix(f.Object, "package/")
		if o := m.Object(f.Object); o != nil && !isPackage {
			name = o.Package
		} else if !isPackage {
			name = ""
		}
		return name == "" || name == m.Filter.Package
	})
}

// packageChip returns the text in a list's head that names the package, empty
// for a plan of one package.
func (m *View) packageChip() string {
	if m.Packages() == nil {
		return ""
	}
	return "package: " + packageOrAll(m.Filter.Package) + " (P)"
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
	ObjectsCount
)

// Tiny reports whether the window has the smallest layout.
func (m *View) Tiny() bool { return m.Size.Mode == frame.ModeTiny }

// PaneHeight returns the number of lines of a list or detail.
func (m *View) PaneHeight() int {
	if m.BannerText() != "" {
		return m.Size.Body - 1
	}
	return m.Size.Body
}

// Stale reports whether live objects are known to have changed since the plan was made.
func (m *View) Stale() bool { return len(m.Moved) > 0 }

// StaleText says in one line which live objects have changed, and what to do.
func (m *View) StaleText() string {
	if !m.Stale() {
		return ""
	}
	id := slices.Sorted(maps.Keys(m.Moved))[0]
	text := frame.ShortKind(frame.ObjectName(id)) + " " + m.Moved[id]
	if n := len(m.Moved) - 1; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	if !m.Replans {
		return "stale: " + text
	}
	return "stale (R): " + text
}

// BannerText returns the line above the body, empty if there is none. In a small
// window, it says that the plan is stale, for which the header has no room.
func (m *View) BannerText() string {
	if m.Banner == "" && m.Size.Mode == frame.ModeSingle {
		return m.StaleText()
	}
	return m.Banner
}

// Reader returns what is known of the plan's findings besides themselves, and the pages of
// all rules. It is made at the first call.
func (m *View) Reader() *review.Reader {
	if m.reader == nil {
		m.reader = review.NewReader(m.Plan)
	}
	return m.reader
}

// Filtered returns the note that filters hide rows from the search, empty if none does.
func (m *View) Filtered() string {
	if m.Filter.Access == showAll && m.Filter.Objects == objectsAll && m.Filter.Package == "" && m.Filter.Only.find == nil {
		return ""
	}
	return "; filters hide rows, F clears one"
}
