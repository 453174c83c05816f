package follow

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

const (
	lookEvery = 2 * time.Second
	// lookTime is the time limit of one read, so that a server that hangs does
	// not stop the next read.
	lookTime = 10 * time.Second
)

// followPane is what is shown below the progress bar: objects, events or logs.
type followPane int

const (
	paneRows   followPane = iota // the objects
	paneEvents                   // what happened to one of them
	paneLogs                     // what its pods print
)

// logTarget selects the object whose pod logs or events are shown.
type logTarget struct {
	pane followPane
	id   string
}

// podLogs holds the events or pod logs that were read last, and whether a read
// is under way.
type podLogs struct {
	target logTarget
	busy   bool // a read is under way
	due    bool // it is time for the next
	round  int  // a timer of an earlier one is dropped
	read   bool // it has answered
	found  rollout.Diagnostics
	err    error
}

// excerpt is the last lines of a log, with a title.
type excerpt struct {
	id    string
	title string
	lines []string
}

type (
	podLogsMsg struct {
		target logTarget
		found  rollout.Diagnostics
		err    error
	}
	refreshMsg struct{ round int }
)

// logTarget returns the object whose events or logs are to be read: the open pane's,
// else the object that the apply waits for.
func (m *followScreen) logTarget() logTarget {
	switch {
	case m.pane != paneRows:
		return logTarget{m.pane, m.about}
	case m.paused || m.isOver():
		return m.podLogs.target // as it is
	}
	if t := m.byID[m.blockingObject()]; t != nil && (t.state == record.StateWaiting || t.state == record.StateFailed) {
		return logTarget{paneLogs, t.id}
	}
	return logTarget{}
}

// readLogs returns the command that reads the events or logs of the target; nil
// if it is not time for that, or a read is under way.
func (m *followScreen) readLogs() tea.Cmd {
	b, want := &m.podLogs, m.logTarget()
	read := m.opts.ReadLogs
	if want.pane == paneEvents {
		read = m.opts.ReadEvents
	}
	if want != b.target {
		*b = podLogs{target: want, busy: b.busy, due: want.id != "", round: b.round}
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
		return podLogsMsg{want, found, err}
	}
}

// setLogs handles the result of a read. After an error, what was read before stays.
func (m *followScreen) setLogs(msg podLogsMsg) tea.Cmd {
	b := &m.podLogs
	b.busy = false
	if msg.target != b.target {
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
	return tea.Tick(every, func(time.Time) tea.Msg { return refreshMsg{round} })
}

// refreshLogs makes the next read due, if its result would be shown.
func (m *followScreen) refreshLogs(msg refreshMsg) {
	looked := m.pane != paneRows || !m.isOver()
	m.podLogs.due = m.podLogs.due || looked && !m.paused && msg.round == m.podLogs.round
}

// openPane shows the events or logs of the object under the cursor, else of the object
// that the apply waits for. For the pane that is open already, it closes the pane.
func (m *followScreen) openPane(p followPane) {
	if m.pane == p {
		m.back()
		return
	}
	id := m.about
	if m.pane == paneRows {
		if id = m.row().id; id == "" {
			id = m.blockingObject()
		}
	}
	whole := p == paneEvents && m.pane == paneRows && m.row().err
	if whole {
		id = m.blamed
	}
	m.search = followSearch{}
	if id == "" && p == paneEvents && !whole {
		m.notice = "no object is blocking yet"
		return
	}
	m.pane, m.about, m.whole, m.paused, m.pager = p, id, whole, false, widget.Pager{}
	if whole { // read from its beginning
		m.pause(true)
	}
}

// pause stops following the end of a log, or goes on with it. The log below the
// list of objects stays as it is meanwhile.
func (m *followScreen) pause(on bool) {
	if on && !m.paused {
		m.held = m.excerpt()
	}
	if !on && m.paused {
		m.podLogs.round, m.podLogs.due = m.podLogs.round+1, m.podLogs.target.id != ""
	}
	m.paused = on
}

// excerpt returns the last lines of the pod log that was read last, else of the
// object whose log the apply reported last.
func (m *followScreen) excerpt() excerpt {
	if b := m.podLogs; b.target.pane == paneLogs && len(b.found.Logs) > 0 {
		log := b.found.Logs[0]
		return excerpt{b.target.id, logTitle(log), lastLines(log.Lines, lastWords)}
	}
	if t := m.byID[m.lastLog]; t != nil {
		return excerpt{t.id, frame.ObjectName(t.id), lastLines(t.logs, lastWords)}
	}
	return excerpt{}
}

func logTitle(log rollout.Log) string {
	title := fmt.Sprintf("%s  container %s", frame.ObjectName(log.Pod.ID()), log.Container)
	if log.Ended {
		title += "  (the run that ended)"
	}
	return title
}

// paneLines returns all lines of the open pane.
func (m *followScreen) paneLines() []widget.Line {
	b := &frame.Builder{Width: m.size.Width}
	if m.whole {
		m.wholeError(b)
	}
	if t := m.byID[m.about]; t != nil {
		m.stateLines(b, t)
	}
	switch {
	case m.whole && m.about == "":
		return b.Lines
	case m.pane == paneEvents:
		m.eventLines(b)
	default:
		m.logLines(b)
	}
	for _, what := range m.podLogs.found.Blind {
		b.Item(theme.Caution, "!", unreadableText(what))
	}
	if err := m.podLogs.err; err != nil {
		b.Item(theme.Caution, "!", "reading it: "+err.Error())
	}
	return b.Lines
}

// paneTitle returns the title of the open pane, which does not scroll.
func (m *followScreen) paneTitle() widget.Line {
	if m.whole {
		return widget.Line{widget.Text(theme.Heading, " what happened, all of it")}
	}
	title := " events"
	if m.pane == paneLogs {
		title = " logs"
	}
	if m.about != "" {
		title += "  " + frame.ObjectName(m.about)
	}
	return m.withFollow(title)
}

// withFollow returns a title that also says whether the log below it follows its end.
func (m *followScreen) withFollow(title string) widget.Line {
	follow := "  follow on "
	if m.paused {
		follow = "  follow off (p) "
	}
	return widget.Spread(widget.Line{widget.Text(theme.Heading, title)}, frame.Plain(follow), m.size.Width)
}

// stateLines appends the state of an object, with its reason in full.
func (m *applyState) stateLines(b *frame.Builder, t *trackedObject) {
	sign, role := stateSign(t.state)
	if m.isDisconnected() {
		role = theme.Old
	}
	state := widget.Line{widget.Text(theme.Plain, "   "), widget.Cell(role, sign, 3), widget.Text(role, string(t.state)+" "+frame.RoundDuration(m.now().Sub(t.since)))}
	if m.isDisconnected() {
		state = append(state, frame.Plain("   as of "+m.clockTime(m.waiting.LostSince))...)
	}
	b.Add(state)
	if t.message != "" {
		b.Text(theme.Plain, "      ", t.message)
	}
	if o := m.opts.Plan.Object(t.id); t.offender != "" && o != nil && t.offender != o.ID {
		b.Text(theme.Plain, "      ", "at fault: "+frame.ObjectName(t.offender))
	}
}

// wholeError appends the error of the apply in full, with its causes.
func (m *followScreen) wholeError(b *frame.Builder) {
	if m.err != nil {
		frame.ErrorLines(b, m.err)
	} else {
		b.Text(theme.Plain, "   ", m.failure)
	}
	if m.about != "" {
		b.Heading("Its object")
		b.Text(theme.Plain, "   ", frame.ObjectName(m.about))
	}
}

func (m *followScreen) eventLines(b *frame.Builder) {
	b.Blank()
	switch {
	case m.opts.ReadEvents == nil:
		b.Add(frame.Plain("   events may not be read here"))
	case m.podLogs.target.pane != paneEvents || !m.podLogs.read && m.podLogs.err == nil:
		b.Add(frame.Plain("   reading …"))
	case m.podLogs.read && len(m.podLogs.found.Events) == 0:
		b.Add(frame.Plain("   no events; a cluster keeps them for an hour"))
	}
	if m.podLogs.target.pane != paneEvents {
		return
	}
	for _, e := range m.podLogs.found.Events {
		sign, role := " ", theme.Plain
		if e.Warning {
			sign, role = "!", theme.Caution
		}
		b.Item(role, sign, eventText(e, m.about, m.opts.Now().Location()))
	}
}

func (m *followScreen) logLines(b *frame.Builder) {
	found := m.podLogs.found.Logs
	if m.podLogs.target.pane != paneLogs {
		found = nil
	}
	for _, log := range found {
		b.Heading("log  " + logTitle(log))
		for _, line := range log.Lines {
			b.Add(frame.Plain("   " + line))
		}
	}
	if len(found) > 0 {
		return
	}
	n := len(b.Lines)
	for _, o := range m.loggedObjects() {
		b.Heading("log  " + frame.ObjectName(o.id))
		for _, line := range o.logs {
			b.Add(frame.Plain("   " + line))
		}
	}
	for _, note := range m.notes {
		b.Text(theme.Plain, "   ", note)
	}
	if len(b.Lines) == n {
		b.Blank()
		b.Add(frame.Plain("   no log lines: only pods that are not ready are read"))
	}
}

// loggedObjects returns the objects with reported log lines: the one of the open pane,
// else all.
func (m *followScreen) loggedObjects() []*trackedObject {
	var out []*trackedObject
	for _, o := range m.objects {
		if len(o.logs) > 0 && (o.id == m.about || m.about == "" || m.opts.Plan.Object(m.about) == nil) {
			out = append(out, o)
		}
	}
	return out
}

// DiagnosticLines returns the last event of an object that is not ready,
// preferably a warning, and the last lines of each log, as text for output
// without a screen. Times are in zone. It is empty if nothing was read.
func DiagnosticLines(object preview.Ref, events, logs rollout.Diagnostics, zone *time.Location) []string {
	var out []string
	if n := len(events.Events); n > 0 {
		last := events.Events[n-1]
		for _, e := range events.Events {
			if e.Warning {
				last = e
			}
		}
		out = append(out, "  event  "+eventText(last, object.ID(), zone))
	}
	for _, log := range logs.Logs {
		out = append(out, "  log    "+logTitle(log))
		for _, line := range lastLines(log.Lines, lastWords) {
			out = append(out, "    "+line)
		}
	}
	blind := events.Blind
	if len(blind) == 0 {
		blind = logs.Blind
	}
	for _, what := range blind {
		out = append(out, "  "+unreadableText(what))
	}
	return out
}

// eventText returns reason, message and time of an event, in a zone. It names
// the event's object if that is not the one shown (looked).
func eventText(e rollout.Event, looked string, zone *time.Location) string {
	when := "--:--:--"
	if !e.Time.IsZero() {
		when = e.Time.In(zone).Format(time.TimeOnly)
	}
	text := when + "  " + e.Text
	if e.Count > 1 {
		text += fmt.Sprintf("  (%d times)", e.Count)
	}
	if id := e.About.ID(); id != looked {
		text += "  " + frame.ObjectName(id)
	}
	return text
}

func unreadableText(what string) string { return "you may not " + what + ": something may be missing" }
