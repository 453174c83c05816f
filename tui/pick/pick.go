package pick

import (
	"context"
	"errors"
	"slices"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// Options configure the screen for choosing a package.
type Options struct {
	frame.Terminal

	// Title says what the choice is for, such as "install".
	Title string
	// Asked is the version and channel of the command line, such as "--channel
	// beta"; empty when it names neither.
	Asked string
	// Unknown is the name that was asked for and that no package has; empty when none
	// was. The list begins with what a search for it finds, or at Nearest, the package
	// of the most similar name, where that finds nothing.
	Unknown, Nearest string
	// Load lists the packages of the catalogs by name. It calls progress, from
	// one goroutine, with lines for the person waiting, and stops when ctx ends.
	// A hit without a package is a catalog that cannot be read.
	Load func(ctx context.Context, progress func(string)) ([]catalog.Hit, error)
	// Now is the clock; nil means the process's.
	Now func() time.Time
	// Package reads one of them whole, for its channels and versions.
	Package func(ctx context.Context, hit catalog.Hit) (*catalog.Package, error)
}

// Choice is the chosen package, with its channel and version.
type Choice struct {
	Hit *catalog.Hit // nil: left without a choice
	// Channel and Version are empty where the choice is left to the catalog, or
	// to what the command line says.
	Channel, Version string
}

// Run lets the user choose a package, and optionally its channel and version.
// Leaving without a choice is no error.
func Run(ctx context.Context, opts Options) (Choice, error) {
	if opts.Load == nil || opts.Package == nil {
		return Choice{}, errors.New("choosing a package: no way to read the catalogs")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	m := newScreen(ctx, opts)
	if err := frame.Run(ctx, m, opts.Terminal); err != nil {
		return Choice{}, err
	}
	return m.choice, m.err
}

// pickScreen is the bubbletea model of the screen that [Run] shows.
type pickScreen struct {
	ctx   context.Context
	opts  Options
	theme theme.Theme
	keys  frame.KeyMap
	size  frame.Layout

	loading  bool
	log      frame.ProgressLog
	hits     []catalog.Hit
	problems []string // catalogs that cannot be read
	catalogs int      // that packages are of
	at       map[string][]int

	shown  []int // positions of the hits that the search leaves
	list   widget.List
	typing bool
	input  widget.Query
	find   widget.Find
	notice string

	pane     frame.Pane
	detail   pickDetail
	reading  bool // a package is being read
	page     *frame.Page
	mouseOff bool

	choice Choice
	err    error
}

// The messages of a pick's own commands.
type (
	hitsMsg struct {
		hits []catalog.Hit
		err  error
	}
	packageMsg struct {
		at  int
		pkg *catalog.Package
		err error
	}
)

func newScreen(ctx context.Context, opts Options) *pickScreen {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	m := &pickScreen{
		ctx: ctx, opts: opts, theme: opts.Theme(), keys: frame.NewKeyMap(), loading: true, input: widget.NewQuery(), log: frame.NewProgressLog(opts.Now(), opts.NoMotion), detail: pickDetail{at: -1},
	}
	m.size = frame.Arrange(opts.Width, opts.Height, false)
	return m
}

// Init opens the catalogs.
func (m *pickScreen) Init() tea.Cmd {
	load, log, ctx := m.opts.Load, m.log, m.ctx
	return tea.Batch(func() tea.Msg {
		defer close(log.Done)
		hits, err := load(ctx, func(line string) { log.Send(ctx, line) })
		return hitsMsg{hits, err}
	}, m.awaitProgress())
}

// awaitProgress returns a command that waits for the next line of progress in
// reading the catalogs.
func (m *pickScreen) awaitProgress() tea.Cmd {
	return m.log.Wait(func(line string) tea.Msg { return frame.ProgressMsg{Line: line} })
}

// Update handles one message.
func (m *pickScreen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.size, m.page = frame.Arrange(msg.Width, msg.Height, false), nil
	case tea.KeyPressMsg:
		cmd = m.key(msg)
	case tea.PasteMsg:
		if m.typing {
			m.input.Update(msg)
			m.filter()
		}
	case tea.MouseWheelMsg:
		m.wheel(msg)
	case tea.MouseClickMsg:
		m.click(msg)
	case frame.ProgressMsg:
		m.log.Add(msg.Line, m.opts.Now())
		cmd = m.awaitProgress()
	case hitsMsg:
		cmd = m.setHits(msg)
	case packageMsg:
		m.reading = false
		if msg.at == m.selected() {
			m.detail = pickDetail{at: msg.at, pkg: msg.pkg, err: msg.err, read: true}
		}
	}
	m.settle()
	return m, tea.Batch(cmd, m.readPackage())
}

// setHits stores the packages that were read. An error ends the screen.
func (m *pickScreen) setHits(msg hitsMsg) tea.Cmd {
	if msg.err != nil {
		m.err = msg.err
		return tea.Quit
	}
	m.loading, m.at = false, map[string][]int{}
	references := map[string]bool{}
	for _, hit := range msg.hits {
		if hit.Package == "" {
			m.problems = append(m.problems, "catalog "+hit.Catalog.Reference+": "+hit.Problem)
			continue
		}
		references[hit.Catalog.Reference] = true
		m.at[hit.Package] = append(m.at[hit.Package], len(m.hits))
		m.hits = append(m.hits, hit)
	}
	m.catalogs = len(references)
	m.input.Set(m.opts.Unknown)
	m.filter()
	if len(m.shown) == 0 {
		m.input.Clear()
		m.filter()
		m.list.Cursor = max(0, slices.IndexFunc(m.hits, func(hit catalog.Hit) bool { return hit.Package == m.opts.Nearest }))
	}
	return nil
}

// selected returns the index, in hits, of the package under the cursor; -1 if
// there is none.
func (m *pickScreen) selected() int {
	if m.list.Cursor < 0 || m.list.Cursor >= len(m.shown) {
		return -1
	}
	return m.shown[m.list.Cursor]
}

// settle keeps cursors and windows within their rows, and makes the detail if
// another package is under the cursor.
func (m *pickScreen) settle() {
	if m.loading || m.size.Mode == frame.ModeNone {
		return
	}
	height := m.paneHeight()
	m.list.Settle(len(m.shown), height, func(int) bool { return true })
	at, width := m.selected(), m.detailWidth()
	if m.detail.at != at {
		m.detail = pickDetail{at: at}
	}
	if at >= 0 && m.detail.rows == nil || m.detail.width != width {
		m.detail.width = width
		m.detail.rows = m.offerRows(width)
	}
	first := firstOffer(m.detail.rows)
	m.detail.walk = first >= height
	m.detail.list.Settle(len(m.detail.rows), height, m.detail.selectable)
	if m.detail.list.Cursor == first && first < height {
		m.detail.list.Top = 0
	}
}

// readPackage returns the command that reads the versions of the package under
// the cursor, if they are shown. Only one read is under way, because a user can
// move through a list faster than packages can be read.
func (m *pickScreen) readPackage() tea.Cmd {
	at := m.selected()
	if m.loading || m.reading || at < 0 || m.detail.read || !m.detailVisible() {
		return nil
	}
	m.reading = true
	ctx, read, hit := m.ctx, m.opts.Package, m.hits[at]
	return func() tea.Msg {
		pkg, err := read(ctx, hit)
		return packageMsg{at, pkg, err}
	}
}

func (m *pickScreen) split() bool { return m.size.Mode == frame.ModeDouble }

func (m *pickScreen) detailVisible() bool { return m.split() || m.pane == frame.PaneDetail }

func (m *pickScreen) detailWidth() int {
	if m.split() {
		return m.size.Right
	}
	return m.size.Width
}

// paneHeight returns the height of list and detail, below the head of the screen.
func (m *pickScreen) paneHeight() int { return m.size.Body - len(m.head()) }

// key handles all keys. Nothing on this screen changes anything: leaving it in
// any way but by a choice is the same.
func (m *pickScreen) key(msg tea.KeyPressMsg) tea.Cmd {
	m.notice = ""
	k := m.keys
	switch {
	case key.Matches(msg, k.Stop):
		return tea.Quit
	case key.Matches(msg, k.Suspend):
		return tea.Suspend
	case m.page != nil:
		m.page = m.page.Key(k, msg, m.size)
		return nil
	case m.typing:
		m.searchKey(msg)
		return nil
	case key.Matches(msg, k.Quit):
		return tea.Quit
	case m.loading || m.size.Mode == frame.ModeNone:
		if key.Matches(msg, k.Back) {
			return tea.Quit
		}
		return nil
	case key.Matches(msg, k.Help):
		m.openHelp()
		return nil
	case key.Matches(msg, k.Mouse):
		m.mouseOff = !m.mouseOff
		m.notice = frame.MouseNotice(m.mouseOff)
		return nil
	case key.Matches(msg, k.Search):
		m.pane, m.typing = frame.PaneList, true
		return nil
	case m.pane == frame.PaneDetail:
		return m.detailKey(msg)
	}
	return m.listKey(msg)
}

func (m *pickScreen) listKey(msg tea.KeyPressMsg) tea.Cmd {
	k := m.keys
	switch {
	case key.Matches(msg, k.Back) && m.input.Value() != "":
		m.input.Clear()
		m.filter()
	case key.Matches(msg, k.Back):
		return tea.Quit
	case key.Matches(msg, k.Open, k.Right, k.NextPane):
		if m.selected() >= 0 {
			m.pane = frame.PaneDetail
		}
	default:
		frame.MoveList(k, &m.list, msg, len(m.shown), m.paneHeight(), func(int) bool { return true })
	}
	return nil
}

func (m *pickScreen) detailKey(msg tea.KeyPressMsg) tea.Cmd {
	k, d := m.keys, &m.detail
	switch {
	case key.Matches(msg, k.Back, k.Left, k.NextPane, k.PrevPane):
		m.pane = frame.PaneList
	case key.Matches(msg, k.Open):
		return m.choose()
	default:
		frame.MoveList(k, &d.list, msg, len(d.rows), m.paneHeight(), d.selectable)
	}
	return nil
}

// choose ends the screen with the channel and version under the cursor.
func (m *pickScreen) choose() tea.Cmd {
	d := &m.detail
	if d.list.Cursor < 0 || d.list.Cursor >= len(d.rows) || d.rows[d.list.Cursor].offer == nil {
		m.notice = "nothing to choose here"
		return nil
	}
	hit, offer := m.hits[d.at], d.rows[d.list.Cursor].offer
	m.choice = Choice{Hit: &hit, Channel: offer.channel, Version: offer.version}
	return tea.Quit
}
