package pick

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// searchKey handles the keys while a search is typed. The list follows each key.
func (m *pickScreen) searchKey(msg tea.KeyPressMsg) {
	k := m.keys
	switch {
	case key.Matches(msg, k.Back):
		m.typing = false
		m.input.Clear()
	case key.Matches(msg, k.Open):
		m.typing = false
		return
	case msg.Code == tea.KeyUp, msg.Code == tea.KeyDown:
		frame.MoveList(k, &m.list, msg, len(m.shown), m.paneHeight(), func(int) bool { return true })
		return
	default:
		m.input.Update(msg)
	}
	m.filter()
}

// filter lists the packages that the search finds: first those with the text in their
// name, then in their description, then, if there are several, in the name of their
// catalog. While a regular expression is incomplete, the list stays as it was.
func (m *pickScreen) filter() {
	find, err := frame.Finder(m.input.Value())
	if err != nil {
		m.notice = err.Error()
		return
	}
	m.find, m.list = find, widget.List{}
	m.shown = m.shown[:0]
	word := m.input.Value()
	simple := word == strings.ToLower(word) && !strings.HasPrefix(word, "re:") && frame.IsASCII(word)
	holds := func(text string) bool {
		if simple { // found out without noting where
			return frame.FoldIndex(text, word) >= 0
		}
		return len(find(text)) > 0
	}
	var described, within []int
	for i := range m.hits {
		switch hit := &m.hits[i]; {
		case find == nil || holds(hit.Package):
			m.shown = append(m.shown, i)
		case holds(hit.Terms):
			described = append(described, i)
		case m.catalogs > 1 && holds(hit.Catalog.Reference):
			within = append(within, i)
		}
	}
	m.shown = append(append(m.shown, described...), within...)
}

// head returns the lines that say what is listed, and which catalogs could not be read.
func (m *pickScreen) head() []widget.Line {
	text := preview.Plural(len(m.hits), "package")
	if m.catalogs > 1 {
		text += fmt.Sprintf(" of %d catalogs", m.catalogs)
	}
	if m.input.Value() != "" {
		text = fmt.Sprintf("%d of %s: %q", len(m.shown), text, m.input.Value())
	}
	lines := []widget.Line{{widget.Text(theme.Strong, " "+text)}}
	if m.opts.Unknown != "" {
		lines = append(lines, widget.Line{widget.Text(theme.Caution, fmt.Sprintf(" ! no package is called %q", m.opts.Unknown))})
	}
	for i, problem := range m.problems {
		if i == 2 && len(m.problems) > 3 {
			lines = append(lines, widget.Line{widget.Text(theme.Caution, fmt.Sprintf(" ! %d more catalogs cannot be read", len(m.problems)-i))})
			break
		}
		lines = append(lines, widget.Line{widget.Text(theme.Caution, " ! "+problem)})
	}
	return lines
}

// openHelp shows the keys and symbols of this screen.
func (m *pickScreen) openHelp() {
	k, b := m.keys, &frame.Builder{Width: m.size.Width}
	frame.HelpGroup(b, "Choose a package", []key.Binding{frame.WithHelp(k.Open, "its versions; there: review that one"), frame.WithHelp(k.Back, "back; in the list: leave"), frame.WithHelp(k.Search, "search names, descriptions, catalogs…; re: an expression"), k.NextPane})
	frame.HelpGroup(b, "Move", []key.Binding{k.Down, k.Up, k.Home, k.End, k.HalfDown, k.HalfUp, k.PageDown, k.PageUp})
	frame.HelpGroup(b, "Other", []key.Binding{k.Mouse, k.Help, k.Suspend, k.Quit, k.Stop})
	b.Heading("Signs")
	b.Add(widget.Line{widget.Text(theme.Caution, "   !   "), widget.Text(theme.Plain, "deprecated")})
	b.Add(widget.Line{widget.Text(theme.Fail, "   x   "), widget.Text(theme.Plain, "cannot be installed")})
	b.Blank()
	b.Text(theme.Plain, "   ", "A choice only opens the review: nothing is applied without an approval there.")
	m.page = frame.NewPage(b)
}
