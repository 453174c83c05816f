package follow

import (
	"fmt"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/review"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// key handles a key. No single key press stops an apply: the first asks what to stop.
func (m *followScreen) key(msg tea.KeyPressMsg) tea.Cmd {
	m.notice = ""
	k := m.keys
	switch {
	case m.size.Mode == frame.ModeNone && !m.asking && !m.isOver() && !key.Matches(msg, k.AskStop, k.Quit, k.Detach):
		return nil // nothing else can be seen
	case m.asking:
		return m.askKey(msg)
	case m.search.typing:
		return m.searchKey(msg)
	case m.help != nil:
		return m.helpKey(msg)
	case m.isOver():
		return m.doneKey(msg)
	case key.Matches(msg, k.AskStop, k.Quit, k.Detach):
		m.asking = true
	case key.Matches(msg, k.Longer):
		return m.extend()
	default:
		return m.lookKey(msg)
	}
	return nil
}

// doneKey handles the keys of the DONE screen.
func (m *followScreen) doneKey(msg tea.KeyPressMsg) tea.Cmd {
	k := m.keys
	switch {
	case key.Matches(msg, k.Quit, k.AskStop):
		return tea.Quit
	case key.Matches(msg, k.Suspend):
		return tea.Suspend
	case key.Matches(msg, k.Longer) && m.canExtend():
		m.again = true
		return tea.Quit
	case key.Matches(msg, k.Replan) && m.canReview():
		m.review = true
		return tea.Quit
	}
	return m.lookKey(msg)
}

// askKey handles the answer to the question what to stop.
func (m *followScreen) askKey(msg tea.KeyPressMsg) tea.Cmd {
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

// stop passes the user's request to stop to the apply. The screen goes on until
// the apply sends its result.
func (m *followScreen) stop(i Interrupt) tea.Cmd {
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

// lookKey handles the keys that change what is shown.
func (m *followScreen) lookKey(msg tea.KeyPressMsg) tea.Cmd {
	k := m.keys
	switch {
	case key.Matches(msg, k.Events):
		m.openPane(paneEvents)
	case key.Matches(msg, k.Logs):
		m.openPane(paneLogs)
	case key.Matches(msg, k.Back):
		m.back()
	case key.Matches(msg, k.Pause):
		m.pause(!m.paused)
	case m.pane == paneRows && key.Matches(msg, k.FailedOnly):
		m.failedOnly = !m.failedOnly
	case m.pane == paneRows && key.Matches(msg, k.All):
		m.all = !m.all
	case key.Matches(msg, k.Search):
		m.startSearch()
	case key.Matches(msg, k.NextHit):
		m.nextHit(1)
	case key.Matches(msg, k.PreviousHit):
		m.nextHit(-1)
	case key.Matches(msg, k.Copy):
		return m.copy(m.copyText())
	case key.Matches(msg, k.CopyCommand):
		return m.copy(review.Command(m.opts.Plan))
	case key.Matches(msg, k.Mouse):
		m.mouseOff = !m.mouseOff
		m.notice = frame.MouseNotice(m.mouseOff)
	case key.Matches(msg, k.Help):
		m.openHelp()
	default:
		m.moveKey(msg)
	}
	return nil
}

// moveKey handles the keys that move the cursor, or scroll a pane.
func (m *followScreen) moveKey(msg tea.KeyPressMsg) {
	k, height := m.keys, m.bodyHeight()
	switch {
	case key.Matches(msg, k.Up):
		m.move(-1)
	case key.Matches(msg, k.Down):
		m.move(1)
	case key.Matches(msg, k.PageUp):
		m.move(-height)
	case key.Matches(msg, k.PageDown):
		m.move(height)
	case key.Matches(msg, k.HalfUp):
		m.move(-height / 2)
	case key.Matches(msg, k.HalfDown):
		m.move(height / 2)
	case key.Matches(msg, k.Home, k.Top):
		m.move(-frame.Farther)
	case key.Matches(msg, k.End):
		m.move(frame.Farther)
	}
}

// move moves the cursor by delta rows, or scrolls the open pane, whose log then
// no longer follows its end until it is scrolled there again.
func (m *followScreen) move(delta int) {
	if m.pane == paneRows {
		m.list.Move(delta, len(m.rows), m.selectable)
		m.choose()
		return
	}
	m.pager.Scroll(delta, m.paneHeight())
	m.pause(m.pager.Top+m.paneHeight() < len(m.pager.Lines))
}

// back ends a search, else closes the pane and shows the objects.
func (m *followScreen) back() {
	switch {
	case m.search.active():
		m.search = followSearch{}
	case m.pane != paneRows:
		m.pane, m.paused = paneRows, false
	}
}

func (m *followScreen) helpKey(msg tea.KeyPressMsg) tea.Cmd {
	if key.Matches(msg, m.keys.AskStop) {
		m.help = nil
		return m.key(msg)
	}
	m.help = m.help.Key(m.keys, msg, m.size)
	return nil
}

// wheel scrolls by a step of the mouse wheel.
func (m *followScreen) wheel(msg tea.MouseWheelMsg) {
	delta := frame.WheelLines
	if msg.Button == tea.MouseWheelUp {
		delta = -frame.WheelLines
	}
	switch {
	case m.size.Mode == frame.ModeNone:
	case m.help != nil:
		m.help.Wheel(msg, m.size)
	default:
		m.move(delta)
	}
}

// click selects the row at the pointer. No click stops an apply.
func (m *followScreen) click(msg tea.MouseClickMsg) {
	if m.help != nil || m.pane != paneRows || m.size.Mode == frame.ModeNone || msg.Button != tea.MouseLeft {
		return
	}
	y := msg.Y - m.bodyTop()
	if i := m.list.Top + y; y >= 0 && y < m.bodyHeight() && i < len(m.rows) && m.selectable(i) {
		m.list.Cursor = i
		m.choose()
	}
}

// copyText returns the value of the row under the cursor, which the key y copies.
func (m *followScreen) copyText() string {
	switch {
	case m.pane != paneRows && m.whole:
		return m.failure
	case m.pane != paneRows:
		return frame.ObjectName(m.about)
	}
	return m.row().copy
}

func (m *followScreen) copy(text string) tea.Cmd {
	notice, cmd := frame.CopyText(text)
	m.notice = notice
	return cmd
}

// followSearch is a search in the rows, or in the open pane. It ends when the
// pane is opened or closed.
type followSearch struct {
	typing bool
	input  widget.Query
	find   widget.Find // nil while nothing is searched for
	line   int         // of the pane, the last hit's; -1 when there is none
}

func (s *followSearch) active() bool { return s.find != nil }

func (s *followSearch) prompt() (widget.Line, int) {
	return s.input.Prompt(widget.Text(theme.Key, " /"))
}

func (m *followScreen) startSearch() {
	m.search = followSearch{typing: true, input: widget.NewQuery(), line: -1}
}

// searchKey handles the keys while a query is typed; ctrl+c still asks what to stop.
func (m *followScreen) searchKey(msg tea.KeyPressMsg) tea.Cmd {
	s := &m.search
	switch {
	case key.Matches(msg, m.keys.AskStop):
		m.search = followSearch{line: -1}
		return m.key(msg)
	case key.Matches(msg, m.keys.Back):
		m.search = followSearch{line: -1}
	case key.Matches(msg, m.keys.Open):
		find, err := frame.Finder(s.input.Value())
		if err != nil {
			m.notice = err.Error()
			return nil
		}
		s.typing, s.find, s.line = false, find, -1
		m.nextHit(0)
	default:
		s.input.Update(msg)
	}
	return nil
}

// nextHit goes to the next line (step 1) or the previous one (-1) that the search
// finds, and from one end on at the other; step 0 is the first from the cursor on.
func (m *followScreen) nextHit(step int) {
	if !m.search.active() {
		return
	}
	n, from := len(m.rows), m.list.Cursor
	line := func(i int) widget.Line { return m.rows[i].line }
	if m.pane != paneRows {
		n, from = len(m.pager.Lines), max(m.search.line, m.pager.Top)
		line = func(i int) widget.Line { return m.pager.Lines[i] }
	}
	hits, at := 0, -1
	for i := range n {
		if len(m.search.find(line(i).Plain())) > 0 && (m.pane != paneRows || m.selectable(i)) {
			hits++
		}
	}
	for k := range n {
		i := from + k
		if step != 0 {
			i = from + step*(k+1)
		}
		if i = ((i % n) + n) % n; len(m.search.find(line(i).Plain())) > 0 && (m.pane != paneRows || m.selectable(i)) {
			at = i
			break
		}
	}
	m.notice = fmt.Sprintf("%q: %s   ] next   [ previous   esc ends", m.search.input.Value(), preview.Plural(hits, "line"))
	switch {
	case at < 0:
		m.notice = fmt.Sprintf("no match for %q here", m.search.input.Value())
	case m.pane == paneRows:
		m.list.Cursor = at
		m.choose()
	default:
		m.search.line = at
		m.pause(true) // what was found stays where it is
		m.pager.Show(at, m.paneHeight())
	}
}

// openHelp shows the keys of this screen, and what its signs mean.
func (m *followScreen) openHelp() {
	b := &frame.Builder{Width: m.size.Width}
	frame.HelpGroup(b, "This screen", m.footerKeys())
	for _, g := range m.keys.FollowHelp() {
		frame.HelpGroup(b, g.Title, g.Keys)
	}
	b.Heading("Stopping")
	b.Text(theme.Plain, "   ", "Nothing is stopped by one key: ctrl+c, d and q ask first. What was applied stays applied, and the same plan digest resumes it.")
	b.Heading("Objects")
	for _, s := range []struct {
		state record.ObjectState
		means string
	}{
		{record.StateReady, "applied, ready or removed"}, {record.StateWaiting, "under way: not ready yet"}, {record.StateFailed, "failed, or not what was reviewed"},
		{record.StateRemoving, "being removed"}, {record.StatePending, "not applied"},
	} {
		sign, role := stateSign(s.state)
		b.Add(widget.Line{widget.Text(theme.Plain, "   "), widget.Cell(role, sign, 6), widget.Text(theme.Plain, s.means)})
	}
	b.Add(widget.Line{widget.Text(theme.Plain, "   "), widget.Cell(theme.Old, "as of", 6), widget.Text(theme.Plain, "how it was when the cluster last answered")})
	m.help = frame.NewPage(b)
}
