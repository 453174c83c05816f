package tui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// openHelp shows the keys of this screen, then what the symbols mean.
func (m *review) openHelp() {
	b := &builder{width: m.size.width}
	if m.screen == screenConfirm {
		helpGroup(b, "This screen", m.confirmHelp())
	} else {
		helpGroup(b, "This screen", m.footerKeys())
		for _, g := range m.keys.review() {
			helpGroup(b, g.title, g.keys)
		}
	}
	b.heading("Approving")
	b.text(theme.Plain, "   ", "a opens the question once every finding under MUST LOOK was opened, its evidence seen and marked with n or space. Only the answer typed there approves.")
	b.heading("Symbols")
	for _, s := range []preview.Severity{preview.Critical, preview.Warning, preview.NotKnown} {
		sign, role := signOf(s, false)
		b.add(widget.Line{widget.Text(role, "   "+sign+"  "), widget.Text(theme.Plain, "  "+sectionTitle(s))})
	}
	b.add(plain("   ok    looked at"))
	for _, a := range preview.Actions() {
		b.add(widget.Line{widget.Text(theme.Plain, "   "), widget.Cell(actionRole(a), a.Symbol(), 6), widget.Text(theme.Plain, string(a))})
	}
	m.page = &widget.Pager{Lines: b.lines}
}

// confirmHelp are all keys of CONFIRM.
func (m *review) confirmHelp() []key.Binding {
	k := m.keys
	return []key.Binding{
		as(k.Open, "approve, once the answer is typed"), as(k.Back, "back to the review"), as(k.Digests, "every digest in full, and back"),
		bind("up/down", "scroll what is above the question"), k.CopyDigest, k.Retry, as(k.Events, "the whole error, where the check failed"), k.Help, k.Stop,
	}
}

func helpGroup(b *builder, title string, keys []key.Binding) {
	b.heading(title)
	for _, k := range keys {
		b.add(widget.Line{widget.Text(theme.Plain, "   "), widget.Cell(theme.Key, k.Help().Key, 12), widget.Text(theme.Plain, k.Help().Desc)})
	}
}

// openPage shows a text over the screen.
func (m *review) openPage(title, text string) {
	b := &builder{width: m.size.width}
	b.heading(title)
	b.blank()
	b.text(theme.Plain, "   ", text)
	m.page = &widget.Pager{Lines: b.lines}
}

// pageKey scrolls or closes what is over the screen, and returns what stays.
func pageKey(k keyMap, page *widget.Pager, msg tea.KeyPressMsg, height int) *widget.Pager {
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
