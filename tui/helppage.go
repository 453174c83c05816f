package tui

import (
	"charm.land/bubbles/v2/key"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// openError shows an error whole, over the screen.
func (m *review) openError(title string, err error) {
	b := &builder{width: m.size.width}
	b.heading(title)
	b.blank()
	errorLines(b, err)
	m.page = &widget.Pager{Lines: b.lines}
}

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

// openPage shows a text over the screen.
func (m *review) openPage(title, text string) {
	b := &builder{width: m.size.width}
	b.heading(title)
	b.blank()
	b.text(theme.Plain, "   ", text)
	m.page = &widget.Pager{Lines: b.lines}
}
