package widget

import "github.com/kubectl-operator/kubectl-operator/tui/theme"

// Pager is a document of lines and the window onto it. Only visible lines are painted.
type Pager struct {
	Lines []Line
	Top   int  // first visible line
	Left  int  // cells scrolled to the right
	Found Find // marks what is searched for; nil for nothing
}

// Scroll moves the window, of height lines, by delta lines, within the document.
func (p *Pager) Scroll(delta, height int) {
	p.Top = max(0, min(p.Top+delta, len(p.Lines)-height))
}

// Sideways moves the window to the right by delta cells.
func (p *Pager) Sideways(delta int) { p.Left = max(0, p.Left+delta) }

// Show scrolls to a line that is not visible, with a third of the window above it.
func (p *Pager) Show(line, height int) {
	if line < p.Top || line >= p.Top+height {
		p.Top = line - height/3
	}
	p.Scroll(0, height)
}

// Paint returns the visible lines in width × height cells. mark is the index of
// the line that is painted as selected, negative for none.
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
