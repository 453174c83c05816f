package widget

import "github.com/kubectl-operator/kubectl-operator/tui/theme"

// Pager is a window onto a document. Only visible lines are painted.
type Pager struct {
	Lines []Line
	Top   int  // first visible line
	Left  int  // cells scrolled to the right
	Found Find // marks what is searched for; nil for nothing
}

// Scroll moves the window by lines, within a window of height lines.
func (p *Pager) Scroll(delta, height int) {
	p.Top = max(0, min(p.Top+delta, len(p.Lines)-height))
}

// Sideways moves the window by cells.
func (p *Pager) Sideways(delta int) { p.Left = max(0, p.Left+delta) }

// Show makes a line visible, with a little context above it.
func (p *Pager) Show(line, height int) {
	if line < p.Top || line >= p.Top+height {
		p.Top = line - height/3
	}
	p.Scroll(0, height)
}

// Paint draws width × height cells. mark, when not negative, is the line to
// show as selected.
func (p *Pager) Paint(t theme.Theme, width, height, mark int) []string {
	out := make([]string, height)
	for i := range out {
		at := p.Top + i
		switch {
		case at >= len(p.Lines):
			out[i] = Blank().Paint(t, width)
		case at == mark:
			out[i] = p.Lines[at].Find(p.Found).From(p.Left).PaintSelected(t, width)
		default:
			out[i] = p.Lines[at].Find(p.Found).From(p.Left).Paint(t, width)
		}
	}
	return out
}

// Below returns the number of lines below the window.
func (p *Pager) Below(height int) int { return max(0, len(p.Lines)-p.Top-height) }
