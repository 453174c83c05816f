package follow

import (
	"context"
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// Bounds on what is kept of an apply's progress.
const (
	maxTracked  = 20_000 // objects, the plan's included
	maxLogLines = 200    // per object
	maxBatch    = 256    // events taken into one frame
)

// trackedObject is one object of the plan during apply and rollout: its state so far.
type trackedObject struct {
	id       string
	action   preview.Action
	state    record.ObjectState
	written  bool // the API server took the write
	message  string
	offender string // id of what is at fault
	since    time.Time
	logs     []string
}

// applyState is what is known of the apply that is followed, from the events so far.
type applyState struct {
	opts  Options
	theme theme.Theme
	size  frame.Layout

	started, ended time.Time
	objects        []*trackedObject
	byID           map[string]*trackedObject
	stage          string
	stageText      string
	notes          []string // log lines about no object
	lastLog        string   // id of the object that logged last
	failure        string   // what the error events said
	err            error    // all of it
	blamed         string   // id of the object that it is about
	waiting        install.WaitState
	result         *install.Event
	closed         bool // the events ended without a result
	interrupt      Interrupt
}

// followScreen is the bubbletea model of the screen that [Run] shows.
type followScreen struct {
	*applyState
	ctx  context.Context
	keys frame.KeyMap

	asking bool
	again  bool
	review bool

	rows       []followRow
	list       widget.List
	chosen     string // key of the row that the person went to, empty before
	failedOnly bool
	all        bool

	pane     followPane
	about    string       // id of the object whose events or logs are open
	whole    bool         // the events are below the whole error of the apply
	pager    widget.Pager // of the pane
	paused   bool         // the log does not follow its end
	held     excerpt      // the log as it was then
	podLogs  podLogs
	help     *frame.Page // over the screen; open when not nil
	search   followSearch
	notice   string // until the next key
	mouseOff bool
}

// The messages of a follow's own commands.
type (
	eventsMsg   []install.Event
	closedMsg   struct{}
	waitsMsg    install.WaitState
	tickMsg     struct{}
	deadlineMsg struct{} // a deadline may be near
)

// Run shows an apply until its result came and the user left the screen. The
// error means that the screen could not run, or that ctx ended it; the apply
// itself may then still be going on.
func Run(ctx context.Context, opts Options) (Outcome, error) {
	if opts.Plan == nil || opts.Events == nil {
		return Outcome{}, errors.New("following the apply: there is no plan or nothing to follow")
	}
	reading, stop := context.WithCancel(ctx)
	defer stop()
	m := newScreen(reading, opts)
	err := frame.Run(ctx, m, opts.Terminal)
	outcome := Outcome{Result: m.result, Interrupt: m.interrupt, Elapsed: m.elapsed(), Continue: m.again && err == nil, Review: m.review && err == nil}
	if m.interrupt != NoInterrupt && ctx.Err() != nil {
		return outcome, nil // ended because the person asked for it
	}
	return outcome, err
}

func newScreen(ctx context.Context, opts Options) *followScreen {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	m := &followScreen{ctx: ctx, keys: frame.NewKeyMap(), applyState: &applyState{
		opts: opts, theme: opts.Theme(), size: frame.Arrange(opts.Width, opts.Height, false), started: opts.Now(), byID: map[string]*trackedObject{},
	}}
	for i := range opts.Plan.Objects {
		o := &opts.Plan.Objects[i]
		if hasWrite(o.Action) {
			m.track(o.ID, o.Action)
		}
	}
	return m
}

// hasWrite reports whether an apply sends a write for an object with that action.
func hasWrite(a preview.Action) bool {
	switch a {
	case preview.ActionUnchanged, preview.ActionKeep, preview.ActionSkip, preview.ActionShared, preview.ActionBlocked:
		return false
	}
	return true
}

func (m *applyState) track(id string, a preview.Action) *trackedObject {
	t := &trackedObject{id: id, action: a, state: record.StatePending, since: m.opts.Now()}
	m.objects = append(m.objects, t)
	m.byID[id] = t
	return t
}

// Init starts waiting for the first events.
func (m *followScreen) Init() tea.Cmd { return tea.Batch(m.wait(), m.awaitWaiting(), m.tick()) }

// wait returns a command that waits for events and returns those that have come.
func (m *applyState) wait() tea.Cmd {
	events := m.opts.Events
	return func() tea.Msg {
		first, ok := <-events
		if !ok {
			return closedMsg{}
		}
		batch := eventsMsg{first}
		for len(batch) < maxBatch {
			select {
			case e, ok := <-events:
				if !ok {
					return batch
				}
				batch = append(batch, e)
			default:
				return batch
			}
		}
		return batch
	}
}

// tick returns a command that updates the elapsed time after a second; without
// motion (NoMotion), after 10 s.
func (m *applyState) tick() tea.Cmd {
	every := time.Second
	if m.opts.NoMotion {
		every = frame.HeartbeatInterval
	}
	return tea.Tick(every, func(time.Time) tea.Msg { return tickMsg{} })
}

// Update handles one message.
func (m *followScreen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.size, m.help = frame.Arrange(msg.Width, msg.Height, false), nil
	case tea.KeyPressMsg:
		cmd = m.key(msg)
	case tea.PasteMsg:
		if m.search.typing {
			m.search.input.Update(msg)
		}
	case tea.MouseWheelMsg:
		m.wheel(msg)
	case tea.MouseClickMsg:
		m.click(msg)
	case eventsMsg:
		cmd = m.takeEvents(msg)
	case closedMsg:
		m.finish(nil)
	case waitsMsg:
		cmd = m.setWaiting(install.WaitState(msg))
	case podLogsMsg:
		cmd = m.setLogs(msg)
	case refreshMsg:
		m.refreshLogs(msg)
	case tickMsg:
		cmd = m.updateClock()
	}
	m.settle()
	return m, tea.Batch(cmd, m.readLogs())
}

func (m *followScreen) updateClock() tea.Cmd {
	if m.isOver() {
		return nil
	}
	return m.tick()
}

// takeEvents handles events in order, and waits for more.
func (m *followScreen) takeEvents(batch eventsMsg) tea.Cmd {
	for _, e := range batch {
		m.event(e)
	}
	if m.isOver() {
		return nil
	}
	return m.wait()
}

func (m *followScreen) event(e install.Event) {
	switch e.Type {
	case install.EventStage:
		m.stage, m.stageText = e.Stage, e.Message
	case install.EventObject:
		if t := m.object(e.Object); t != nil {
			if t.state != e.State {
				t.since = m.opts.Now()
			}
			t.state, t.message, t.offender = e.State, e.Message, e.Offender
			t.written = t.written || e.State.Acknowledged()
		}
	case install.EventLog:
		m.log(e)
	case install.EventError:
		m.failure, m.err, m.blamed = e.Message, e.Err, e.Object
	case install.EventResult:
		m.finish(&e)
	}
}

// object returns the object with that id, and adds it if it is not tracked yet;
// nil without an id.
func (m *applyState) object(id string) *trackedObject {
	if t := m.byID[id]; t != nil || id == "" || len(m.objects) >= maxTracked {
		return t
	}
	return m.track(id, "")
}

func (m *applyState) log(e install.Event) {
	t := m.object(e.Object)
	if t == nil {
		m.notes = lastLines(append(m.notes, e.Message), maxLogLines)
		return
	}
	t.logs = lastLines(append(t.logs, e.Message), maxLogLines)
	m.lastLog = t.id
}

// lastLines returns a copy of the last n lines, so that the memory of the
// others can be freed.
func lastLines(lines []string, n int) []string {
	if len(lines) > n {
		return slices.Clone(lines[len(lines)-n:])
	}
	return lines
}

func (m *followScreen) finish(result *install.Event) {
	if m.isOver() {
		return
	}
	m.result, m.closed, m.asking = result, result == nil, false
	m.ended = m.opts.Now()
}

// settle makes rows and lines anew from the present state, and keeps the cursor
// and the window within them.
func (m *followScreen) settle() {
	if m.size.Mode == frame.ModeNone {
		return
	}
	m.settleRows(m.bodyHeight())
	if m.pane == paneRows {
		return
	}
	m.pager.Lines = m.paneLines()
	m.pager.Found = m.search.find
	if !m.paused {
		m.pager.Top = len(m.pager.Lines)
	}
	m.pager.Scroll(0, m.paneHeight())
}

// now returns the end time for measuring durations: after the end, the time of the end.
func (m *applyState) now() time.Time {
	if m.isOver() {
		return m.ended
	}
	return m.opts.Now()
}

// isOver reports whether the result has come, or the events have ended without one.
func (m *applyState) isOver() bool { return m.result != nil || m.closed }

func (m *applyState) elapsed() time.Duration {
	return m.now().Sub(m.started)
}
