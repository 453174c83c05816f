package tui

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// comparing is a comparison that is made beside the frames. Leaving its sheet
// stops it before its next step.
type comparing struct {
	ctx   context.Context // nil where nobody waits
	stop  context.CancelFunc
	sheet *sheet
	steps atomic.Int32 // that are done
	done  chan struct{}
}

// compareSteps are those of every comparison: two texts, the fields of each, the
// changed fields, the lines and their pairs.
const compareSteps = 7

// step counts one that is done.
func (w *comparing) step() {
	if w != nil {
		w.steps.Add(1)
	}
}

// left reports whether nobody waits for the comparison any more.
func (w *comparing) left() bool { return w != nil && w.ctx.Err() != nil }

// percent is how far it is.
func (w *comparing) percent() int { return int(w.steps.Load()) * 100 / compareSteps }

// beside does two things at once.
func beside(one, other func()) {
	var group sync.WaitGroup
	group.Go(one)
	other()
	group.Wait()
}

// smallValues are compared within Update; that takes less than a frame.
const smallValues = 500

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

// weigh counts the values of an object and the lines of its texts, up to a
// limit.
func weigh(v any, limit int) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, below := range v {
			if n > limit {
				break
			}
			n += weigh(below, limit-n)
		}
	case []any:
		for _, below := range v {
			if n > limit {
				break
			}
			n += weigh(below, limit-n)
		}
	case string:
		n += len(v) / 32
	}
	return n
}

func isSmall(body map[string]any) bool { return weigh(body, smallValues) <= smallValues }

// bodies are an object as it is and as it would be, without what always differs.
func bodies(o *preview.Object) (from, to map[string]any) {
	beside(func() { from = preview.WithoutVolatile(o.LiveBody) }, func() { to = preview.WithoutVolatile(afterBody(o)) })
	return from, to
}
