package frame

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// HelpGroup adds a heading and the keys below it.
func HelpGroup(b *Builder, title string, keys []key.Binding) {
	b.Heading(title)
	for _, k := range keys {
		b.Add(widget.Line{widget.Text(theme.Plain, "   "), widget.Cell(theme.Key, k.Help().Key, 12), widget.Text(theme.Plain, k.Help().Desc)})
	}
}

// PageKey scrolls or closes what is over the screen, and returns what stays.
func PageKey(k KeyMap, page *widget.Pager, msg tea.KeyPressMsg, height int) *widget.Pager {
	switch {
	case key.Matches(msg, k.Back, k.Help, k.Quit):
		return nil
	case key.Matches(msg, k.Down):
		page.Scroll(1, height)
	case key.Matches(msg, k.Up):
		page.Scroll(-1, height)
	case key.Matches(msg, k.PageDown):
		page.Scroll(height, height)
	case key.Matches(msg, k.PageUp):
		page.Scroll(-height, height)
	case key.Matches(msg, k.HalfDown):
		page.Scroll(height/2, height)
	case key.Matches(msg, k.HalfUp):
		page.Scroll(-height/2, height)
	case key.Matches(msg, k.Home, k.Top):
		page.Scroll(-len(page.Lines), height)
	case key.Matches(msg, k.End):
		page.Scroll(len(page.Lines), height)
	}
	return page
}
