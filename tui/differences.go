package tui

import (
	"context"
	"fmt"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// startCompare makes the comparison that the screen waits for: at once where
// the object is small, else as a command. One runs at a time; that of a sheet
// that was left gives way.
func (m *review) startCompare() tea.Cmd {
	s := m.browser().sheet
	if m.comparing != nil && m.comparing.sheet != s {
		m.comparing.stop()
	}
	if m.screen != screenReview || s == nil || s.c != nil || m.comparing != nil || !m.detailVisible() {
		return nil
	}
	o, evidence, kind := s.object, m.evidenceOf(m.browser()), s.kind
	body := afterBody(o)
	if kind == docYAML {
		body, _ = sentBody(m.plan, o)
	}
	work := func(w *comparing) *comparison {
		if kind == docYAML {
			return exact(o, body, w)
		}
		return newComparison(o, evidence, w)
	}
	if isSmall(o.LiveBody) && isSmall(body) {
		s.fill(work(nil))
		m.settle()
		return nil
	}
	w := &comparing{sheet: s, done: make(chan struct{})}
	w.ctx, w.stop = context.WithCancel(m.ctx)
	m.comparing, s.made = w, w
	return tea.Batch(func() tea.Msg {
		defer close(w.done)
		return comparedMsg{w, work(w)}
	}, m.awaitCompare(w))
}

// awaitCompare draws how far a comparison is, where anything moves.
func (m *review) awaitCompare(w *comparing) tea.Cmd {
	if m.opts.NoMotion {
		return nil
	}
	return func() tea.Msg {
		pause := time.NewTimer(100 * time.Millisecond)
		defer pause.Stop()
		select {
		case <-pause.C:
			return stillComparingMsg{w}
		case <-w.done:
			return nil
		}
	}
}

// stillComparing waits on.
func (m *review) stillComparing(msg stillComparingMsg) tea.Cmd {
	if msg.of != m.comparing {
		return nil
	}
	return m.awaitCompare(msg.of)
}

// compared puts in a comparison that was made. Where its sheet was left, it was
// not finished.
func (m *review) compared(msg comparedMsg) {
	if msg.of == m.comparing {
		m.comparing = nil
	}
	msg.of.stop()
	msg.of.sheet.made = nil
	if msg.comparison != nil && msg.of.sheet.c == nil {
		msg.of.sheet.fill(msg.comparison)
	}
}

// evidenceOf is what the selected finding rests on, if one is selected.
func (m *review) evidenceOf(b *browser) string {
	if m.tab != tabFindings {
		return ""
	}
	if at := m.board.find(b.selected().id); at >= 0 {
		return m.board.items[at].first().Evidence
	}
	return ""
}

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
