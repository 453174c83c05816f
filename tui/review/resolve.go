package review

import (
	"context"
	"errors"

	"charm.land/bubbles/v2/key"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"

	tea "charm.land/bubbletea/v2"
)

// startResolve makes the plan.
func (m *review) startResolve() tea.Cmd {
	ctx, stop := context.WithCancel(m.ctx)
	m.resolving = resolving{round: m.resolving.round + 1, stop: stop, log: frame.NewProgressLog(m.opts.Now(), m.opts.NoMotion)}
	resolve, log, round := m.opts.Resolve, m.resolving.log, m.resolving.round
	return tea.Batch(func() tea.Msg {
		defer close(log.Done)
		p, err := resolve(ctx, func(line string) { log.Send(ctx, line) })
		return resolvedMsg{p, err, round}
	}, m.hearResolve())
}

// hearResolve waits for the next line of the resolve under way.
func (m *review) hearResolve() tea.Cmd {
	round := m.resolving.round
	return m.resolving.log.Wait(func(line string) tea.Msg { return frame.ProgressMsg{Line: line, Round: round} })
}

// progressed shows a line of the resolve under way.
func (m *review) progressed(msg frame.ProgressMsg) tea.Cmd {
	if msg.Round != m.resolving.round {
		return nil
	}
	m.resolving.log.Add(msg.Line, m.opts.Now())
	return m.hearResolve()
}

// resolved opens REVIEW, or ends the program with the reason: it reads best
// on the normal screen.
func (m *review) resolved(msg resolvedMsg) tea.Cmd {
	if msg.round != m.resolving.round || m.screen != screenResolve {
		return nil
	}
	m.resolving.stop()
	err := msg.err
	if err == nil && msg.plan == nil {
		err = errors.New("no plan came back")
	}
	if m.plan != nil {
		return m.replanned(msg.plan, err)
	}
	if err != nil {
		m.outcome.Kind, m.outcome.Err = Failed, err
		return tea.Quit
	}
	return m.show(msg.plan)
}

// resolveBody shows the last steps.
func (m *review) resolveBody() []string {
	what := " Resolving. Nothing has been changed."
	if m.plan != nil {
		what = " Planning again. Nothing has been changed."
	}
	return m.resolving.log.Body(m.theme, m.size, what)
}

func (m *review) resolveKeys() []key.Binding {
	quit := frame.As(m.keys.Stop, "cancel, nothing applied")
	if m.plan == nil {
		return []key.Binding{quit}
	}
	return []key.Binding{frame.As(m.keys.Back, "back to the plan under review"), quit}
}
