package review

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
)

// replan makes the plan again, from its reference on. The plan under review
// stays until the new one is there; esc goes back to it.
func (m *review) replan() tea.Cmd {
	if m.opts.Resolve == nil {
		m.notice = "this plan was not made here: it cannot be planned again"
		return nil
	}
	m.screen, m.search, m.page = screenResolve, search{}, nil
	return m.startResolve()
}

// takeUp goes on with a review whose approval was refused, with the same marks.
func (m *review) takeUp(before *Outcome) tea.Cmd {
	m.board = &board{marks: before.marks} // show makes the whole of it
	return tea.Batch(m.show(before.Plan), m.replan())
}

// stopReplan goes back to the review of the plan that is there.
func (m *review) stopReplan() {
	m.resolving.stop()
	m.resolving.round++ // whatever comes of it is dropped
	m.screen, m.notice = screenReview, "not planned again"
}

// replanned takes the answer. Without a new plan the old one stays, as stale as
// it was.
func (m *review) replanned(p *preview.Plan, err error) tea.Cmd {
	if err != nil {
		m.screen, m.failed = screenReview, err
		m.banner = "planning again (e all of it): " + strings.Join(frame.ThreeLines(err.Error()), "; ")
		return nil
	}
	if refusal := m.opts.Refusal; refusal != nil {
		m.opts.Refusal = nil // is told once
		return m.refusedBefore(p, refusal)
	}
	return m.replace(p, "planned again: ")
}

// refusedBefore puts the new plan in the place of one that was approved and not
// applied, and says what differs, else why it was refused.
func (m *review) refusedBefore(p *preview.Plan, refusal error) tea.Cmd {
	cmd := m.replace(p, "nothing was applied (e why), planned again: ")
	if m.banner == "" {
		m.banner = "nothing was applied (e all of it): " + strings.Join(frame.ThreeLines(refusal.Error()), "; ")
		m.notice = ""
	}
	m.failed = refusal
	return cmd
}

// replace puts a plan in the place of the one under review, and says what
// differs and which marks do not hold for it.
func (m *review) replace(p *preview.Plan, why string) tea.Cmd {
	old, before := m.plan, m.board
	cmd := m.show(p)
	m.banner, m.failed = "", nil
	if p.Digest == old.Digest {
		m.notice = why + "nothing that was reviewed has changed"
		return cmd
	}
	m.tab = tabSummary
	m.banner = why + movedFacts(old, p)
	if reset, marked := m.board.resets(before); reset > 0 {
		m.banner += fmt.Sprintf("; %d of %d looks reset", reset, marked)
		if at := m.board.next(-1, 1); at >= 0 && m.board.items[at].severity() == preview.Critical {
			m.banner += ": " + m.board.items[at].first().Title
		}
	}
	return cmd
}

// resolving is the making of a plan: the first one, or one to replace another.
type resolving struct {
	round int // answers of an earlier one are dropped
	stop  context.CancelFunc
	log   frame.ProgressLog
}
