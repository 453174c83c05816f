package tui

import (
	tea "charm.land/bubbletea/v2"
)

// wheel scrolls what the pointer is over.
func (m *review) wheel(msg tea.MouseWheelMsg) {
	if m.screen != screenReview || m.size.mode == modeNone {
		return
	}
	delta := wheelLines
	if msg.Button == tea.MouseWheelUp {
		delta = -wheelLines
	}
	b := m.browser()
	switch {
	case m.page != nil:
		m.page.Scroll(delta, m.size.body)
	case b.pane == paneDetail || m.split() && msg.X > m.size.left:
		b.scroll(m, delta)
	default:
		b.list.Move(delta, len(b.rows), b.selectable)
	}
}

// click selects a row or a tab. There is nothing to click that approves.
func (m *review) click(msg tea.MouseClickMsg) {
	if m.screen != screenReview || m.page != nil || m.size.mode == modeNone || msg.Button != tea.MouseLeft {
		return
	}
	if msg.Y == m.size.header-1 && m.size.mode != modeTiny {
		_, at := m.tabBar()
		for t, x := range at {
			if msg.X >= x[0] && msg.X < x[1] {
				m.openTab(tab(t))
			}
		}
		return
	}
	b := m.browser()
	top := m.size.bodyTop + m.size.body - m.paneHeight()
	i := b.list.Top + msg.Y - top
	inList := m.split() && msg.X < m.size.left || !m.split() && b.pane == paneList
	if msg.Y >= top && !inList && m.detailVisible() {
		b.click(msg.Y-top, m)
		return
	}
	if msg.Y >= top && msg.Y < top+m.paneHeight() && inList && i < len(b.rows) && b.selectable(i) {
		b.list.Cursor, b.pane, b.kind = i, paneList, docFacts
	}
}

// click gives the focus to the detail, and in a sheet puts the cursor on the
// row below its top.
func (b *browser) click(y int, m *review) {
	if y >= m.paneHeight() {
		return
	}
	b.pane = paneDetail
	if s := b.sheet; s != nil && y >= sheetHead(m.tiny()) && s.top+y-sheetHead(m.tiny()) < len(s.rows) {
		s.cursor = s.top + y - sheetHead(m.tiny())
	}
}
