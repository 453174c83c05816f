package tui

import (
	"context"
	"strings"

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
func (p *progressLog) wait() tea.Cmd {
	ch, done := p.ch, p.done
	return func() tea.Msg {
		select {
		case line := <-ch:
			return progressMsg(line)
		case <-done:
			return nil
		}
	}
}

// add shows a line. One that counts on replaces the one before: both say the
// same up to the last ": ".
func (p *progressLog) add(line string) tea.Cmd {
	if n := len(p.lines); n > 0 && countsOn(p.lines[n-1], line) {
		p.lines[n-1] = line
		return p.wait()
	}
	p.lines = append(p.lines, line)
	if len(p.lines) > maxProgress {
		p.lines = p.lines[len(p.lines)-maxProgress:]
	}
	return p.wait()
}

func countsOn(before, line string) bool {
	what := strings.LastIndex(line, ": ")
	return what >= 0 && strings.LastIndex(before, ": ") == what && before[:what] == line[:what]
}

// startResolve is the command that makes the plan.
func (m *review) startResolve() tea.Cmd {
	ctx, resolve, progress := m.ctx, m.opts.Resolve, m.progress
	return func() tea.Msg {
		defer close(progress.done)
		p, err := resolve(ctx, func(line string) { progress.send(ctx, line) })
		return resolvedMsg{p, err}
	}
}

// resolved opens REVIEW, or ends the program with the reason: it reads best
// on the normal screen.
func (m *review) resolved(msg resolvedMsg) tea.Cmd {
	if msg.err != nil || msg.plan == nil {
		m.outcome.Kind, m.outcome.Err = Failed, msg.err
		return tea.Quit
	}
	m.show(msg.plan)
	return nil
}

// resolveBody shows the last lines of progress.
func (m *review) resolveBody() []string {
	width, height := m.size.width, m.size.body
	lines := m.progress.lines
	if room := height - 3; len(lines) > room {
		lines = lines[len(lines)-room:]
	}
	body := []widget.Line{widget.Blank(), plain(" Resolving. Nothing has been changed."), widget.Blank()}
	for i, line := range lines {
		sign := widget.Cell(theme.Good, "ok", 4)
		if i == len(lines)-1 {
			sign = widget.Cell(theme.Strong, "*", 4)
		}
		body = append(body, widget.Line{widget.Text(theme.Plain, "   "), sign, widget.Text(theme.Plain, line)})
	}
	p := widget.Pager{Lines: body}
	return p.Paint(m.theme, width, height, -1)
}
