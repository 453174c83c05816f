package frame

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// maxProgress steps are kept.
const maxProgress = 200

// ProgressLog holds the steps that running work has reported, and when each
// began.
type ProgressLog struct {
	Steps      []step
	began, now time.Time     // of the work; when the screen was updated last
	every      time.Duration // how long a silent step waits for its next sign of life
	ch         chan string
	Done       chan struct{}
}

// ProgressMsg brings a line of the work of a round.
type ProgressMsg struct {
	Line  string
	Round int
}

// step is one thing that was done, or is being done.
type step struct {
	Text  string
	began time.Time
}

// NewProgressLog begins now. Where nothing moves by itself a silent step still
// says now and then that it goes on.
func NewProgressLog(now time.Time, still bool) ProgressLog {
	p := ProgressLog{began: now, now: now, every: time.Second, ch: make(chan string), Done: make(chan struct{})}
	if still {
		p.every = HeartbeatInterval
	}
	return p
}

// Send hands one line to the screen. It blocks until the screen took it, the
// work is over or ctx ended.
func (p *ProgressLog) Send(ctx context.Context, line string) {
	select {
	case p.ch <- line:
	case <-p.Done:
	case <-ctx.Done():
	}
}

// Wait is a command that says the next line, or an empty one when none came for
// a while: time has passed.
func (p *ProgressLog) Wait(say func(line string) tea.Msg) tea.Cmd {
	ch, done, every := p.ch, p.Done, p.every
	return func() tea.Msg {
		silent := time.NewTimer(every)
		defer silent.Stop()
		select {
		case line := <-ch:
			return say(line)
		case <-silent.C:
			return say("")
		case <-done:
			return nil
		}
	}
}

// Add shows a line, which came now; an empty one only says what time it is. One
// that counts on replaces the one before: both say the same up to the last ": ".
func (p *ProgressLog) Add(line string, now time.Time) {
	p.now = now
	n := len(p.Steps)
	switch {
	case line == "":
		return
	case n > 0 && isSameStep(p.Steps[n-1].Text, line):
		p.Steps[n-1].Text = line
		return
	}
	p.Steps = append(p.Steps, step{line, now})
	if len(p.Steps) > maxProgress {
		p.Steps = p.Steps[len(p.Steps)-maxProgress:]
	}
}

// Last is the step under way.
func (p *ProgressLog) Last() string {
	if len(p.Steps) == 0 {
		return ""
	}
	return p.Steps[len(p.Steps)-1].Text
}

// Elapsed returns how long the work takes already, empty for the first moments.
func (p *ProgressLog) Elapsed() string {
	if d := p.now.Sub(p.began); d >= time.Second {
		return "  " + RoundDuration(d)
	}
	return ""
}

func isSameStep(before, line string) bool {
	what := strings.LastIndex(line, ": ")
	return what >= 0 && strings.LastIndex(before, ": ") == what && before[:what] == line[:what]
}

// Body draws what is being done: the last steps and how long each took, the
// newest under way.
func (p *ProgressLog) Body(t theme.Theme, size Layout, what string) []string {
	steps, end := p.Steps, p.now
	if room := size.Body - 3; len(steps) > room {
		steps = steps[len(steps)-room:]
	}
	elapsed := Plain("  elapsed " + RoundDuration(p.now.Sub(p.began)) + " ")
	if size.Mode == ModeTiny {
		elapsed = Plain(" " + RoundDuration(p.now.Sub(p.began)) + " ")
	}
	lines := make([]widget.Line, len(steps))
	for i := len(steps) - 1; i >= 0; i-- {
		sign, took := widget.Cell(theme.Good, "ok", 4), end.Sub(steps[i].began)
		if i == len(steps)-1 {
			sign = widget.Cell(theme.Strong, "*", 4)
		}
		lines[i] = steps[i].line(sign, took, size)
		end = steps[i].began
	}
	head := []widget.Line{widget.Blank(), widget.Spread(Plain(what), elapsed, size.Width), widget.Blank()}
	pager := widget.Pager{Lines: append(head, lines...)}
	return pager.Paint(t, size.Width, size.Body, -1)
}

// line is a step. What it counts and how long it takes stay where its text has
// to be cut.
func (s step) line(sign widget.Span, took time.Duration, size Layout) widget.Line {
	what, count := s.Text, ""
	if at := strings.LastIndex(what, ": "); at >= 0 && at+2 < len(what) && what[at+2] >= '0' && what[at+2] <= '9' {
		what, count = what[:at], "  "+what[at+2:]
	}
	margin := "   "
	if size.Mode == ModeTiny {
		margin = " "
	}
	right := Plain(count)
	if took >= time.Second {
		right = Plain(count + "  " + RoundDuration(took))
	}
	return widget.Spread(widget.Line{widget.Text(theme.Plain, margin), sign, widget.Text(theme.Plain, what)}, append(right, Plain(" ")...), size.Width)
}
