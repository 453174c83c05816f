package review

import (
	"cmp"
	"context"
	"fmt"
	"sort"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/tui/diffview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// search finds text in the rows of all tabs, in the details of rows (texts of findings,
// YAML and diffs of objects), and line by line in the document that has the focus. It
// looks for the exact text, ignoring case if the query has no capital letter: a fuzzy
// match would hide that the text is absent. "re:" begins a regular expression.
type search struct {
	typing bool
	input  widget.Query
	find   widget.Find // nil while nothing is searched for
	round  int         // answers to an earlier search are dropped

	hits []hit              // in the order of tabs, rows and lines
	in   scope              // what was searched
	line int                // document line of the last hit, -1 when none
	last hit                // that was gone to, the zero hit when none was
	stop context.CancelFunc // of the search that is being made, or was last
}

// hit is a row that a search found, or a line of the document that has the focus.
type hit struct {
	tab    tabs.Tab
	row    int
	line   int  // of the document, -1 for the row
	inside bool // not in the row itself, but in what it opens
}

// scope says what a search covered: which rows, and the document that had the
// focus in a tab, if one had.
type scope struct {
	rows     int // [tabPanel.rowsVersion]
	tab      tabs.Tab
	document pagerContent
}

func (s *search) active() bool { return s.find != nil }

// lineHit returns the line of the document to be shown as found, -1 if there is none.
func (s *search) lineHit(b *masterDetail) int {
	if s.find == nil || b.pane != frame.PaneDetail {
		return -1
	}
	return s.line
}

func (s *search) prompt() (widget.Line, int) { return s.input.Prompt(widget.Text(theme.Key, " /")) }

// startSearch opens the field for a query, and drops the hits of the last search.
func (m *tabPanel) startSearch() {
	m.search.end()
	m.openBranches()
	m.search.typing, m.search.input = true, widget.NewQuery()
}

// end ends the search, whose answers are dropped from now on.
func (s *search) end() {
	if s.stop != nil {
		s.stop()
	}
	*s = search{round: s.round + 1, line: -1, last: noHit}
}

// noHit is the value for no hit.
var noHit = hit{tab: -1}

// searchKey handles the keys while a query is typed.
func (m *tabPanel) searchKey(msg tea.KeyPressMsg) tea.Cmd {
	s := &m.search
	switch {
	case key.Matches(msg, m.keys.Back):
		s.end()
	case key.Matches(msg, m.keys.Open):
		find, err := frame.Finder(s.input.Value())
		if err != nil {
			m.notice = err.Error()
			return nil
		}
		if find == nil {
			s.end()
			return nil
		}
		s.typing, s.find, s.line = false, find, -1
		return m.findHits(0)
	default:
		s.input.Update(msg)
	}
	return nil
}

// searchedMsg is the message with the hits of a search.
type searchedMsg struct {
	round, step int
	hits        []hit
	in          scope
	// rest goes on inside of the rows, when these alone were searched; else nil.
	rest func() tea.Msg
	// shown is set when hits were found by the message before, and the first is shown.
	shown bool
}

// rowsSearchedFirst is how many rows a search may have that looks in what they open at
// once. The manifests behind more take seconds: their rows are searched first.
const rowsSearchedFirst = 5_000

// findHits returns the command that searches everything, and then goes to a hit: with
// step 0 to the first one from the cursor on, else to the next or previous one.
func (m *tabPanel) findHits(step int) tea.Cmd {
	m.notice = "searching …"
	m.search.round++
	if m.search.stop != nil {
		m.search.stop()
	}
	var ctx context.Context
	ctx, m.search.stop = context.WithCancel(m.ctx)
	s, b, open := m.search, m.activeTab(), m.tab
	in := scope{rows: m.rowsVersion(), tab: open}
	var document func() []int
	if b.pane == frame.PaneDetail {
		in.document = b.shown
		document = b.lookup(s.find)
	}
	at := b.list.Cursor
	count, rows := 0, [tabs.Count][]tabs.Row{}
	for _, t := range m.ShownTabs() {
		m.rebuildRows(t)
		rows[t] = m.tabs[t].rows
		count += len(rows[t])
	}
	look := func(inside bool) searchedMsg {
		msg := searchedMsg{round: s.round, step: step, in: in}
		for t := range tabs.Count {
			for i, r := range rows[t] {
				if ctx.Err() != nil {
					return msg // of an earlier round
				}
				if t == open && i == at && document != nil {
					for _, line := range document() {
						msg.hits = append(msg.hits, hit{tab: t, row: i, line: line})
					}
				} else if h := (hit{tab: t, row: i, line: -1}); found(s.find, r, inside, &h) {
					msg.hits = append(msg.hits, h)
				}
			}
		}
		return msg
	}
	if count <= rowsSearchedFirst {
		return func() tea.Msg { return look(true) }
	}
	return func() tea.Msg {
		msg := look(false)
		msg.rest = func() tea.Msg {
			whole := look(true)
			whole.shown = len(msg.hits) > 0
			return whole
		}
		return msg
	}
}

// found reports whether a row, or inside of it its detail, has a match, and notes in h
// which.
func found(find widget.Find, r tabs.Row, inside bool, h *hit) bool {
	if len(find(r.SearchText())) > 0 {
		return true
	}
	if inside && r.Inside != nil {
		for line := range strings.Lines(r.Inside()) {
			if len(find(strings.TrimSuffix(line, "\n"))) > 0 {
				h.inside = true
				return true
			}
		}
	}
	return false
}

// lookup returns a function, for use outside of Update, that returns the lines
// of the detail with a match.
func (b *masterDetail) lookup(find widget.Find) func() []int {
	n, text := len(b.pager.Lines), func(int) string { return "" }
	if b.sheet != nil && b.sheet.Comparison != nil {
		lines := b.sheet.Comparison.Lines
		n, text = len(lines), func(i int) string { return textsafe.Line(lines[i].Text) }
	} else if b.sheet == nil {
		lines := b.pager.Lines
		text = func(i int) string { return lines[i].Plain() }
	}
	return func() []int {
		var out []int
		for i := range n {
			if len(find(text(i))) > 0 {
				out = append(out, i)
			}
		}
		return out
	}
}

// setHits stores the hits, unless the search has ended or another one has begun, and
// goes to one of them. It returns the command that searches the rest, if there is one.
func (m *tabPanel) setHits(msg searchedMsg) tea.Cmd {
	s := &m.search
	if msg.round != s.round {
		return nil
	}
	s.hits, s.in = msg.hits, msg.in
	switch {
	case msg.shown: // the cursor stays where it went, or was led since
		m.noticeHit(sort.Search(len(s.hits), func(i int) bool { return !precedes(s.hits[i], s.last) }))
	case msg.rest != nil && len(s.hits) == 0:
	default:
		m.notice = ""
		m.goToHit(msg.step)
	}
	if msg.rest == nil {
		return nil
	}
	if len(s.hits) > 0 {
		m.notice += "   searching what rows open …"
	}
	return msg.rest
}

// nextHit goes to the next or previous hit. It searches again if rows or
// document have changed since the search.
func (m *tabPanel) nextHit(step int) tea.Cmd {
	s, b := &m.search, m.activeTab()
	searched := &m.tabs[s.in.tab]
	document := s.in.document != (pagerContent{})
	switch {
	case m.rowsVersion() != s.in.rows,
		document && (searched.shown != s.in.document || searched.selected().ID != s.in.document.id || searched.kind != s.in.document.kind),
		b.pane == frame.PaneDetail && (!document || m.tab != s.in.tab):
		return m.findHits(step)
	}
	m.goToHit(step)
	return nil
}

// goToHit goes to the next hit (step 1) or the previous one (-1), and from one
// end on at the other. Step 0 is the first one from the cursor on.
func (m *tabPanel) goToHit(step int) {
	s := &m.search
	if len(s.hits) == 0 {
		m.notice = fmt.Sprintf("no match for %q in any tab, text, YAML or diff%s", s.input.Value(), m.Filtered())
		return
	}
	here := m.position()
	n := len(s.hits)
	at := sort.Search(n, func(i int) bool { return !precedes(s.hits[i], here) })
	switch {
	case step > 0 && at < n && !precedes(here, s.hits[at]):
		at++
	case step < 0:
		at--
	}
	at = (at + n) % n
	m.showHit(s.hits[at])
	m.noticeHit(at)
}

// noticeHit says which of the hits is shown.
func (m *tabPanel) noticeHit(at int) {
	s := &m.search
	m.notice = fmt.Sprintf("%q: hit %d of %d%s   n next   N previous   esc ends", s.input.Value(), at+1, len(s.hits), m.hitsPerTab())
}

// position returns the row or line that has the cursor, as a hit.
func (m *tabPanel) position() hit {
	b, s := m.activeTab(), &m.search
	h := hit{tab: m.tab, row: b.list.Cursor, line: -1}
	if last := s.last; m.tab == last.tab && b.pane == frame.PaneList && b.list.Cursor == b.nearest(last.row) {
		return last // whose row need not be one that can be selected
	}
	if m.tab == s.in.tab && s.in.document != (pagerContent{}) {
		h.line = s.line
		if b.sheet != nil && !b.sheet.ShowsLine(h.line) {
			h.line = b.sheet.Line()
		}
	}
	return h
}

func precedes(a, b hit) bool {
	return cmp.Or(cmp.Compare(a.tab, b.tab), cmp.Compare(a.row, b.row), cmp.Compare(a.line, b.line)) < 0
}

// showHit opens the tab of a hit and goes to its line.
func (m *tabPanel) showHit(h hit) {
	m.tab, m.search.last = h.tab, h
	b := m.activeTab()
	b.list.Cursor = h.row
	switch {
	case h.inside:
		b.open(insideOf(h.tab))
		b.seek, m.search.line = m.search.find, -1
		return
	case h.line < 0:
		b.pane, b.kind, m.search.line = frame.PaneList, diffview.Facts, -1
		return
	}
	b.pane, m.search.line = frame.PaneDetail, h.line
	if b.sheet == nil {
		b.pager.Show(h.line, m.PaneHeight())
		return
	}
	m.paths = false
	b.sheet.SetForm(m.sheetForm(b))
	b.sheet.Reveal(h.line)
}

// insideOf returns which detail of a row (facts, YAML or diff) is opened, in
// that tab, to show a hit inside of it.
func insideOf(t tabs.Tab) diffview.Kind {
	switch t {
	case tabs.Objects:
		return diffview.YAML
	case tabs.Files:
		return diffview.Diff
	}
	return diffview.Facts
}

// hitsPerTab returns the number of hits in each tab, if several tabs have some.
func (m *tabPanel) hitsPerTab() string {
	var count [tabs.Count]int
	for _, h := range m.search.hits {
		count[h.tab]++
	}
	var parts []string
	for t, n := range count {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d in %s", n, m.table[t].Name))
		}
	}
	if len(parts) < 2 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}
