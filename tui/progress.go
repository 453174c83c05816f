package tui

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

// progressLog is what a running piece of work says, and since when.
type progressLog struct {
	steps      []step
	began, now time.Time     // of the work; when the screen was told last
	every      time.Duration // how long a silent step waits for its next sign of life
	ch         chan string
	done       chan struct{}
}

// progressMsg brings a line of the work of a round.
type progressMsg struct {
	line  string
	round int
}

// step is one thing that was done, or is being done.
type step struct {
	text  string
	began time.Time
}

// newProgressLog begins now. Where nothing moves by itself a silent step still
// says now and then that it goes on.
func newProgressLog(now time.Time, still bool) progressLog {
	p := progressLog{began: now, now: now, every: time.Second, ch: make(chan string), done: make(chan struct{})}
	if still {
		p.every = heartbeat
	}
	return p
}

// send hands one line to the screen. It blocks until the screen took it, the
// work is over or ctx ended.
func (p *progressLog) send(ctx context.Context, line string) {
	select {
	case p.ch <- line:
	case <-p.done:
	case <-ctx.Done():
	}
}

// wait is a command that says the next line, or an empty one when none came for
// a while: time has passed.
func (p *progressLog) wait(say func(line string) tea.Msg) tea.Cmd {
	ch, done, every := p.ch, p.done, p.every
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

// add shows a line, which came now; an empty one only says what time it is. One
// that counts on replaces the one before: both say the same up to the last ": ".
func (p *progressLog) add(line string, now time.Time) {
	p.now = now
	n := len(p.steps)
	switch {
	case line == "":
		return
	case n > 0 && countsOn(p.steps[n-1].text, line):
		p.steps[n-1].text = line
		return
	}
	p.steps = append(p.steps, step{line, now})
	if len(p.steps) > maxProgress {
		p.steps = p.steps[len(p.steps)-maxProgress:]
	}
}

// last is the step under way.
func (p *progressLog) last() string {
	if len(p.steps) == 0 {
		return ""
	}
	return p.steps[len(p.steps)-1].text
}

// waited is how long the work takes already, once that is worth saying.
func (p *progressLog) waited() string {
	if d := p.now.Sub(p.began); d >= time.Second {
		return "  " + round(d)
	}
	return ""
}

func countsOn(before, line string) bool {
	what := strings.LastIndex(line, ": ")
	return what >= 0 && strings.LastIndex(before, ": ") == what && before[:what] == line[:what]
}

// body draws what is being done: the last steps and how long each took, the
// newest under way.
func (p *progressLog) body(t theme.Theme, size layout, what string) []string {
	steps, end := p.steps, p.now
	if room := size.body - 3; len(steps) > room {
		steps = steps[len(steps)-room:]
	}
	elapsed := plain("  elapsed " + round(p.now.Sub(p.began)) + " ")
	if size.mode == modeTiny {
		elapsed = plain(" " + round(p.now.Sub(p.began)) + " ")
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
	head := []widget.Line{widget.Blank(), widget.Spread(plain(what), elapsed, size.width), widget.Blank()}
	pager := widget.Pager{Lines: append(head, lines...)}
	return pager.Paint(t, size.width, size.body, -1)
}

// line is a step. What it counts and how long it takes stay where its text has
// to be cut.
func (s step) line(sign widget.Span, took time.Duration, size layout) widget.Line {
	what, count := s.text, ""
	if at := strings.LastIndex(what, ": "); at >= 0 && at+2 < len(what) && what[at+2] >= '0' && what[at+2] <= '9' {
		what, count = what[:at], "  "+what[at+2:]
	}
	margin := "   "
	if size.mode == modeTiny {
		margin = " "
	}
	right := plain(count)
	if took >= time.Second {
		right = plain(count + "  " + round(took))
	}
	return widget.Spread(widget.Line{widget.Text(theme.Plain, margin), sign, widget.Text(theme.Plain, what)}, append(right, plain(" ")...), size.width)
}
