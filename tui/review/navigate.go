package review

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/tui/diffview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
)

// back goes one level up, such as from a detail to its list. It never quits.
func (m *tabPanel) back() {
	b := m.activeTab()
	switch {
	case m.search.active():
		m.search.end()
	case b.back():
	case m.Banner != "":
		m.Banner, m.failed = "", nil
	case m.tab != tabs.Summary:
		m.openTab(tabs.Summary)
	}
}

// nextOrHit goes to the next hit during a search, and marks nothing. Otherwise
// it goes to the next item that is not reviewed.
func (m *tabPanel) nextOrHit(step int) tea.Cmd {
	if m.search.active() {
		return m.nextHit(step)
	}
	m.next(step)
	return nil
}

// next marks the item on the screen as reviewed, if all of its evidence was on
// the screen, and goes to the next one that is not reviewed.
func (m *tabPanel) next(step int) {
	from := -1
	if step < 0 {
		from = len(m.Checklist.Items)
	}
	if m.tab == tabs.Findings {
		if at := m.Checklist.Find(m.activeTab().selected().ID); at >= 0 {
			from = at
			if !m.markOrScroll(at) {
				return
			}
		}
	}
	to := m.Checklist.Next(from, step)
	if to < 0 {
		m.notice = "everything has been reviewed"
		return
	}
	m.openFinding(to)
}

// markOrScroll marks an item as reviewed. If its detail, or a part of its
// evidence, was not on the screen yet, it shows that instead, and returns false.
func (m *tabPanel) markOrScroll(at int) bool {
	b := m.activeTab()
	if m.Checklist.IsReviewed(at) {
		return true
	}
	if !m.detailVisible() || b.kind != diffview.Facts {
		b.open(diffview.Facts)
		return false
	}
	if line := b.firstUnseen(); line >= 0 {
		b.pager.Top = line
		b.pager.Scroll(0, m.PaneHeight())
		m.notice = "more evidence: n continues when all of it was shown"
		return false
	}
	m.setMark(at, true)
	return true
}

// toggleMark handles the key space: it marks a finding or an object, or removes
// the mark.
func (m *tabPanel) toggleMark() {
	if m.tab == tabs.Objects {
		m.toggleObject()
		return
	}
	at := m.Checklist.Find(m.activeTab().selected().ID)
	if m.tab != tabs.Findings || at < 0 {
		return
	}
	if m.Checklist.IsReviewed(at) {
		m.setMark(at, false)
		return
	}
	m.markOrScroll(at)
}

// openFinding shows the detail of item at.
func (m *tabPanel) openFinding(at int) {
	m.openTab(tabs.Findings)
	if !m.ItemOfPackage(at) { // it is not listed
		m.Filter.Package = ""
		m.refresh()
		m.notice = "that belongs to another package: all packages are listed again"
	}
	b := m.activeTab()
	b.selectID(m.Checklist.Items[at].Label())
	b.open(diffview.Facts)
}

func (m *tabPanel) openTab(t tabs.Tab) {
	if !slices.Contains(m.ShownTabs(), t) {
		return
	}
	m.tab = t
	if m.search.typing {
		m.search.end()
	}
}

// nextPane goes to the next pane (step 1) or the previous one (-1), and from
// the last to the next tab.
func (m *tabPanel) nextPane(step int) {
	b := m.activeTab()
	if m.split() && step > 0 && b.pane == frame.PaneList {
		b.open(b.kind)
		return
	}
	if m.split() && step < 0 && b.pane == frame.PaneDetail {
		b.pane = frame.PaneList
		return
	}
	b.pane = frame.PaneList
	shown := m.ShownTabs()
	m.openTab(shown[(slices.Index(shown, m.tab)+step+len(shown))%len(shown)])
}

// open handles enter: it goes one level down, such as from a list to the detail.
func (m *tabPanel) open() {
	row := m.activeTab().selected()
	if m.tab == tabs.Summary {
		if at := m.Checklist.Find(row.ID); at >= 0 {
			m.openFinding(at)
		} else if row.ID == tabs.QuestionsID {
			m.openTab(tabs.Findings)
			m.activeTab().selectID(row.ID)
			m.activeTab().open(diffview.Facts)
		} else if to, ok := tabs.LinkTo(row.ID); ok {
			m.openTab(to)
		} else if strings.HasPrefix(row.ID, tabs.SettingPrefix) {
			m.notice = row.Explain // where it cannot be chosen
		}
		return
	}
	if m.tab == tabs.Objects && m.activeTab().toggleBranch(m.Branches) {
		return
	}
	if row.ID != "" && m.hasDetail() {
		m.activeTab().open(diffview.Facts)
	}
}

func (m *tabPanel) openDoc(k diffview.Kind) {
	if m.tab == tabs.Summary {
		m.open()
	}
	row := m.activeTab().selected()
	switch f := m.FileOf(row); {
	case f != nil && (k != diffview.Diff || len(f.Changes) == 0):
		m.notice = "the plan has no text of this file"
		return
	case f != nil:
	case row.Object == "" || m.Object(row.Object) == nil:
		m.notice = "this line is not about a single object"
		return
	}
	m.activeTab().open(k)
}

// explain shows the page of the rule of a finding, or explains any other row in words.
func (m *review) explain() {
	row := m.activeTab().selected()
	if at := m.Checklist.Find(row.ID); at >= 0 && (m.tab == tabs.Findings || m.tab == tabs.Summary) {
		m.openRule(m.Checklist.Items[at].First().Rule)
		return
	}
	if strings.HasPrefix(row.ID, tabs.ReachPrefix) {
		m.openRule(rules.AccessReach.Name)
		return
	}
	switch text := row.Explanation(); {
	case text == "":
	case textsafe.Width(text) < m.Size.Width:
		m.notice = text
		return
	default:
		m.page = textPage(m.Size.Width, "What this row says", text)
		return
	}
	m.notice = "nothing to explain here"
}

// split reports whether the open tab shows list and detail side by side. A diff
// of two texts side by side takes the whole width instead.
func (m *tabPanel) split() bool {
	b := m.activeTab()
	if b.sheet != nil && b.pane == frame.PaneDetail && m.sheetForm(b) == diffview.FormBeside {
		return false
	}
	return m.Size.Mode == frame.ModeDouble && m.table[m.tab].Split
}

// hasDetail reports whether rows of the open tab have a detail.
func (m *tabPanel) hasDetail() bool { return m.table[m.tab].Detail || m.table[m.tab].Diff }

// detailVisible reports whether the detail of the open tab is on the screen.
func (m *tabPanel) detailVisible() bool {
	return m.hasDetail() && (m.split() || m.activeTab().pane == frame.PaneDetail)
}

// detailWidth returns the width of the detail, in cells.
func (m *tabPanel) detailWidth() int {
	if m.split() {
		return m.Size.Right
	}
	return m.Size.Width
}

func (m *review) copy(text string) (cmd tea.Cmd) {
	m.notice, cmd = frame.CopyText(text)
	return cmd
}

// wheel scrolls the pane under the pointer.
func (m *review) wheel(msg tea.MouseWheelMsg) {
	if m.screen != screenReview || m.Size.Mode == frame.ModeNone {
		return
	}
	delta := frame.WheelLines
	if msg.Button == tea.MouseWheelUp {
		delta = -frame.WheelLines
	}
	b := m.activeTab()
	switch {
	case m.page != nil:
		m.page.Wheel(msg, m.Size)
	case b.pane == frame.PaneDetail || m.split() && msg.X > m.Size.Left:
		b.scroll(m.tabPanel, delta)
	default:
		b.list.Move(delta, len(b.rows), b.selectable)
	}
}

// click selects the row or tab at the pointer. No click approves anything.
func (m *review) click(msg tea.MouseClickMsg) {
	if m.screen != screenReview || m.page != nil || m.Size.Mode == frame.ModeNone || msg.Button != tea.MouseLeft {
		return
	}
	if msg.Y == m.Size.Header-1 && m.Size.Mode != frame.ModeTiny {
		_, at := m.tabBar()
		for t, x := range at {
			if msg.X >= x[0] && msg.X < x[1] {
				m.openTab(tabs.Tab(t))
			}
		}
		return
	}
	b := m.activeTab()
	top := m.Size.BodyTop + m.Size.Body - m.PaneHeight()
	i := b.list.Top + msg.Y - top
	inList := m.split() && msg.X < m.Size.Left || !m.split() && b.pane == frame.PaneList
	if msg.Y >= top && !inList && m.detailVisible() {
		b.click(msg.Y-top, m.tabPanel)
		return
	}
	if msg.Y >= top && msg.Y < top+m.PaneHeight() && inList && i < len(b.rows) && b.selectable(i) {
		b.list.Cursor, b.pane, b.kind = i, frame.PaneList, diffview.Facts
	}
}

// click gives the focus to the detail. In a YAML or diff it moves the cursor to
// line y of the pane.
func (b *masterDetail) click(y int, m *tabPanel) {
	if y >= m.PaneHeight() {
		return
	}
	b.pane = frame.PaneDetail
	if s := b.sheet; s != nil && y >= diffview.HeadHeight(m.Tiny()) && s.Top+y-diffview.HeadHeight(m.Tiny()) < len(s.Rows) {
		s.Cursor = s.Top + y - diffview.HeadHeight(m.Tiny())
	}
}
