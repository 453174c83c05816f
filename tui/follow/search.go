package follow

import (
	"fmt"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// followSearch is a search in what is open: the rows, or a pane. It lives as
// long as that is.
type followSearch struct {
	typing bool
	input  widget.Query
	find   widget.Find // nil while nothing is searched for
	line   int         // of the pane, that of the last hit; -1 when there is none
}

func (s *followSearch) active() bool { return s.find != nil }

func (s *followSearch) prompt() (widget.Line, int) {
	return s.input.Prompt(widget.Text(theme.Key, " /"))
}

func (m *follow) startSearch() {
	m.search = followSearch{typing: true, input: widget.NewQuery(), line: -1}
}

// searchKey takes the query. ctrl+c is no part of it.
func (m *follow) searchKey(msg tea.KeyPressMsg) tea.Cmd {
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

// nextHit goes to the next line that is found in a direction, around the end; 0
// is the first from here on. Lines are those of this moment.
func (m *follow) nextHit(step int) {
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
