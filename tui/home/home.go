package home

import (
	"context"
	"errors"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// Options configure the screen.
type Options struct {
	frame.Terminal
	// Flags are those that were given, which each command repeats.
	Flags []string

	// Load reads what there is. It stops when ctx ends.
	Load func(ctx context.Context) Listing
	// Inspect reads how one release is, one after another.
	Inspect func(ctx context.Context, r Release) Condition
}

// Listing is what a cluster has, and what can be begun without one.
type Listing struct {
	Cluster  string // its name, empty without one
	Releases []Release
	Catalogs int    // that packages are found in by configuration
	Problem  string // why releases, or some of them, could not be read
}

// Release is an installed package.
type Release struct {
	Name, Namespace, Version string
	About                    string // what is known of it without a look at its objects
}

// Condition is how a release is.
type Condition struct {
	Word   string // such as healthy
	Role   theme.Role
	Why    string // the first cause, where it is not well
	Update string // the version that an upgrade would choose, empty when none is known
}

// Choice is what was chosen.
type Choice struct {
	// Command is the command line after the name of the program, nil where the
	// screen was left without a choice.
	Command []string
}

// Run shows the screen until a command is chosen, or it is left.
func Run(ctx context.Context, opts Options) (Choice, error) {
	if opts.Load == nil || opts.Inspect == nil {
		return Choice{}, errors.New("the screen of releases: no way to read them")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := newScreen(ctx, opts)
	err := frame.Run(ctx, m, opts.Terminal)
	return m.choice, err
}

// screen is the model of [Run].
type screen struct {
	ctx   context.Context
	opts  Options
	theme theme.Theme
	keys  frame.KeyMap
	size  frame.Layout

	round      int // of reading; answers of an earlier one are late
	loading    bool
	found      Listing
	conditions map[int]Condition

	open   int // the release whose commands are shown, -1 for none
	rows   []row
	list   widget.List
	typing bool
	input  widget.Query
	notice string

	page     *frame.Page
	mouseOff bool
	choice   Choice
}

// The messages of the screen's own commands.
type (
	listingMsg struct {
		round int
		found Listing
	}
	conditionMsg struct {
		round, at int
		is        Condition
	}
)

func newScreen(ctx context.Context, opts Options) *screen {
	m := &screen{ctx: ctx, opts: opts, theme: opts.Theme(), keys: frame.NewKeyMap(), loading: true, open: -1, input: widget.NewQuery()}
	m.size = frame.Arrange(opts.Width, opts.Height, false)
	m.settle()
	return m
}

// Init asks for what there is.
func (m *screen) Init() tea.Cmd { return m.load() }

func (m *screen) load() tea.Cmd {
	m.round++
	m.loading, m.found, m.conditions, m.open = true, Listing{}, map[int]Condition{}, -1
	ctx, load, round := m.ctx, m.opts.Load, m.round
	return func() tea.Msg { return listingMsg{round, load(ctx)} }
}

// inspect returns the command that looks at a release, nil after the last.
func (m *screen) inspect(at int) tea.Cmd {
	if at >= len(m.found.Releases) {
		return nil
	}
	ctx, look, round, release := m.ctx, m.opts.Inspect, m.round, m.found.Releases[at]
	return func() tea.Msg { return conditionMsg{round, at, look(ctx, release)} }
}

// Update handles one message.
func (m *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.size, m.page = frame.Arrange(msg.Width, msg.Height, false), nil
	case tea.KeyPressMsg:
		cmd = m.key(msg)
	case tea.PasteMsg:
		if m.typing {
			m.input.Update(msg)
		}
	case tea.MouseWheelMsg:
		m.wheel(msg)
	case tea.MouseClickMsg:
		m.click(msg)
	case listingMsg:
		if msg.round == m.round {
			m.loading, m.found, m.list = false, msg.found, widget.List{}
			cmd = m.inspect(0)
		}
	case conditionMsg:
		if msg.round == m.round {
			m.conditions[msg.at] = msg.is
			cmd = m.inspect(msg.at + 1)
		}
	}
	m.settle()
	return m, cmd
}

// settle makes the rows anew, and keeps the cursor on the one that it was on.
func (m *screen) settle() {
	id := ""
	if r := m.selected(); r != nil {
		id = r.id
	}
	m.rows = m.makeRows()
	for i, r := range m.rows {
		if id != "" && r.id == id {
			m.list.Cursor = i
		}
	}
	m.list.Settle(len(m.rows), m.size.Body, m.selectable)
}

func (m *screen) selectable(i int) bool { return m.rows[i].id != "" }

// selected is the row under the cursor, nil where there is none.
func (m *screen) selected() *row {
	if m.list.Cursor < 0 || m.list.Cursor >= len(m.rows) {
		return nil
	}
	return &m.rows[m.list.Cursor]
}

// key is the one place where keys enter. Nothing here changes anything: a choice is
// a command, which asks for itself.
func (m *screen) key(msg tea.KeyPressMsg) tea.Cmd {
	m.notice = ""
	k := m.keys
	switch {
	case key.Matches(msg, k.Stop):
		return tea.Quit
	case key.Matches(msg, k.Suspend):
		return tea.Suspend
	case m.page != nil:
		m.page = m.page.Key(k, msg, m.size)
	case m.typing:
		return m.typed(msg)
	case key.Matches(msg, k.Quit):
		return tea.Quit
	case m.size.Mode == frame.ModeNone:
	case key.Matches(msg, k.Help):
		m.openHelp()
	case key.Matches(msg, k.Mouse):
		m.mouseOff = !m.mouseOff
		m.notice = frame.MouseNotice(m.mouseOff)
	case key.Matches(msg, k.Retry):
		return m.load()
	case key.Matches(msg, k.Back, k.Left) && m.open >= 0:
		m.fold(m.open)
	case key.Matches(msg, k.Back):
		return tea.Quit
	case key.Matches(msg, k.Open, k.Right):
		return m.choose()
	default:
		frame.MoveList(k, &m.list, msg, len(m.rows), m.size.Body, m.selectable)
	}
	return nil
}

// fold shows the commands of a release, or hides them. The cursor stays on it.
func (m *screen) fold(at int) {
	if m.open == at {
		m.open = -1
	} else {
		m.open = at
	}
	m.rows = m.makeRows()
	for i, r := range m.rows {
		if r.id != "" && r.release == at && r.command == nil {
			m.list.Cursor = i
			return
		}
	}
}

// choose does what the row under the cursor stands for.
func (m *screen) choose() tea.Cmd {
	r := m.selected()
	switch {
	case r == nil:
	case r.asks:
		m.typing = true
	case r.command != nil:
		m.choice.Command = r.command
		return tea.Quit
	default:
		m.fold(r.release)
	}
	return nil
}

// typed handles the keys while a reference is typed.
func (m *screen) typed(msg tea.KeyPressMsg) tea.Cmd {
	k := m.keys
	switch {
	case key.Matches(msg, k.Back):
		m.typing = false
		m.input.Clear()
	case key.Matches(msg, k.Open):
		text := strings.TrimSpace(m.input.Value())
		if text == "" || strings.HasPrefix(text, "-") {
			m.notice = "a directory, an image, a chart or a URL; esc leaves"
			return nil
		}
		m.choice.Command = m.review(text)
		return tea.Quit
	default:
		m.input.Update(msg)
	}
	return nil
}

// review is the command that reviews a reference. Without a cluster nothing can be
// installed.
func (m *screen) review(reference string) []string {
	if m.withoutCluster() {
		return []string{"preview", reference, "--offline", "--tui"}
	}
	return []string{"install", reference}
}

func (m *screen) withoutCluster() bool { return !m.loading && m.found.Cluster == "" }

// wheel moves the cursor, or scrolls the page that is shown.
func (m *screen) wheel(msg tea.MouseWheelMsg) {
	delta := frame.WheelLines
	if msg.Button == tea.MouseWheelUp {
		delta = -frame.WheelLines
	}
	if m.page != nil {
		m.page.Wheel(msg, m.size)
	} else if m.size.Mode != frame.ModeNone {
		m.list.Move(delta, len(m.rows), m.selectable)
	}
}

// click selects a row. It chooses nothing.
func (m *screen) click(msg tea.MouseClickMsg) {
	at := m.list.Top + msg.Y - m.size.BodyTop
	if m.page != nil || m.typing || msg.Button != tea.MouseLeft || msg.Y < m.size.BodyTop || msg.Y >= m.size.BodyTop+m.size.Body {
		return
	}
	if at < len(m.rows) && m.selectable(at) {
		m.list.Cursor = at
	}
}
