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

// ProgressLog holds the steps that work in the background has reported, and
// when each began.
type ProgressLog struct {
	Steps      []step
	began, now time.Time     // of the work; when the screen was updated last
	every      time.Duration // how long a silent step waits for its next sign of life
	ch         chan string
	Done       chan struct{}
}

// ProgressMsg is the message with a line of progress. Round numbers the piece
// of work, so that lines of an earlier one are ignored.
type ProgressMsg struct {
	Line  string
	Round int
}

// step is a line of progress: one step of the work, done or under way.
type step struct {
	Text  string
	began time.Time
}

// NewProgressLog returns the log of work that begins now. During a step that reports
// nothing, the screen is updated every second; with still (no motion) every 10 s.
func NewProgressLog(now time.Time, still bool) ProgressLog {
	p := ProgressLog{began: now, now: now, every: time.Second, ch: make(chan string), Done: make(chan struct{})}
	if still {
		p.every = HeartbeatInterval
	}
	return p
}

// Send passes a line to the screen. It blocks until the screen has taken it,
// the work is done, or ctx ends.
func (p *ProgressLog) Send(ctx context.Context, line string) {
	select {
	case p.ch <- line:
	case <-p.Done:
	case <-ctx.Done():
	}
}

// Wait returns a command that waits for the next line and returns the message say
// makes of it. Without a line for a while, the line is empty, to update the time.
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

// Add adds a line that was reported now; an empty one only updates the time. A line
// that equals the last one up to its last ": " replaces it, as in "objects: 3".
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

// Last returns the step that is under way.
func (p *ProgressLog) Last() string {
	if len(p.Steps) == 0 {
		return ""
	}
	return p.Steps[len(p.Steps)-1].Text
}

// Elapsed returns how long the work has taken so far, empty in the first second.
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

// Body returns the lines of the last steps and how long each took; the newest
// is under way.
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

// line returns a step as a row. If its text has to be cut, its count (after the
// last ": ") and its time stay.
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
