package review

import (
	"context"
	"fmt"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/preview/words"
	"github.com/kubectl-operator/kubectl-operator/tui/diffview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
)

// startCompare begins the comparison that the open view needs. That of a small
// object is made at once, any other by the returned command. Only one is made
// at a time: that of a view which the user has left is stopped.
func (m *review) startCompare() tea.Cmd {
	s := m.activeTab().sheet
	if m.comparing.job != nil && m.comparing.job.Sheet != s {
		m.comparing.job.Stop()
	}
	if m.screen != screenReview || s == nil || s.Comparison != nil || m.comparing.job != nil || !m.detailVisible() {
		return nil
	}
	o, evidence, kind := s.Compared(), m.evidenceOf(m.activeTab()), s.Kind
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
	m.comparing.job, s.Made = w, w
	return tea.Batch(func() tea.Msg {
		defer close(w.Done)
		return comparedMsg{w, work(w)}
	}, m.comparing.wait(w))
}

// comparison is the one comparison that is made in the background at a time.
type comparison struct {
	job   *diffview.Job // nil while none is made
	still bool          // no motion: its progress is not drawn
}

// wait returns a command that has the progress of a comparison drawn again; nil if it
// is not the one being made, and without motion.
func (c *comparison) wait(w *diffview.Job) tea.Cmd {
	if c.still || w != c.job {
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

// finish puts a finished comparison into its view. It is nil if the user has left the
// view before.
func (c *comparison) finish(msg comparedMsg) {
	if msg.of == c.job {
		c.job = nil
	}
	msg.of.Stop()
	msg.of.Sheet.Made = nil
	if msg.comparison != nil && msg.of.Sheet.Comparison == nil {
		msg.of.Sheet.Fill(msg.comparison)
	}
}

// evidenceOf returns what the selected finding saw in its object, empty if none is selected.
func (m *tabPanel) evidenceOf(b *masterDetail) string {
	if m.tab != tabs.Findings {
		return ""
	}
	if at := m.Checklist.Find(b.selected().ID); at >= 0 {
		var seen []string
		for _, piece := range m.Checklist.Items[at].First().Pieces {
			if piece.Item != nil {
				seen = append(seen, piece.Item.Name, piece.Item.Part)
			}
			seen = append(seen, words.PieceOf(piece))
		}
		return strings.Join(seen, " ")
	}
	return ""
}

// sheetForm returns the form in which the open view shows its comparison.
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

// sheetKey handles the keys of an open diff; false for any other key.
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

// fold handles enter and space on an open diff: it folds or unfolds lines.
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

// gotoNext goes to the next hit of a search or, without a search, to the next change.
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

// sheetKeys returns the keys of an open YAML or diff, for the footer.
func sheetKeys(k frame.KeyMap, s *diffview.View) []key.Binding {
	if s.Kind == diffview.YAML {
		return []key.Binding{k.Back, frame.WithHelp(k.Down, "move"), frame.WithHelp(k.Right, "sideways"), k.Search, k.Diff, k.Copy, k.Help, k.Pager}
	}
	return []key.Binding{k.Back, frame.WithHelp(k.NextHit, "next"), frame.WithHelp(k.Fold, "fold"), k.Beside, frame.WithHelp(k.Paths, "fields"), k.Search, k.Help, k.Pager}
}

// detailLeft returns the column in which the detail begins.
func (m *tabPanel) detailLeft() int {
	if m.split() {
		return m.Size.Left + 1
	}
	return 0
}
