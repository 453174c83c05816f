package home

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// View draws the screen. It changes nothing.
func (m *screen) View() tea.View {
	lines, cursor := m.lines()
	v := tea.NewView(strings.Join(lines, "\n"))
	v.AltScreen, v.Cursor = true, cursor
	v.WindowTitle = "kubectl operator"
	if !m.mouseOff {
		v.MouseMode = tea.MouseModeCellMotion
	}
	return v
}

func (m *screen) lines() ([]string, *tea.Cursor) {
	title := m.found.Cluster
	if m.withoutCluster() {
		title = "no cluster"
	}
	f := frame.Frame{Theme: m.theme, Size: m.size, Title: title, State: "RELEASES"}
	switch {
	case m.size.Mode == frame.ModeNone:
		return []string{f.TooSmall()}, nil
	case m.page != nil:
		body, below := m.page.Paint(m.theme, m.size)
		f.Below[0] = below
		return f.Stack(body, "", f.Footer(frame.PageKeys(m.keys.Back, m.keys.Down, m.keys.Up), nil)), nil
	}
	body, cursor := m.body()
	f.Below[0] = m.list.Below(len(m.rows), m.size.Body)
	footer := f.Footer(m.footerKeys(), m.commandNote())
	switch {
	case m.typing:
		prompt, column := m.input.Prompt(widget.Text(theme.Key, " review: "))
		if m.notice != "" {
			prompt = append(prompt, widget.Text(theme.Caution, "   "+m.notice))
		}
		footer = prompt.Paint(m.theme, m.size.Width)
		cursor = tea.NewCursor(min(column, m.size.Width-1), m.size.Height-1)
	case m.notice != "":
		footer = widget.Line{widget.Text(theme.Strong, " "+m.notice)}.Paint(m.theme, m.size.Width)
	}
	return f.Stack(body, "", footer), cursor
}

// commandNote is the command that enter runs, where there is room.
func (m *screen) commandNote() widget.Line {
	r := m.selected()
	if r == nil || m.size.Mode == frame.ModeTiny {
		return nil
	}
	return frame.Plain(frame.Clip(m.commandText(r.command), m.size.Width/2))
}

func (m *screen) footerKeys() []key.Binding {
	k := m.keys
	open := k.Open
	if r := m.selected(); r != nil && r.command != nil {
		open = frame.WithHelp(k.Open, "run")
	}
	return []key.Binding{open, k.Help, k.Quit, frame.WithHelp(k.Retry, "read again"), frame.WithHelp(k.Down, "move")}
}

// body draws the visible rows, and the place of the cursor.
func (m *screen) body() ([]string, *tea.Cursor) {
	out := make([]string, m.size.Body)
	var cursor *tea.Cursor
	for i := range out {
		at := m.list.Top + i
		switch {
		case at >= len(m.rows):
			out[i] = widget.Blank().Paint(m.theme, m.size.Width)
		case m.rows[at].id == "":
			out[i] = m.rows[at].line.Paint(m.theme, m.size.Width)
		case at == m.list.Cursor:
			out[i] = append(frame.Plain(" > "), m.rows[at].line...).PaintSelected(m.theme, m.size.Width)
			cursor = tea.NewCursor(1, m.size.BodyTop+i)
			cursor.Blink = false
		default:
			out[i] = append(frame.Plain("   "), m.rows[at].line...).Paint(m.theme, m.size.Width)
		}
	}
	return out, cursor
}

// openHelp shows the keys of this screen.
func (m *screen) openHelp() {
	k, b := m.keys, &frame.Builder{Width: m.size.Width}
	frame.HelpGroup(b, "Releases", []key.Binding{frame.WithHelp(k.Open, "the commands of a release; there: run that one"), frame.WithHelp(k.Back, "fold; else leave"), frame.WithHelp(k.Retry, "read the releases again")})
	frame.HelpGroup(b, "Move", []key.Binding{k.Down, k.Up, k.Home, k.End, k.HalfDown, k.HalfUp, k.PageDown, k.PageUp})
	frame.HelpGroup(b, "Other", []key.Binding{k.Mouse, k.Help, k.Suspend, k.Quit, frame.WithHelp(k.Stop, "leave")})
	b.Blank()
	b.Text(theme.Plain, "   ", "A choice runs a command, as if it were typed: what changes a cluster shows its review first, and asks.")
	b.Text(theme.Plain, "   ", "\"Available\" is what the catalog of a release had when it was read last; an upgrade reads it again.")
	b.Text(theme.Plain, "   ", "All commands: kubectl operator --help. The manual: kubectl operator help TOPIC.")
	m.page = frame.NewPage(b)
}
