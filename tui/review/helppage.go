package review

import (
	"charm.land/bubbles/v2/key"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// openError shows an error whole, over the screen.
func (m *review) openError(title string, err error) {
	b := &frame.Builder{Width: m.size.Width}
	b.Heading(title)
	b.Blank()
	frame.ErrorLines(b, err)
	m.page = &widget.Pager{Lines: b.Lines}
}

// openHelp shows the keys of this screen, then what the symbols mean.
func (m *review) openHelp() {
	b := &frame.Builder{Width: m.size.Width}
	if m.screen == screenConfirm {
		frame.HelpGroup(b, "This screen", m.confirmHelp())
	} else {
		frame.HelpGroup(b, "This screen", m.footerKeys())
		for _, g := range m.keys.ReviewHelp() {
			frame.HelpGroup(b, g.Title, g.Keys)
		}
	}
	b.Heading("Approving")
	b.Text(theme.Plain, "   ", "a opens the question once every finding under MUST LOOK was opened, its evidence seen and marked with n or space. Only the answer typed there approves.")
	b.Heading("Symbols")
	for _, s := range []preview.Severity{preview.Critical, preview.Warning, preview.NotKnown} {
		sign, role := frame.SeveritySign(s, false)
		b.Add(widget.Line{widget.Text(role, "   "+sign+"  "), widget.Text(theme.Plain, "  "+frame.SectionTitle(s))})
	}
	b.Add(frame.Plain("   ok    looked at"))
	for _, a := range preview.Actions() {
		b.Add(widget.Line{widget.Text(theme.Plain, "   "), widget.Cell(frame.ActionRole(a), a.Symbol(), 6), widget.Text(theme.Plain, string(a))})
	}
	m.page = &widget.Pager{Lines: b.Lines}
}

// confirmHelp are all keys of CONFIRM.
func (m *review) confirmHelp() []key.Binding {
	k := m.keys
	return []key.Binding{
		frame.As(k.Open, "approve, once the answer is typed"), frame.As(k.Back, "back to the review"), frame.As(k.Digests, "every digest in full, and back"),
		frame.Bind("up/down", "scroll what is above the question"), k.CopyDigest, k.Retry, frame.As(k.Events, "the whole error, where the check failed"), k.Help, k.Stop,
	}
}

// openPage shows a text over the screen.
func (m *review) openPage(title, text string) {
	b := &frame.Builder{Width: m.size.Width}
	b.Heading(title)
	b.Blank()
	b.Text(theme.Plain, "   ", text)
	m.page = &widget.Pager{Lines: b.Lines}
}
