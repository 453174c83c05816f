package review

import (
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// obstacle is why no approval could cover a plan, nil when one could.
type obstacle struct {
	plan *preview.Plan // that it was looked for in
	why  error
}

type obstacleMsg obstacle

// lookObstacle returns the command that asks the gate about a plan, once per
// plan: it walks all of the plan, which the first frame does not wait for.
func (m *review) lookObstacle() tea.Cmd {
	if m.plan == nil || m.obstacle.plan == m.plan {
		return nil
	}
	m.obstacle = obstacle{plan: m.plan}
	if m.opts.ReadOnly {
		return nil
	}
	p, ask := m.plan, m.gate()
	return func() tea.Msg { return obstacleMsg{p, ask()} }
}

func (m *review) foundObstacle(msg obstacleMsg) {
	if msg.plan == m.plan {
		m.obstacle = obstacle(msg)
	}
}

// refused asks the gate now: nobody gets to the question who could not be
// answered, however late the command's answer is.
func (m *review) refused() error {
	if m.opts.ReadOnly {
		return nil
	}
	m.obstacle = obstacle{m.plan, m.gate()()}
	return m.obstacle.why
}

// gate returns the question whether an approval that accepts everything would
// cover the plan. It changes nothing of the review.
func (m *review) gate() func() error {
	p, gate, b := m.plan, m.opts.Gate, m.board
	return func() error {
		return gate(p, record.Approval{
			Digest: p.Digest, How: record.ApprovedOnScreen, By: p.Target.User, Ruleset: p.Ruleset, Accepted: b.accepted(),
		})
	}
}
