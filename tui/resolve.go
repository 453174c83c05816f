package tui

import (
	"context"
	"errors"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// maxProgress lines are kept.
const maxProgress = 200

// progressLog is what a running resolve says.
type progressLog struct {
	lines []string
	ch    chan string
	done  chan struct{}
}

func newProgressLog() progressLog {
	return progressLog{ch: make(chan string), done: make(chan struct{})}
}

// send hands one line to the screen. It blocks until the screen took it, the
// resolve is over or ctx ended.
func (p *progressLog) send(ctx context.Context, line string) {
	select {
	case p.ch <- line:
	case <-p.done:
	case <-ctx.Done():
	}
}

// wait is a command that returns the next line.
func (p *progressLog) wait(round int) tea.Cmd {
	ch, done := p.ch, p.done
	return func() tea.Msg {
		select {
		case line := <-ch:
			return progressMsg{line, round}
		case <-done:
			return nil
		}
	}
}

// add shows a line. One that counts on replaces the one before: both say the
// same up to the last ": ".
func (p *progressLog) add(line string) {
	if n := len(p.lines); n > 0 && countsOn(p.lines[n-1], line) {
		p.lines[n-1] = line
		return
	}
	p.lines = append(p.lines, line)
	if len(p.lines) > maxProgress {
		p.lines = p.lines[len(p.lines)-maxProgress:]
	}
}

func countsOn(before, line string) bool {
	what := strings.LastIndex(line, ": ")
	return what >= 0 && strings.LastIndex(before, ": ") == what && before[:what] == line[:what]
}

// startResolve makes the plan.
func (m *review) startResolve() tea.Cmd {
	ctx, stop := context.WithCancel(m.ctx)
	m.resolving = resolving{round: m.resolving.round + 1, stop: stop, log: newProgressLog()}
	resolve, log, round := m.opts.Resolve, m.resolving.log, m.resolving.round
	return tea.Batch(func() tea.Msg {
		defer close(log.done)
		p, err := resolve(ctx, func(line string) { log.send(ctx, line) })
		return resolvedMsg{p, err, round}
	}, log.wait(round))
}

// progressed shows a line of the resolve under way.
func (m *review) progressed(msg progressMsg) tea.Cmd {
	if msg.round != m.resolving.round {
		return nil
	}
	m.resolving.log.add(msg.line)
	return m.resolving.log.wait(msg.round)
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

// resolveBody shows the last lines of progress.
func (m *review) resolveBody() []string {
	what := " Resolving. Nothing has been changed."
	if m.plan != nil {
		what = " Planning again. Nothing has been changed."
	}
	return progressBody(m.theme, m.size, what, m.resolving.log.lines)
}

// progressBody draws what is being done: the last lines, the newest under way.
func progressBody(t theme.Theme, size layout, what string, lines []string) []string {
	if room := size.body - 3; len(lines) > room {
		lines = lines[len(lines)-room:]
	}
	body := []widget.Line{widget.Blank(), plain(what), widget.Blank()}
	for i, line := range lines {
		sign := widget.Cell(theme.Good, "ok", 4)
		if i == len(lines)-1 {
			sign = widget.Cell(theme.Strong, "*", 4)
		}
		body = append(body, widget.Line{widget.Text(theme.Plain, "   "), sign, widget.Text(theme.Plain, line)})
	}
	p := widget.Pager{Lines: body}
	return p.Paint(t, size.width, size.body, -1)
}

func (m *review) resolveKeys() []key.Binding {
	quit := as(m.keys.Stop, "quit, nothing applied")
	if m.plan == nil {
		return []key.Binding{quit}
	}
	return []key.Binding{as(m.keys.Back, "back to the plan under review"), quit}
}
