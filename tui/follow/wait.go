package follow

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// nearEnd is how long before a deadline the screen offers to put it off.
const nearEnd = time.Minute

// hear is a command that returns what the apply waits for next: the last of
// what was told meanwhile.
func (m *apply) hear() tea.Cmd {
	waits := m.opts.Waits
	if waits == nil {
		return nil
	}
	return func() tea.Msg {
		last, ok := <-waits
		for ok {
			select {
			case w, more := <-waits:
				if !more {
					return waitsMsg(last)
				}
				last = w
			default:
				return waitsMsg(last)
			}
		}
		return nil
	}
}

// heard takes it. Where nothing moves by itself, one timer wakes the screen for
// the deadline.
func (m *follow) heard(w install.Waiting) tea.Cmd {
	moved := !w.Deadline.Equal(m.waiting.Deadline)
	m.waiting = w
	if !moved || w.Deadline.IsZero() || !m.opts.NoMotion {
		return m.hear()
	}
	near := tea.Tick(w.Deadline.Add(-nearEnd).Sub(m.opts.Now()), func(time.Time) tea.Msg { return nearMsg{} })
	return tea.Batch(m.hear(), near)
}

// lost reports whether the cluster does not answer: what is shown is old.
func (m *apply) lost() bool { return !m.over() && !m.waiting.LostSince.IsZero() }

// near reports whether a wait is about to end that can be put off.
func (m *apply) near() bool {
	return m.canPutOff() && m.waiting.Deadline.Sub(m.opts.Now()) <= nearEnd
}

func (m *apply) canPutOff() bool {
	return !m.over() && m.interrupt == NoInterrupt && m.opts.Longer != nil && !m.waiting.Deadline.IsZero()
}

// timedOut reports whether the apply ended because its time was over.
func (m *apply) timedOut() bool {
	return m.result != nil && exitCode(m.result) == int(install.Interrupted) && m.waiting.TimedOut && m.interrupt == NoInterrupt
}

// canGoOn reports whether more time can be given after the end. What was undone
// is not gone on with.
func (m *apply) canGoOn() bool {
	return m.timedOut() && m.opts.Resumable && (m.result.Receipt == nil || m.result.Receipt.Undo == nil)
}

// canReview reports whether a plan of which nothing was applied can be reviewed
// again. Who asked to stop is not asked once more.
func (m *apply) canReview() bool {
	return m.opts.Reviewable && m.result != nil && m.interrupt == NoInterrupt && m.state() == notAppliedText
}

// more is how much time r gives.
func (m *apply) more() time.Duration {
	if m.opts.Limit > 0 {
		return m.opts.Limit
	}
	return install.DefaultRolloutTimeout
}

// longer is r while applying.
func (m *follow) longer() tea.Cmd {
	if !m.canPutOff() {
		m.notice = "nothing is waited for that has an end"
		return nil
	}
	m.notice = "it waits " + frame.RoundDuration(m.more()) + " longer"
	put, d := m.opts.Longer, m.more()
	return func() tea.Msg {
		put(d)
		return nil
	}
}

// statusLine is what lasts for a while: no connection, or little time. nil when
// there is neither.
func (m *apply) statusLine() widget.Line {
	w := m.waiting
	tiny := m.size.Mode == frame.ModeTiny
	switch {
	case m.lost() && tiny:
		return widget.Line{widget.Text(theme.Caution, fmt.Sprintf(" ! no answer, as of %s (try %d)", m.clockTime(w.LostSince), w.Tries))}
	case m.lost():
		return widget.Line{widget.Text(theme.Caution, fmt.Sprintf(" ! cannot reach the cluster since %s, retrying (%d)", m.clockTime(w.LostSince), w.Tries))}
	case m.near() && tiny:
		return widget.Line{widget.Text(theme.Caution, " ! gives up at "+m.clockTime(w.Deadline)+", r: longer")}
	case m.near():
		return widget.Line{widget.Text(theme.Caution, fmt.Sprintf(" ! it gives up at %s: r waits %s longer", m.clockTime(w.Deadline), frame.RoundDuration(m.more())))}
	case m.canGoOn():
		return frame.Plain(" r waits " + frame.RoundDuration(m.more()) + " more; the cluster keeps trying meanwhile")
	}
	return nil
}

// limit is the time of the whole apply at which it gives up, as far as that is
// known.
func (m *apply) limit() time.Duration {
	if !m.waiting.Deadline.IsZero() && !m.over() {
		return m.waiting.Deadline.Sub(m.started)
	}
	return m.opts.Limit
}

// clockTime is a time of the cluster or of this machine as the person's clock
// shows it.
func (m *apply) clockTime(t time.Time) string {
	return t.In(m.opts.Now().Location()).Format(time.TimeOnly)
}
