package review

import (
	"github.com/kubectl-operator/kubectl-operator/tui/diffview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"

	tea "charm.land/bubbletea/v2"
)

// wheel scrolls what the pointer is over.
func (m *review) wheel(msg tea.MouseWheelMsg) {
	if m.screen != screenReview || m.size.Mode == frame.ModeNone {
		return
	}
	delta := frame.WheelLines
	if msg.Button == tea.MouseWheelUp {
		delta = -frame.WheelLines
	}
	b := m.browser()
	switch {
	case m.page != nil:
		m.page.Scroll(delta, m.size.Body)
	case b.pane == frame.PaneDetail || m.split() && msg.X > m.size.Left:
		b.scroll(m.deck, delta)
	default:
		b.list.Move(delta, len(b.rows), b.selectable)
	}
}

// click selects a row or a tab. There is nothing to click that approves.
func (m *review) click(msg tea.MouseClickMsg) {
	if m.screen != screenReview || m.page != nil || m.size.Mode == frame.ModeNone || msg.Button != tea.MouseLeft {
		return
	}
	if msg.Y == m.size.Header-1 && m.size.Mode != frame.ModeTiny {
		_, at := m.tabBar()
		for t, x := range at {
			if msg.X >= x[0] && msg.X < x[1] {
				m.openTab(tab(t))
			}
		}
		return
	}
	b := m.browser()
	top := m.size.BodyTop + m.size.Body - m.paneHeight()
	i := b.list.Top + msg.Y - top
	inList := m.split() && msg.X < m.size.Left || !m.split() && b.pane == frame.PaneList
	if msg.Y >= top && !inList && m.detailVisible() {
		b.click(msg.Y-top, m.deck)
		return
	}
	if msg.Y >= top && msg.Y < top+m.paneHeight() && inList && i < len(b.rows) && b.selectable(i) {
		b.list.Cursor, b.pane, b.kind = i, frame.PaneList, diffview.Facts
	}
}

// click gives the focus to the detail, and in a sheet puts the cursor on the
// row below its top.
func (b *browser) click(y int, m *deck) {
	if y >= m.paneHeight() {
		return
	}
	b.pane = frame.PaneDetail
	if s := b.sheet; s != nil && y >= diffview.HeadHeight(m.tiny()) && s.Top+y-diffview.HeadHeight(m.tiny()) < len(s.Rows) {
		s.Cursor = s.Top + y - diffview.HeadHeight(m.tiny())
	}
}
