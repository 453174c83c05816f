package tui

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

const (
	lookEvery = 2 * time.Second
	// lookTime bounds one read: a server that hangs must not stop the next.
	lookTime = 10 * time.Second
)

// followPane is what fills the screen below the bar.
type followPane int

const (
	paneRows   followPane = iota // the objects
	paneEvents                   // what happened to one of them
	paneLogs                     // what its pods print
)

// aim is what is read behind which object.
type aim struct {
	pane followPane
	id   string
}

// behind is what was read last, and the read under way.
type behind struct {
	aim   aim
	busy  bool // a read is under way
	due   bool // it is time for the next
	round int  // a timer of an earlier one is dropped
	read  bool // it has answered
	found rollout.Behind
	err   error
}

// excerpt is the end of a log.
type excerpt struct {
	id    string
	title string
	lines []string
}

type (
	behindMsg struct {
		aim   aim
		found rollout.Behind
		err   error
	}
	lookAgainMsg struct{ round int }
)

// aimed is what somebody looks at: the open pane's, else the log of the object
// in question.
func (m *follow) aimed() aim {
	switch {
	case m.pane != paneRows:
		return aim{m.pane, m.about}
	case m.paused || m.over():
		return m.behind.aim // as it is
	}
	if t := m.byID[m.question()]; t != nil && (t.state == install.StateWaiting || t.state == install.StateFailed) {
		return aim{paneLogs, t.id}
	}
	return aim{}
}

// lookBehind is a command that reads what is looked at, when it is time for it
// and no read is under way.
func (m *follow) lookBehind() tea.Cmd {
	b, want := &m.behind, m.aimed()
	read := m.opts.ReadLogs
	if want.pane == paneEvents {
		read = m.opts.ReadEvents
	}
	if want != b.aim {
		*b = behind{aim: want, busy: b.busy, due: want.id != "", round: b.round}
	}
	if b.busy || !b.due || read == nil {
		return nil
	}
	b.due = false
	o := m.opts.Plan.Object(want.id)
	if o == nil {
		return nil
	}
	b.busy = true
	ctx, ref := m.ctx, o.Ref()
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, lookTime)
		defer cancel()
		found, err := read(ctx, ref)
		return behindMsg{want, found, err}
	}
}

// sawBehind takes an answer. What was known stays where the cluster does not
// answer.
func (m *follow) sawBehind(msg behindMsg) tea.Cmd {
	b := &m.behind
	b.busy = false
	if msg.aim != b.aim {
		return nil
	}
	if b.err = msg.err; msg.err == nil {
		b.read, b.found = true, msg.found
	}
	every := m.opts.Every
	switch {
	case every < 0:
		return nil
	case every == 0:
		every = lookEvery
	}
	b.round++
	round := b.round
	return tea.Tick(every, func(time.Time) tea.Msg { return lookAgainMsg{round} })
}

// lookAgain makes the next read due, where somebody looks on.
func (m *follow) lookAgain(msg lookAgainMsg) {
	looked := m.pane != paneRows || !m.over()
	m.behind.due = m.behind.due || looked && !m.paused && msg.round == m.behind.round
}

// openPane shows the events or logs of the object under the cursor, else of the
// one in question; the same key closes them again.
func (m *follow) openPane(p followPane) {
	if m.pane == p {
		m.back()
		return
	}
	id := m.about
	if m.pane == paneRows {
		if id = m.row().id; id == "" {
			id = m.question()
		}
	}
	whole := p == paneEvents && m.pane == paneRows && m.row().err
	if whole {
		id = m.blamed
	}
	m.search = followSearch{}
	if id == "" && p == paneEvents && !whole {
		m.notice = "there is no object in question yet"
		return
	}
	m.pane, m.about, m.whole, m.paused, m.pager = p, id, whole, false, widget.Pager{}
	if whole { // read from its beginning
		m.pause(true)
	}
}

// pause stops or goes on following the end of a log. Of the list the log stays
// as it is.
func (m *follow) pause(on bool) {
	if on && !m.paused {
		m.held = m.excerpt()
	}
	if !on && m.paused {
		m.behind.round, m.behind.due = m.behind.round+1, m.behind.aim.id != ""
	}
	m.paused = on
}

// excerpt is the end of the log of the object in question: what was read, else
// what the apply said.
func (m *follow) excerpt() excerpt {
	if b := m.behind; b.aim.pane == paneLogs && len(b.found.Logs) > 0 {
		log := b.found.Logs[0]
		return excerpt{b.aim.id, logTitle(log), lastLines(log.Lines, lastWords)}
	}
	if t := m.byID[m.lastLog]; t != nil {
		return excerpt{t.id, objectName(t.id), lastLines(t.logs, lastWords)}
	}
	return excerpt{}
}

func logTitle(log rollout.Log) string {
	title := fmt.Sprintf("%s  container %s", objectName(log.Pod.ID()), log.Container)
	if log.Ended {
		title += "  (the run that ended)"
	}
	return title
}

// paneLines is the document of the open pane.
func (m *follow) paneLines() []widget.Line {
	b := &builder{width: m.size.width}
	if m.whole {
		m.wholeError(b)
	}
	if t := m.byID[m.about]; t != nil {
		m.stateLines(b, t)
	}
	switch {
	case m.whole && m.about == "":
		return b.lines
	case m.pane == paneEvents:
		m.eventLines(b)
	default:
		m.logLines(b)
	}
	for _, what := range m.behind.found.Blind {
		b.item(theme.Caution, "!", blindText(what))
	}
	if err := m.behind.err; err != nil {
		b.item(theme.Caution, "!", "reading it: "+err.Error())
	}
	return b.lines
}

// paneTitle stands above it, wherever the pane is scrolled to.
func (m *follow) paneTitle() widget.Line {
	if m.whole {
		return widget.Line{widget.Text(theme.Heading, " what happened, all of it")}
	}
	title := " events"
	if m.pane == paneLogs {
		title = " logs"
	}
	if m.about != "" {
		title += "  " + objectName(m.about)
	}
	return m.withFollow(title)
}

// withFollow is a title that says whether the log below follows its end.
func (m *follow) withFollow(title string) widget.Line {
	follow := "  follow on "
	if m.paused {
		follow = "  follow off (p) "
	}
	return widget.Spread(widget.Line{widget.Text(theme.Heading, title)}, plain(follow), m.size.width)
}

// stateLines is where the object stands, with the whole reason.
func (m *follow) stateLines(b *builder, t *tracked) {
	sign, role := stateSign(t.state)
	if m.lost() {
		role = theme.Old
	}
	state := widget.Line{widget.Text(theme.Plain, "   "), widget.Cell(role, sign, 3), widget.Text(role, string(t.state)+" "+round(m.now().Sub(t.since)))}
	if m.lost() {
		state = append(state, plain("   as of "+m.clockTime(m.waiting.LostSince))...)
	}
	b.add(state)
	if t.message != "" {
		b.text(theme.Plain, "      ", t.message)
	}
	if o := m.opts.Plan.Object(t.id); t.offender != "" && o != nil && t.offender != o.ID {
		b.text(theme.Plain, "      ", "at fault: "+objectName(t.offender))
	}
}

// wholeError is what happened to the apply, and everything behind it.
func (m *follow) wholeError(b *builder) {
	if m.err != nil {
		errorLines(b, m.err)
	} else {
		b.text(theme.Plain, "   ", m.failure)
	}
	if m.about != "" {
		b.heading("Its object")
		b.text(theme.Plain, "   ", objectName(m.about))
	}
}

func (m *follow) eventLines(b *builder) {
	b.blank()
	switch {
	case m.opts.ReadEvents == nil:
		b.add(plain("   nobody can read events here"))
	case m.behind.aim.pane != paneEvents || !m.behind.read && m.behind.err == nil:
		b.add(plain("   reading …"))
	case m.behind.read && len(m.behind.found.Events) == 0:
		b.add(plain("   no events; a cluster keeps them for an hour"))
	}
	if m.behind.aim.pane != paneEvents {
		return
	}
	for _, e := range m.behind.found.Events {
		sign, role := " ", theme.Plain
		if e.Warning {
			sign, role = "!", theme.Caution
		}
		b.item(role, sign, eventText(e, m.about, m.opts.Now().Location()))
	}
}

func (m *follow) logLines(b *builder) {
	found := m.behind.found.Logs
	if m.behind.aim.pane != paneLogs {
		found = nil
	}
	for _, log := range found {
		b.heading("log  " + logTitle(log))
		for _, line := range log.Lines {
			b.add(plain("   " + line))
		}
	}
	if len(found) > 0 {
		return
	}
	n := len(b.lines)
	for _, o := range m.logged() {
		b.heading("log  " + objectName(o.id))
		for _, line := range o.logs {
			b.add(plain("   " + line))
		}
	}
	for _, note := range m.notes {
		b.text(theme.Plain, "   ", note)
	}
	if len(b.lines) == n {
		b.blank()
		b.add(plain("   no log lines: only pods that are not ready are read"))
	}
}

// logged are the objects of which the apply told a log: the one the pane is
// about, else all.
func (m *follow) logged() []*tracked {
	var out []*tracked
	for _, o := range m.objects {
		if len(o.logs) > 0 && (o.id == m.about || m.about == "" || m.opts.Plan.Object(m.about) == nil) {
			out = append(out, o)
		}
	}
	return out
}
