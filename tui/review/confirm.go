package review

import (
	"context"
	"fmt"
	"slices"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// quietTime is the time without a key press after which CONFIRM takes an answer:
// what was still in the keyboard buffer was not meant for it. After maxQuiet it
// takes what is typed without a pause.
const (
	quietTime = 400 * time.Millisecond
	maxQuiet  = 1500 * time.Millisecond
)

// confirmDialog asks whether to approve the plan, on the CONFIRM screen. It
// exists as long as that is open.
type confirmDialog struct {
	*tabPanel
	round   int // answers to an earlier opening are dropped
	stop    context.CancelFunc
	log     frame.ProgressLog // of the check
	checked bool
	at      time.Time
	err     error
	input   widget.Input
	wrong   bool
	lastKey time.Time
	listens bool // keys are for it
	dropped bool // a key came before that
	facts   widget.Pager
	made    factsKey // what the head was made for
	full    bool     // tab: every digest
}

// factsKey is what the text of CONFIRM depends on: if it changes, the text is
// made anew.
type factsKey struct {
	width, height int
	full, checked bool
}

// approve handles the key a: it shows the next finding that must be reviewed
// or, if all are, CONFIRM. A stale plan is made again first.
func (m *review) approve() tea.Cmd {
	switch left := m.Checklist.Remaining(); {
	case m.opts.ReadOnly:
		m.notice = "read only: nothing can be approved here"
	case m.Stale():
		return m.replan() // the answer would be to a question about another cluster
	case hasObstacles(m.Plan):
		m.page = obstaclePage(m.Size.Width, m.Plan)
	case left > 0:
		m.openFinding(m.Checklist.Next(-1, 1))
		m.notice = m.Checklist.RemainingText() + " left to review: n marks one and opens the next"
	case m.gate.now(m.tabPanel.View) != nil:
		m.page = textPage(m.Size.Width, "This plan cannot be approved", m.gate.why.Error())
	default:
		return m.openConfirm()
	}
	return nil
}

// openConfirm opens CONFIRM and begins to check the plan against the cluster again.
func (m *review) openConfirm() tea.Cmd {
	m.search.end()
	m.screen = screenConfirm
	ctx, stop := context.WithCancel(m.ctx)
	now := m.opts.Now()
	m.confirm = confirmDialog{tabPanel: m.tabPanel, round: m.confirm.round + 1, stop: stop, log: frame.NewProgressLog(now, m.opts.NoMotion), lastKey: now}
	return m.confirm.startRecheck(ctx)
}

func (m *confirmDialog) startRecheck(ctx context.Context) tea.Cmd {
	recheck, plan, round, log := m.opts.Recheck, m.Plan, m.round, m.log
	return tea.Batch(func() tea.Msg {
		defer close(log.Done)
		p, err := recheck(ctx, plan, func(line string) { log.Send(ctx, line) })
		return recheckedMsg{plan: p, err: err, round: round}
	}, m.awaitRecheck())
}

// awaitRecheck returns a command that waits for the next line of progress of the check.
func (m *confirmDialog) awaitRecheck() tea.Cmd {
	round := m.round
	return m.log.Wait(func(line string) tea.Msg { return checkingMsg{line, round} })
}

// showRecheckStep shows a line of progress of the check.
func (m *review) showRecheckStep(msg checkingMsg) tea.Cmd {
	if m.screen != screenConfirm || msg.round != m.confirm.round {
		return nil
	}
	m.confirm.log.Add(msg.line, m.opts.Now())
	return m.confirm.awaitRecheck()
}

// setRecheck handles the result of the check. If the plan has another digest
// now, the new plan is shown for review.
func (m *review) setRecheck(msg recheckedMsg) tea.Cmd {
	c := &m.confirm
	if m.screen != screenConfirm || msg.round != c.round {
		return nil
	}
	c.stop()
	switch {
	case msg.err != nil:
		c.err = msg.err
	case msg.plan == nil || msg.plan.Digest == "":
		c.err = fmt.Errorf("checking the cluster again: no plan came back")
	case msg.plan.Digest == m.Plan.Digest:
		// The prompt appears now: keys typed before were not for it.
		c.checked, c.at, c.listens, c.dropped, c.lastKey = true, m.opts.Now(), false, false, m.opts.Now()
	default:
		return m.replace(msg.plan, comparisonBasis(m.Plan)+" changed during the review: ")
	}
	return nil
}

// needsName reports whether the release's name must be typed rather than y: if the
// plan deletes, takes over or blocks objects, or has conflicts or findings that gate.
// It is always so without a screen, where keys that were typed ahead are not dropped.
func (m *confirmDialog) needsName() bool {
	s := m.Plan.Summary
	if m.Plain || s.Delete+s.Replace+s.Adopt+s.Blocked > 0 || len(m.Checklist.Gating()) > 0 {
		return true
	}
	for i := range m.Plan.Objects {
		if len(m.Plan.Objects[i].Conflicts) > 0 {
			return true
		}
	}
	return false
}

// answer returns the text that must be typed to approve this plan.
func (m *confirmDialog) answer() string {
	if m.needsName() {
		return m.Plan.Release.Name
	}
	return "y"
}

// confirmKey handles the keys of CONFIRM. Pasted text is not handled here, so
// that it never approves.
func (m *review) confirmKey(msg tea.KeyPressMsg) tea.Cmd {
	c, k := &m.confirm, m.keys
	answers := c.acceptsKeys()
	small := m.Size.Mode == frame.ModeTiny
	switch {
	case key.Matches(msg, k.Back):
		c.stop()
		m.screen = screenReview
	case small:
		return m.quitOn(msg)
	case key.Matches(msg, k.Digests):
		c.full = !c.full
		c.facts.Top = 0
	case key.Matches(msg, k.CopyDigest):
		return m.copy(m.Plan.Digest)
	case key.Matches(msg, k.Help): // no release name has a question mark
		m.openHelp()
	case c.err != nil:
		return m.retryKey(msg)
	case msg.Code == tea.KeyUp, msg.Code == tea.KeyPgUp:
		c.facts.Scroll(-1, m.confirm.headHeight())
	case msg.Code == tea.KeyDown, msg.Code == tea.KeyPgDown:
		c.facts.Scroll(1, m.confirm.headHeight())
	case !c.checked:
	case !answers:
		c.dropped = true
	case key.Matches(msg, k.Open):
		return m.submit()
	case msg.Code == tea.KeyBackspace:
		c.input.Backspace()
	default:
		c.input.Type(msg.Text)
		c.wrong = false
	}
	return nil
}

// acceptsKeys reports whether a key counts as a part of the answer. Keys count
// once none was pressed for a while, or once the question has been shown for
// long enough, so that keys typed ahead approve nothing.
func (m *confirmDialog) acceptsKeys() bool {
	c, now := m, m.opts.Now()
	if !c.listens && (now.Sub(c.lastKey) >= quietTime || c.checked && now.Sub(c.at) >= maxQuiet) {
		c.listens, c.dropped = true, false
	}
	c.lastKey = now
	return c.listens
}

func (m *review) retryKey(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case key.Matches(msg, m.keys.Retry):
		return m.openConfirm()
	case key.Matches(msg, m.keys.Events):
		m.page = errorPage(m.Size.Width, "Checking "+comparisonBasis(m.Plan)+" again", m.confirm.err)
	}
	return nil
}

// submit handles enter on CONFIRM. It is the only function that approves.
func (m *review) submit() tea.Cmd {
	c := &m.confirm
	switch c.input.Value {
	case "":
		return nil
	case m.confirm.answer():
		if !c.checked || c.err != nil || m.Stale() || m.Checklist.Remaining() > 0 || m.gate.now(m.tabPanel.View) != nil || m.opts.ReadOnly {
			return nil
		}
		m.outcome.Kind, m.outcome.PlanDigest, m.outcome.Accepted = Approved, m.Plan.Digest, m.Checklist.Accepted()
		m.outcome.marks = m.Checklist.Marks
		return tea.Quit
	case "n", "N", "no":
		if !m.confirm.needsName() {
			return m.quit()
		}
	}
	c.wrong = true
	c.input.Clear()
	return nil
}

// promptLines returns the number of lines of the question, the blank one before
// it included.
func (m *confirmDialog) promptLines() int {
	if m.Size.Mode == frame.ModeDouble {
		return 4
	}
	return 3
}

func (m *confirmDialog) headHeight() int { return m.Size.Body - m.promptLines() }

// settleConfirm makes the text of CONFIRM, if it has changed, and keeps the
// window in it.
func (m *confirmDialog) settleConfirm() {
	c, height := m, m.headHeight()
	if want := (factsKey{m.Size.Width, height, c.full, c.checked}); want != c.made {
		c.facts.Lines, c.made = m.confirmHead(m.Size.Width, height), want
	}
	c.facts.Scroll(0, height)
}

// confirmLines draws CONFIRM.
func (m *review) confirmLines(f frame.Frame) ([]string, *tea.Cursor) {
	if m.Size.Mode == frame.ModeTiny {
		return m.confirm.confirmTooSmall(), nil
	}
	head, height := m.confirm.facts, m.confirm.headHeight()
	prompt, cursorX := m.confirm.prompt()
	if m.confirm.promptLines() < len(prompt) { // the blank one goes
		prompt = slices.DeleteFunc(prompt[1:], func(l widget.Line) bool { return len(l) == 0 })
		prompt = append(make([]widget.Line, m.confirm.promptLines()-len(prompt)), prompt...)
	}
	body := head.Paint(m.Theme, m.Size.Width, height, -1)
	// The prompt follows the facts where they leave room.
	if used := len(head.Lines); used < height {
		body = body[:used]
	}
	top := m.Size.BodyTop + len(body)
	for _, line := range prompt {
		body = append(body, line.Paint(m.Theme, m.Size.Width))
	}
	for len(body) < m.Size.Body {
		body = append(body, widget.Blank().Paint(m.Theme, m.Size.Width))
	}
	var cursor *tea.Cursor
	if cursorX >= 0 {
		cursor = tea.NewCursor(cursorX, top+len(prompt)-1)
	}
	keys := m.confirm.confirmKeys()
	if len(head.Lines) > height {
		keys = append([]key.Binding{frame.Bind("up/down", "more")}, keys...)
	}
	footer := f.Footer(keys, frame.Plain("ctrl+c quit, nothing applied"))
	if m.notice != "" {
		footer = widget.Line{widget.Text(theme.Strong, " "+m.notice)}.Paint(m.Theme, m.Size.Width)
	}
	return m.compose(f, body, "", footer), cursor
}

// confirmKeys returns the keys of CONFIRM for the footer, without those of the answer.
func (m *confirmDialog) confirmKeys() []key.Binding {
	k := m.keys
	if m.Size.Mode != frame.ModeDouble {
		return []key.Binding{frame.WithHelp(k.Back, "back"), frame.WithHelp(k.Digests, "digests"), frame.WithHelp(k.CopyDigest, "copy digest")}
	}
	digests := k.Digests
	if m.full {
		digests = frame.WithHelp(k.Digests, "back to the facts")
	}
	return []key.Binding{frame.WithHelp(k.Back, "back"), digests, k.CopyDigest}
}

// prompt returns the lines of the question and the column of its cursor, -1 if
// no answer can be typed yet.
func (m *confirmDialog) prompt() ([]widget.Line, int) {
	c := m
	lead := frame.Plain("   ")
	question := append(lead, widget.Text(theme.Plain, "Type "), widget.Text(theme.Strong, m.answer()), widget.Text(theme.Plain, " and press enter to approve, or esc to go back:"))
	switch {
	case c.err != nil:
		text := append(lead, widget.Text(theme.Fail, "x "), widget.Text(theme.Plain, comparisonBasis(m.Plan)+" could not be checked again: "+c.err.Error()))
		return []widget.Line{nil, text, append(lead, widget.Text(theme.Plain, "  nothing was applied. r checks again, e shows all of it, esc goes back")), nil}, -1
	case !c.checked:
		return []widget.Line{nil, append(lead, widget.Text(theme.Strong, "Checking "+comparisonBasis(m.Plan)+" again …"+c.log.Elapsed())), append(lead, frame.Plain(c.log.Last())...), nil}, -1
	case c.wrong:
		question = append(lead, widget.Text(theme.Caution, "! That was not the answer. "), widget.Text(theme.Plain, "Type "), widget.Text(theme.Strong, m.answer()), widget.Text(theme.Plain, " to approve, esc goes back:"))
	}
	if c.dropped {
		waits := append(lead, widget.Text(theme.Plain, "  one moment: what was typed before this question is not its answer"))
		return []widget.Line{nil, question, nil, waits}, -1
	}
	input := append(lead, widget.Text(theme.Key, "> "), widget.Text(theme.Strong, c.input.Value))
	return []widget.Line{nil, question, nil, input}, min(input.Width(), m.Size.Width-1)
}

func (m *confirmDialog) confirmTooSmall() []string {
	w, h := m.Size.Width, m.Size.Height
	lines := []widget.Line{
		frame.Plain(" CONFIRM needs a bigger window"), nil,
		frame.Plain(fmt.Sprintf(" Full digests do not fit in %dx%d.", w, h)),
		frame.Plain(fmt.Sprintf(" Needed: %d x %d.  Now: %d x %d.", frame.ConfirmWidth, frame.ConfirmHeight, w, h)), nil,
		frame.Plain(" Make the window bigger, or approve"),
		frame.Plain(" from a shell with the plan digest:"),
		frame.Plain(" q prints the exact command."),
	}
	for len(lines) < h-1 {
		lines = append(lines, nil)
	}
	lines = append(lines, frame.Plain(" esc back   q quit, nothing applied"))
	out := make([]string, 0, h)
	for _, l := range lines {
		out = append(out, l.Paint(m.Theme, w))
	}
	return out
}
