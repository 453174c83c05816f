package follow

import (
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// openHelp shows the keys of this screen, then what the symbols mean.
func (m *follow) openHelp() {
	b := &frame.Builder{Width: m.size.Width}
	frame.HelpGroup(b, "This screen", m.footerKeys())
	for _, g := range m.keys.FollowHelp() {
		frame.HelpGroup(b, g.Title, g.Keys)
	}
	b.Heading("Stopping")
	b.Text(theme.Plain, "   ", "Nothing is stopped by one key: ctrl+c, d and q ask first. What was applied stays applied, and the same plan digest goes on where it was left.")
	b.Heading("Symbols")
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
	m.help = &widget.Pager{Lines: b.Lines}
}
