package review

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/tui/frame"

	tea "charm.land/bubbletea/v2"
)

// Drift is one live object that is not what the plan under review was made on.
type Drift struct {
	ID   string // object id
	What string // in a few words; empty when it is as it was again
}

// maxDrifts are taken into one frame.
const maxDrifts = 256

// watch is the live re-check of one plan: it ends when another plan is shown.
type watch struct {
	round int // answers about an earlier plan are dropped
	stop  context.CancelFunc
	moved map[string]string // what drifted, by object id
	err   error             // why nobody looks any more
}

// The messages of a watch.
type (
	driftMsg struct {
		round  int
		drifts []Drift
		more   tea.Cmd // waits for the next ones
	}
	unwatchedMsg struct {
		round int
		err   error
	}
)

// startWatch follows the live objects of the plan that is shown now.
func (m *review) startWatch() tea.Cmd {
	if m.watch.stop != nil {
		m.watch.stop()
	}
	m.watch = watch{round: m.watch.round + 1, moved: map[string]string{}}
	if m.opts.Watch == nil {
		return nil
	}
	ctx, stop := context.WithCancel(m.ctx)
	m.watch.stop = stop
	plan, round, follow, drifts := m.plan, m.watch.round, m.opts.Watch, make(chan Drift)
	run := func() tea.Msg {
		err := follow(ctx, plan, func(d Drift) {
			select {
			case drifts <- d:
			case <-ctx.Done():
			}
		})
		if ctx.Err() != nil {
			return nil
		}
		return unwatchedMsg{round, err}
	}
	return tea.Batch(run, waitDrifts(ctx, round, drifts))
}

// waitDrifts is a command that returns what drifted since the last message.
func waitDrifts(ctx context.Context, round int, drifts <-chan Drift) tea.Cmd {
	return func() tea.Msg {
		msg := driftMsg{round: round, more: waitDrifts(ctx, round, drifts)}
		select {
		case d := <-drifts:
			msg.drifts = append(msg.drifts, d)
		case <-ctx.Done():
			return nil
		}
		for len(msg.drifts) < maxDrifts {
			select {
			case d := <-drifts:
				msg.drifts = append(msg.drifts, d)
			default:
				return msg
			}
		}
		return msg
	}
}

// drifted notes what moved. A plan that became stale is not asked about: the
// question closes.
func (m *review) drifted(msg driftMsg) tea.Cmd {
	if msg.round != m.watch.round {
		return nil
	}
	for _, d := range msg.drifts {
		if d.What == "" {
			delete(m.watch.moved, d.ID)
			continue
		}
		m.watch.moved[d.ID] = d.What
	}
	if m.screen == screenConfirm && m.stale() {
		m.screen = screenReview
		m.banner, m.failed = "the question was closed: "+m.staleText(), nil
	}
	return msg.more
}

func (m *review) unwatched(msg unwatchedMsg) {
	if msg.round == m.watch.round {
		m.watch.err = msg.err
		if m.watch.err == nil {
			m.watch.err = fmt.Errorf("the watch ended")
		}
	}
}

// stale reports whether the cluster is known not to be what the plan under
// review was made on.
func (m *view) stale() bool { return len(m.watch.moved) > 0 }

// staleText says in one line what moved, and what to do.
func (m *view) staleText() string {
	if !m.stale() {
		return ""
	}
	id := slices.Sorted(maps.Keys(m.watch.moved))[0]
	text := frame.ShortKind(frame.ObjectName(id)) + " " + m.watch.moved[id]
	if n := len(m.watch.moved) - 1; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	if m.opts.Resolve == nil {
		return "stale: " + text
	}
	return "stale (R): " + text
}

// bannerText is the line above the body, empty when there is none. Where the
// header has no room for it, it says that the plan is stale.
func (m *view) bannerText() string {
	if m.banner == "" && m.size.Mode == frame.ModeSingle {
		return m.staleText()
	}
	return m.banner
}
