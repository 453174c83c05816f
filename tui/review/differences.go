package review

import (
	"context"
	"fmt"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/tui/diffview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
)

// startCompare makes the comparison that the screen waits for: at once where
// the object is small, else as a command. One runs at a time; that of a sheet
// that was left gives way.
func (m *review) startCompare() tea.Cmd {
	s := m.activeTab().sheet
	if m.comparing != nil && m.comparing.Sheet != s {
		m.comparing.Stop()
	}
	if m.screen != screenReview || s == nil || s.Comparison != nil || m.comparing != nil || !m.detailVisible() {
		return nil
	}
	o, evidence, kind := s.Object, m.evidenceOf(m.activeTab()), s.Kind
	body := diffview.AfterBody(o)
	if kind == diffview.YAML {
		body, _ = diffview.SentBody(m.Plan, o)
	}
	work := func(w *diffview.Job) *diffview.Comparison {
		if kind == diffview.YAML {
			return diffview.Exact(o, body, evidence, w)
		}
		return diffview.Compare(o, evidence, w)
	}
	if diffview.IsSmall(o.LiveBody) && diffview.IsSmall(body) {
		s.Fill(work(nil))
		m.settle()
		return nil
	}
	w := &diffview.Job{Sheet: s, Done: make(chan struct{})}
	w.Context, w.Stop = context.WithCancel(m.ctx)
	m.comparing, s.Made = w, w
	return tea.Batch(func() tea.Msg {
		defer close(w.Done)
		return comparedMsg{w, work(w)}
	}, m.awaitCompare(w))
}

// awaitCompare draws how far a comparison is, where anything moves.
func (m *tabPanel) awaitCompare(w *diffview.Job) tea.Cmd {
	if m.opts.NoMotion {
		return nil
	}
	return func() tea.Msg {
		pause := time.NewTimer(100 * time.Millisecond)
		defer pause.Stop()
		select {
		case <-pause.C:
			return stillComparingMsg{w}
		case <-w.Done:
			return nil
		}
	}
}

// stillComparing waits on.
func (m *tabPanel) stillComparing(msg stillComparingMsg) tea.Cmd {
	if msg.of != m.comparing {
		return nil
	}
	return m.awaitCompare(msg.of)
}

// setComparison puts in a comparison that was made. Where its sheet was left, it was
// not finished.
func (m *tabPanel) setComparison(msg comparedMsg) {
	if msg.of == m.comparing {
		m.comparing = nil
	}
	msg.of.Stop()
	msg.of.Sheet.Made = nil
	if msg.comparison != nil && msg.of.Sheet.Comparison == nil {
		msg.of.Sheet.Fill(msg.comparison)
	}
}

// evidenceOf returns the evidence of the selected finding, empty when none is
// selected.
func (m *tabPanel) evidenceOf(b *masterDetail) string {
	if m.tab != tabs.Findings {
		return ""
	}
	if at := m.Checklist.Find(b.selected().ID); at >= 0 {
		return m.Checklist.Items[at].First().Evidence
	}
	return ""
}

// sheetForm returns the layout of diffs for this tab and window.
func (m *tabPanel) sheetForm(b *masterDetail) diffview.Form {
	switch {
	case b.sheet == nil || b.sheet.Kind == diffview.YAML:
		return diffview.FormExact
	case m.paths && (b.sheet.File == nil || len(b.sheet.Comparison.Changes) > 0):
		return diffview.FormPaths
	case m.beside && m.Size.Mode == frame.ModeDouble && b.pane == frame.PaneDetail:
		return diffview.FormBeside
	}
	return diffview.FormUnified
}

// sheetKey handles the keys of differences on screen. It reports whether the
// key was one of them.
func (m *tabPanel) sheetKey(msg tea.KeyPressMsg) bool {
	b, k := m.activeTab(), m.keys
	if b.sheet == nil || !m.detailVisible() || b.sheet.Kind != diffview.Diff {
		return false
	}
	switch {
	case key.Matches(msg, k.Beside):
		m.beside, m.paths, b.pane = !m.beside || m.paths, false, frame.PaneDetail
		if m.beside && m.Size.Mode != frame.ModeDouble {
			m.notice = fmt.Sprintf("side by side needs %d columns; there are %d", frame.DoubleWidth, m.Size.Width)
		}
	case key.Matches(msg, k.Paths):
		m.paths = !m.paths
	case b.pane == frame.PaneDetail && key.Matches(msg, k.Fold):
		m.fold(b)
	default:
		return false
	}
	return true
}

// fold is enter or space on a sheet.
func (m *tabPanel) fold(b *masterDetail) {
	if b.sheet.Form != diffview.FormPaths {
		if !b.sheet.Toggle() {
			m.notice = "nothing to expand here"
		}
		return
	}
	if b.sheet.Line() < 0 {
		m.notice = "this field has no line of its own"
		return
	}
	m.paths = false
}

// gotoNext goes to the next hit of a search, or else to the next change.
func (m *tabPanel) gotoNext(step int) tea.Cmd {
	b := m.activeTab()
	switch {
	case m.search.active():
		return m.nextHit(step)
	case b.sheet == nil || !m.detailVisible() || b.sheet.Kind != diffview.Diff:
		m.notice = "no search yet: / starts one"
	case !b.sheet.Next(step):
		m.notice = "no further change that way"
	}
	return nil
}

// sheetKeys are the keys of a sheet for its footer.
func (m *tabPanel) sheetKeys(s *diffview.View) []key.Binding {
	k := m.keys
	if s.Kind == diffview.YAML {
		return []key.Binding{k.Back, frame.WithHelp(k.Down, "move"), frame.WithHelp(k.Right, "sideways"), k.Search, k.Diff, k.Copy, k.Help, k.Pager}
	}
	return []key.Binding{k.Back, frame.WithHelp(k.NextHit, "next"), frame.WithHelp(k.Fold, "fold"), k.Beside, frame.WithHelp(k.Paths, "fields"), k.Search, k.Help, k.Pager}
}

// detailLeft is the column the detail begins at.
func (m *tabPanel) detailLeft() int {
	if m.split() {
		return m.Size.Left + 1
	}
	return 0
}
