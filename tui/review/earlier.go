package review

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Accepted is who accepted what an earlier revision brought, when, and which
// version that was. What is not on record any more is empty.
type Accepted struct {
	By      string
	At      time.Time
	Version string
}

// earlier is the acceptances of earlier revisions, by revision.
type earlier struct {
	plan *preview.Plan // that it was looked for in
	of   map[int]Accepted
}

type earlierMsg earlier

// lookEarlier returns the command that asks who accepted the findings that a
// plan has from an earlier revision, once per plan and when there are any.
func (m *deck) lookEarlier() tea.Cmd {
	p, ask := m.plan, m.opts.Earlier
	if p == nil || m.earlier.plan == p {
		return nil
	}
	m.earlier = earlier{plan: p}
	revisions := map[int]bool{}
	for _, f := range p.Findings {
		if f.AcceptedIn > 0 {
			revisions[f.AcceptedIn] = true
		}
	}
	if ask == nil || len(revisions) == 0 {
		return nil
	}
	ctx := m.ctx
	return func() tea.Msg {
		found := earlierMsg{plan: p, of: map[int]Accepted{}}
		for revision := range revisions {
			if a, ok := ask(ctx, p.Release, revision); ok {
				found.of[revision] = a
			}
		}
		return found
	}
}

func (m *deck) foundEarlier(msg earlierMsg) {
	if msg.plan != m.plan {
		return
	}
	m.earlier = earlier(msg)
	m.refreshTab(tabSummary)
	m.refreshTab(tabFindings)
}
