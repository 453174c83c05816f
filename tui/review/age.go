package review

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
)

// agedMsg is that the header says another age of a plan now.
type agedMsg struct{ of *preview.Plan }

// ageTimer goes off when the header says another age of the plan under review.
type ageTimer struct{ *tabPanel }

// begin returns a command that ends when the age is another one, so that it is drawn
// again; nil if the header says none.
func (t ageTimer) begin() tea.Cmd {
	if t.opts.tick == nil || t.sealed.IsZero() {
		return nil
	}
	of := t.Plan
	return t.opts.tick(frame.AgeLasts(t.opts.Now().Sub(t.sealed)), func(time.Time) tea.Msg { return agedMsg{of} })
}

// next goes on waiting, unless another plan is under review, which has a timer of its
// own.
func (t ageTimer) next(msg agedMsg) tea.Cmd {
	if msg.of != t.Plan {
		return nil
	}
	return t.begin()
}
