package frame

import (
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/viewport"
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// HelpGroup appends a heading and, below it, keys with their descriptions.
func HelpGroup(b *Builder, title string, keys []key.Binding) {
	b.Heading(title)
	for _, k := range keys {
		b.Add(widget.Line{widget.Text(theme.Plain, "   "), widget.Cell(theme.Key, k.Help().Key, 12), widget.Text(theme.Plain, k.Help().Desc)})
	}
}

// Page is a text that covers the screen: keys, a rule's page, or an error. Only
// its size and position are kept in a viewport; its lines are painted by a theme.
type Page struct {
	Lines []widget.Line
	view  viewport.Model
}

// NewPage returns a page with the lines of a builder, at its top. It can be
// scrolled before it is painted.
func NewPage(b *Builder) *Page {
	p := &Page{Lines: b.Lines, view: viewport.New()}
	p.view.SetContentLines(make([]string, len(b.Lines)))
	return p
}

// Key scrolls the page, or closes it: then it returns nil.
func (p *Page) Key(k KeyMap, msg tea.KeyPressMsg, size Layout) *Page {
	p.fit(size)
	switch {
	case key.Matches(msg, k.Back, k.Help, k.Quit):
		return nil
	case key.Matches(msg, k.Home, k.Top):
		p.view.GotoTop()
	case key.Matches(msg, k.End):
		p.view.GotoBottom()
	default:
		p.view.KeyMap = viewport.KeyMap{Down: k.Down, Up: k.Up, PageDown: k.PageDown, PageUp: k.PageUp, HalfPageDown: k.HalfDown, HalfPageUp: k.HalfUp}
		p.view, _ = p.view.Update(msg)
	}
	return p
}

// Wheel scrolls the page by a step of the mouse wheel.
func (p *Page) Wheel(msg tea.MouseWheelMsg, size Layout) {
	p.fit(size)
	p.view.MouseWheelDelta = WheelLines
	p.view, _ = p.view.Update(msg)
}

// Paint returns the page's visible lines, and how many lines are below them.
func (p *Page) Paint(t theme.Theme, size Layout) (lines []string, below int) {
	p.fit(size)
	painted := make([]string, len(p.Lines))
	for i, line := range p.Lines {
		painted[i] = line.Paint(t, size.Width)
	}
	p.view.SetContentLines(painted)
	return strings.Split(p.view.View(), "\n"), max(0, len(p.Lines)-p.view.YOffset()-size.Body)
}

func (p *Page) fit(size Layout) {
	p.view.SetWidth(size.Width)
	p.view.SetHeight(size.Body)
}
