package tui

import (
	"fmt"
	"regexp"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// search finds text in the list or document that has the focus. It is a plain
// substring, ignoring case while the query has no capital letter: a fuzzy
// match would hide that the exact string is absent. "re:" starts a regular
// expression.
type search struct {
	typing bool
	input  widget.Input
	match  func(string) bool
	line   int // document line of the last hit, -1 when none
}

func (s *search) open() { *s = search{typing: true, line: -1} }

func (s *search) active() bool { return s.match != nil }

// lineHit is the document line to show as found, -1 when there is none.
func (s *search) lineHit(b *browser) int {
	if s.match == nil || b.pane != paneDetail {
		return -1
	}
	return s.line
}

func (s *search) prompt() widget.Line {
	return widget.Line{widget.Text(theme.Key, " /"), widget.Text(theme.Plain, s.input.Value)}
}

func (s *search) column() int { return s.prompt().Width() }

// searchKey handles the keys while a query is typed.
func (m *review) searchKey(msg tea.KeyPressMsg) {
	s := &m.search
	switch {
	case key.Matches(msg, m.keys.Back):
		m.search = search{}
	case key.Matches(msg, m.keys.Open):
		match, err := matcher(s.input.Value)
		if err != nil {
			m.notice = err.Error()
			return
		}
		s.typing, s.match, s.line = false, match, -1
		if match == nil {
			m.search = search{}
			return
		}
		m.hit(1)
	case msg.Code == tea.KeyBackspace:
		s.input.Backspace()
	default:
		s.input.Type(msg.Text)
	}
}

// matcher compiles a query; it is nil for an empty one.
func matcher(query string) (func(string) bool, error) {
	if expr, ok := strings.CutPrefix(query, "re:"); ok {
		re, err := regexp.Compile(expr)
		if err != nil {
			return nil, fmt.Errorf("not a regular expression: %w", err)
		}
		return re.MatchString, nil
	}
	if query == "" {
		return nil, nil
	}
	if strings.ToLower(query) == query {
		return func(text string) bool { return strings.Contains(strings.ToLower(text), query) }, nil
	}
	return func(text string) bool { return strings.Contains(text, query) }, nil
}

// hit goes to the next or previous match, around the end.
func (m *review) hit(step int) {
	s, b := &m.search, m.browser()
	if s.match == nil {
		m.notice = "nothing searched for: / searches"
		return
	}
	n, from := len(b.rows), b.list.Cursor
	found := func(i int) bool { return b.rows[i].id != "" && s.match(b.rows[i].text) }
	if b.pane == paneDetail {
		n, from = len(b.pager.Lines), s.line
		found = func(i int) bool { return s.match(b.pager.Lines[i].Plain()) }
	}
	hits, at, rank := 0, -1, 0
	for i := range n {
		if found(i) {
			hits++
		}
	}
	for k := 1; k <= n && hits > 0; k++ {
		if i := ((from+step*k)%n + n) % n; found(i) {
			at = i
			break
		}
	}
	if at < 0 {
		m.notice = fmt.Sprintf("no match for %q", s.input.Value)
		return
	}
	for i := 0; i <= at; i++ {
		if found(i) {
			rank++
		}
	}
	m.notice = fmt.Sprintf("%q: hit %d of %d   ] next   [ previous   esc ends", s.input.Value, rank, hits)
	if b.pane == paneDetail {
		s.line = at
		b.pager.Show(at, m.paneHeight())
		return
	}
	b.list.Cursor = at
}
