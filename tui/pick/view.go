package pick

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// View draws the screen, and changes no state.
func (m *pickScreen) View() tea.View {
	lines, cursor := m.lines()
	v := tea.NewView(strings.Join(lines, "\n"))
	v.AltScreen, v.Cursor = true, cursor
	v.WindowTitle = "kubectl operator: " + frame.Clip(m.opts.Title, 60)
	if !m.mouseOff {
		v.MouseMode = tea.MouseModeCellMotion
	}
	return v
}

func (m *pickScreen) lines() ([]string, *tea.Cursor) {
	f := frame.Frame{Theme: m.theme, Size: m.size, Title: m.opts.Title, State: "CHOOSE"}
	leave := frame.WithHelp(m.keys.Stop, "cancel, nothing applied")
	switch {
	case m.size.Mode == frame.ModeNone:
		return []string{f.TooSmall()}, nil
	case m.page != nil:
		body, below := m.page.Paint(m.theme, m.size)
		f.Below[0] = below
		return f.Stack(body, "", f.Footer(frame.PageKeys(m.keys.Back, m.keys.Down, m.keys.Up), nil)), nil
	case m.loading:
		f.State = "RESOLVE"
		body := m.log.Body(m.theme, m.size, " Opening the catalogs. Nothing has been changed.")
		return f.Stack(body, "", f.Footer([]key.Binding{leave}, nil)), nil
	}
	body, cursor := m.body()
	f.Below = m.below()
	tee := ""
	if m.split() {
		tee = "┬"
	}
	footer := f.Footer(m.footerKeys(), m.approvalNote())
	switch {
	case m.typing:
		prompt, column := m.input.Prompt(widget.Text(theme.Key, " /"))
		if m.notice != "" {
			prompt = append(prompt, widget.Text(theme.Caution, "   "+m.notice))
		}
		footer = prompt.Paint(m.theme, m.size.Width)
		cursor = tea.NewCursor(min(column, m.size.Width-1), m.size.Height-1)
	case m.notice != "":
		footer = widget.Line{widget.Text(theme.Strong, " "+m.notice)}.Paint(m.theme, m.size.Width)
	}
	return f.Stack(body, tee, footer), cursor
}

// below returns how many lines of each pane are below its window.
func (m *pickScreen) below() [2]int {
	height := m.paneHeight()
	list, detail := m.list.Below(len(m.shown), height), m.detail.list.Below(len(m.detail.rows), height)
	switch {
	case m.split():
		return [2]int{list, detail}
	case m.pane == frame.PaneDetail:
		return [2]int{detail}
	}
	return [2]int{list}
}

// approvalNote returns the note that a choice approves nothing, if there is
// room for it.
func (m *pickScreen) approvalNote() widget.Line {
	if m.size.Mode == frame.ModeTiny {
		return nil
	}
	return frame.Plain("a choice opens its review")
}

func (m *pickScreen) footerKeys() []key.Binding {
	k := m.keys
	switch {
	case m.pane == frame.PaneDetail:
		return []key.Binding{frame.WithHelp(k.Open, "review this one"), k.Back, k.Help, k.Quit, k.Search, frame.WithHelp(k.Down, "move")}
	case m.split():
		return []key.Binding{frame.WithHelp(k.Open, "choose a version"), k.Search, k.Help, k.Quit, frame.WithHelp(k.Down, "move")}
	}
	return []key.Binding{frame.WithHelp(k.Open, "versions"), k.Search, k.Help, k.Quit, frame.WithHelp(k.Down, "move")}
}

// body returns the lines of the head and, below it, of the list, the detail or
// both; and the terminal's cursor.
func (m *pickScreen) body() ([]string, *tea.Cursor) {
	var lines []string
	for _, line := range m.head() {
		lines = append(lines, line.Paint(m.theme, m.size.Width))
	}
	height := m.paneHeight()
	top, d := m.size.BodyTop+len(lines), &m.detail
	inDetail := m.pane == frame.PaneDetail
	var cursor *tea.Cursor
	switch {
	case inDetail && d.list.Cursor >= 0 && d.list.Cursor < len(d.rows):
		left := 1
		if m.split() {
			left += m.size.Left + 1
		}
		cursor = tea.NewCursor(left, top+d.list.Cursor-d.list.Top)
	case !inDetail && m.selected() >= 0:
		cursor = tea.NewCursor(1, top+m.list.Cursor-m.list.Top)
	}
	if cursor != nil {
		cursor.Blink = false
	}
	if !m.split() && inDetail {
		return append(lines, m.detailLines(m.size.Width, height)...), cursor
	}
	left := m.hitLines(m.size.Left, height)
	if !m.split() {
		return append(lines, left...), cursor
	}
	right := m.detailLines(m.size.Right, height)
	divider := m.theme.Paint(theme.Rule, "│")
	for i := range left {
		lines = append(lines, left[i]+divider+right[i])
	}
	return lines, cursor
}

// hitLines returns the visible rows of the list of packages.
func (m *pickScreen) hitLines(width, height int) []string {
	out := make([]string, height)
	for i := range out {
		at := m.list.Top + i
		switch {
		case at >= len(m.shown) && i == 0 && len(m.shown) == 0:
			out[i] = frame.Plain(" no package holds this: esc shows all").Paint(m.theme, width)
		case at >= len(m.shown):
			out[i] = widget.Blank().Paint(m.theme, width)
		default:
			selected := at == m.list.Cursor
			line := m.underCursor(selected, m.hitLine(m.hits[m.shown[at]], width-3).Find(m.find))
			out[i] = m.paint(line, selected && m.pane == frame.PaneList, width)
		}
	}
	return out
}

func (m *pickScreen) detailLines(width, height int) []string {
	out := make([]string, height)
	d := &m.detail
	for i := range out {
		at := d.list.Top + i
		switch {
		case at >= len(d.rows):
			out[i] = widget.Blank().Paint(m.theme, width)
		case !d.selectable(at):
			out[i] = d.rows[at].line.Paint(m.theme, width)
		default:
			selected := at == d.list.Cursor && m.pane == frame.PaneDetail
			line := d.rows[at].line
			if d.rows[at].offer != nil {
				line = m.underCursor(selected, line)
			}
			out[i] = m.paint(line, selected, width)
		}
	}
	return out
}

// underCursor returns a row with the cursor's mark before it, if it is selected.
func (m *pickScreen) underCursor(selected bool, line widget.Line) widget.Line {
	mark := "   "
	if selected {
		mark = " > "
	}
	return append(frame.Plain(mark), line...)
}

func (m *pickScreen) paint(line widget.Line, selected bool, width int) string {
	if selected {
		return line.PaintSelected(m.theme, width)
	}
	return line.Paint(m.theme, width)
}

// The cells of columns in the list of packages.
const (
	signCells    = 2
	numberCells  = 14
	channelCells = 14
	nameCells    = 34
)

// hitLine returns a package as a row: a sign if it is deprecated or cannot be
// installed, its name, the version that install would choose, and more if there
// is room.
func (m *pickScreen) hitLine(hit catalog.Hit, width int) widget.Line {
	sign, role := "", theme.Plain
	switch {
	case hit.Problem != "":
		sign, role = "x", theme.Fail
	case hit.Deprecated != "":
		sign, role = "!", theme.Caution
	}
	line := widget.Line{widget.Cell(role, sign, signCells)}
	if width < 64 {
		version := widget.Line{widget.Text(theme.Plain, "  "+textsafe.Clip(hit.Version, numberCells))}
		name := max(8, width-signCells-version.Width())
		return append(append(line, widget.Cell(theme.Plain, hit.Package, name)), version...)
	}
	return append(line,
		widget.Cell(theme.Plain, hit.Package, min(nameCells, width/3)), widget.Text(theme.Plain, "  "),
		widget.Cell(theme.Plain, hit.Version, numberCells), widget.Cell(theme.Plain, hit.DefaultChannel, channelCells), widget.Text(role, hit.Remark()))
}

// wheel scrolls the pane under the pointer.
func (m *pickScreen) wheel(msg tea.MouseWheelMsg) {
	if m.loading || m.size.Mode == frame.ModeNone {
		return
	}
	delta := frame.WheelLines
	if msg.Button == tea.MouseWheelUp {
		delta = -frame.WheelLines
	}
	switch {
	case m.page != nil:
		m.page.Wheel(msg, m.size)
	case m.pane == frame.PaneDetail || m.split() && msg.X > m.size.Left:
		m.detail.list.Move(delta, len(m.detail.rows), m.detail.selectable)
	default:
		m.list.Move(delta, len(m.shown), func(int) bool { return true })
	}
}

// click selects the row at the pointer, and chooses nothing.
func (m *pickScreen) click(msg tea.MouseClickMsg) {
	if m.loading || m.page != nil || m.size.Mode == frame.ModeNone || msg.Button != tea.MouseLeft {
		return
	}
	y := msg.Y - m.size.BodyTop - len(m.head())
	if y < 0 || y >= m.paneHeight() {
		return
	}
	if inList := m.split() && msg.X < m.size.Left || !m.split() && m.pane == frame.PaneList; inList {
		if at := m.list.Top + y; at < len(m.shown) {
			m.list.Cursor, m.pane = at, frame.PaneList
		}
		return
	}
	if at := m.detail.list.Top + y; at < len(m.detail.rows) && m.detail.selectable(at) {
		m.detail.list.Cursor, m.pane = at, frame.PaneDetail
	}
}
