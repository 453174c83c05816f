package tui

import (
	"context"
	"errors"
	"slices"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// Bounds on what is kept of an apply's progress.
const (
	maxTracked  = 20_000 // objects, those of the plan included
	maxLogLines = 200    // per object
	maxBatch    = 256    // events taken into one frame
)

// tracked is one object during apply and rollout.
type tracked struct {
	id      string
	action  preview.Action
	state   install.ObjectState
	message string
	since   time.Time
	logs    []string
}

// follow is the model of [Follow].
type follow struct {
	opts  FollowOptions
	theme theme.Theme
	keys  keyMap
	size  layout

	started, ended time.Time
	objects        []*tracked
	byID           map[string]*tracked
	stage          string
	stageText      string
	notes          []string // log lines about no object
	lastLog        string   // id of the object that logged last
	failure        string   // what the error events said

	result    *install.Event
	closed    bool // the events ended without a result
	asking    bool
	interrupt Interrupt

	pager      widget.Pager
	failedOnly bool
	all        bool
	logs       bool
	paused     bool // the log does not follow its end
	notice     string
}

// The messages of a follow's own commands.
type (
	eventsMsg []install.Event
	closedMsg struct{}
	tickMsg   struct{}
)

// Follow shows an apply until its result came and the person left the screen.
// The error tells that the screen could not run or that ctx ended it; the
// apply itself may still be going on then.
func Follow(ctx context.Context, opts FollowOptions) (FollowOutcome, error) {
	if opts.Plan == nil || opts.Events == nil {
		return FollowOutcome{}, errors.New("following the apply: there is no plan or nothing to follow")
	}
	m := newFollow(opts)
	err := run(ctx, m, opts.Terminal)
	outcome := FollowOutcome{Result: m.result, Interrupt: m.interrupt, Elapsed: m.elapsed()}
	if m.interrupt != NoInterrupt && ctx.Err() != nil {
		return outcome, nil // ended because the person asked for it
	}
	return outcome, err
}

func newFollow(opts FollowOptions) *follow {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	m := &follow{
		opts: opts, theme: opts.theme(), keys: newKeyMap(), size: arrange(opts.Width, opts.Height, false),
		started: opts.Now(), byID: map[string]*tracked{},
	}
	for i := range opts.Plan.Objects {
		o := &opts.Plan.Objects[i]
		if writes(o.Action) {
			m.track(o.ID, o.Action)
		}
	}
	return m
}

// writes reports whether an apply sends anything for an action.
func writes(a preview.Action) bool {
	switch a {
	case preview.ActionUnchanged, preview.ActionKeep, preview.ActionSkip, preview.ActionShared, preview.ActionBlocked:
		return false
	}
	return true
}

func (m *follow) track(id string, a preview.Action) *tracked {
	t := &tracked{id: id, action: a, state: install.StatePending, since: m.opts.Now()}
	m.objects = append(m.objects, t)
	m.byID[id] = t
	return t
}

// Init waits for the first events.
func (m *follow) Init() tea.Cmd { return tea.Batch(m.wait(), m.tick()) }

// wait is a command that returns the next events.
func (m *follow) wait() tea.Cmd {
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

// tick keeps the elapsed time going, where motion is allowed.
func (m *follow) tick() tea.Cmd {
	if m.opts.NoMotion {
		return nil
	}
	return tea.Tick(time.Second, func(time.Time) tea.Msg { return tickMsg{} })
}

// Update handles one message.
func (m *follow) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.size = arrange(msg.Width, msg.Height, false)
	case tea.KeyPressMsg:
		cmd = m.key(msg)
	case tea.MouseWheelMsg:
		m.wheel(msg)
	case eventsMsg:
		cmd = m.take(msg)
	case closedMsg:
		m.finish(nil)
	case tickMsg:
		cmd = m.ticked()
	}
	m.settle()
	return m, cmd
}

func (m *follow) ticked() tea.Cmd {
	if m.over() {
		return nil
	}
	return m.tick()
}

// take applies events in order and waits for more.
func (m *follow) take(batch eventsMsg) tea.Cmd {
	for _, e := range batch {
		m.event(e)
	}
	if m.over() {
		return nil
	}
	return m.wait()
}

func (m *follow) event(e install.Event) {
	switch e.Type {
	case install.EventStage:
		m.stage, m.stageText = e.Stage, e.Message
	case install.EventObject:
		if t := m.object(e.Object); t != nil {
			if t.state != e.State {
				t.since = m.opts.Now()
			}
			t.state, t.message = e.State, e.Message
		}
	case install.EventLog:
		m.log(e)
	case install.EventError:
		m.failure = e.Message
	case install.EventResult:
		m.finish(&e)
	}
}

// object returns what is known of an object, and starts to know it.
func (m *follow) object(id string) *tracked {
	if t := m.byID[id]; t != nil || id == "" || len(m.objects) >= maxTracked {
		return t
	}
	return m.track(id, "")
}

func (m *follow) log(e install.Event) {
	t := m.object(e.Object)
	if t == nil {
		m.notes = lastLines(append(m.notes, e.Message))
		return
	}
	t.logs = lastLines(append(t.logs, e.Message))
	m.lastLog = t.id
}

func lastLines(lines []string) []string {
	if len(lines) > maxLogLines {
		return slices.Clone(lines[len(lines)-maxLogLines:])
	}
	return lines
}

func (m *follow) finish(result *install.Event) {
	if m.over() {
		return
	}
	m.result, m.closed, m.asking = result, result == nil, false
	m.ended = m.opts.Now()
}

// over reports whether nothing more will come.
func (m *follow) over() bool { return m.result != nil || m.closed }

func (m *follow) elapsed() time.Duration {
	if m.over() {
		return m.ended.Sub(m.started)
	}
	return m.opts.Now().Sub(m.started)
}

// key handles a key. Nothing is stopped by a first one.
func (m *follow) key(msg tea.KeyPressMsg) tea.Cmd {
	m.notice = ""
	k := m.keys
	switch {
	case m.over():
		return m.doneKey(msg)
	case m.asking:
		return m.askKey(msg)
	case key.Matches(msg, k.AskStop, k.Quit, k.Detach):
		m.asking = true
	default:
		m.moveKey(msg)
	}
	return nil
}

func (m *follow) doneKey(msg tea.KeyPressMsg) tea.Cmd {
	if key.Matches(msg, m.keys.Quit, m.keys.Open, m.keys.Stop, m.keys.Back) {
		return tea.Quit
	}
	if key.Matches(msg, m.keys.Suspend) {
		return tea.Suspend
	}
	m.moveKey(msg)
	return nil
}

// askKey handles the answer to what should be stopped.
func (m *follow) askKey(msg tea.KeyPressMsg) tea.Cmd {
	k := m.keys
	switch {
	case key.Matches(msg, k.Back):
		m.asking = false
	case key.Matches(msg, k.StopObject):
		return m.stop(StopAfterObject)
	case key.Matches(msg, k.Detach):
		return m.stop(Detach)
	case key.Matches(msg, k.AskStop):
		return m.stop(StopNow)
	}
	return nil
}

// stop hands on what the person asked for; the result event ends the screen.
func (m *follow) stop(i Interrupt) tea.Cmd {
	m.asking, m.interrupt = false, i
	tell := m.opts.Interrupt
	if tell == nil {
		return nil
	}
	return func() tea.Msg {
		tell(i)
		return nil
	}
}

// moveKey handles the keys that change what is shown.
func (m *follow) moveKey(msg tea.KeyPressMsg) {
	k, height := m.keys, m.bodyHeight()
	switch {
	case key.Matches(msg, k.Up):
		m.scroll(-1)
	case key.Matches(msg, k.Down):
		m.scroll(1)
	case key.Matches(msg, k.PageUp, k.HalfUp):
		m.scroll(-height / 2)
	case key.Matches(msg, k.PageDown, k.HalfDown):
		m.scroll(height / 2)
	case key.Matches(msg, k.Home, k.Top):
		m.scroll(-len(m.pager.Lines))
	case key.Matches(msg, k.End):
		m.scroll(len(m.pager.Lines))
	case key.Matches(msg, k.Logs):
		m.logs, m.paused, m.pager.Top = !m.logs, false, 0
	case key.Matches(msg, k.Pause):
		m.paused = !m.paused
	case key.Matches(msg, k.FailedOnly):
		m.failedOnly, m.pager.Top = !m.failedOnly, 0
	case key.Matches(msg, k.All):
		m.all, m.pager.Top = !m.all, 0
	}
}

// scroll moves the window. Scrolling a log stops following its end.
func (m *follow) scroll(delta int) {
	m.paused = true
	m.pager.Scroll(delta, m.bodyHeight())
}

func (m *follow) wheel(msg tea.MouseWheelMsg) {
	if msg.Button == tea.MouseWheelUp {
		m.scroll(-wheelLines)
		return
	}
	m.scroll(wheelLines)
}

// settle makes the document of this moment and keeps the window in it.
func (m *follow) settle() {
	if m.size.mode == modeNone {
		return
	}
	m.pager.Lines = m.document()
	height := m.bodyHeight()
	if m.logs && !m.paused {
		m.pager.Top = len(m.pager.Lines)
	}
	m.pager.Scroll(0, height)
}
