package tui

import (
	"fmt"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// sheetForm is how differences are set out here and now.
func (m *review) sheetForm(b *browser) sheetForm {
	switch {
	case b.sheet == nil || b.sheet.kind == docYAML:
		return formExact
	case m.paths && (b.sheet.file == nil || len(b.sheet.c.changes) > 0):
		return formPaths
	case m.beside && m.size.mode == modeDouble && b.pane == paneDetail:
		return formBeside
	}
	return formUnified
}

// sheetKey handles the keys of differences on screen. It reports whether the
// key was one of them.
func (m *review) sheetKey(msg tea.KeyPressMsg) bool {
	b, k := m.browser(), m.keys
	if b.sheet == nil || !m.detailVisible() || b.sheet.kind != docDiff {
		return false
	}
	switch {
	case key.Matches(msg, k.Beside):
		m.beside, m.paths, b.pane = !m.beside || m.paths, false, paneDetail
		if m.beside && m.size.mode != modeDouble {
			m.notice = fmt.Sprintf("side by side needs %d columns; there are %d", doubleWidth, m.size.width)
		}
	case key.Matches(msg, k.Paths):
		m.paths = !m.paths
	case b.pane == paneDetail && key.Matches(msg, k.Fold):
		m.fold(b)
	default:
		return false
	}
	return true
}

// fold is enter or space on a sheet.
func (m *review) fold(b *browser) {
	if b.sheet.form != formPaths {
		if !b.sheet.toggle() {
			m.notice = "nothing to unfold here"
		}
		return
	}
	if b.sheet.line() < 0 {
		m.notice = "this field has no line of its own"
		return
	}
	m.paths = false
}

// following goes to the next hit of a search, or else to the next change.
func (m *review) following(step int) tea.Cmd {
	b := m.browser()
	switch {
	case m.search.active():
		return m.nextHit(step)
	case b.sheet == nil || !m.detailVisible() || b.sheet.kind != docDiff:
		m.notice = "nothing searched for: / searches"
	case !b.sheet.next(step):
		m.notice = "no further change that way"
	}
	return nil
}

// sheetKeys are the keys of a sheet for its footer.
func (m *review) sheetKeys(s *sheet) []key.Binding {
	k := m.keys
	if s.kind == docYAML {
		return []key.Binding{k.Back, as(k.Down, "move"), as(k.Right, "sideways"), k.Search, k.Diff, k.Copy, k.Help}
	}
	return []key.Binding{k.Back, as(k.NextHit, "next"), as(k.Fold, "fold"), k.Beside, as(k.Paths, "fields"), k.Search, k.Help}
}

// detailLeft is the column the detail begins at.
func (m *review) detailLeft() int {
	if m.split() {
		return m.size.left + 1
	}
	return 0
}

// copyText is what y copies: the text under the cursor.
func (b *browser) copyText() string {
	if b.pane == paneDetail && b.sheet != nil {
		return b.sheet.copyText()
	}
	return b.selected().copy
}
