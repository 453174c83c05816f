package review

import (
	"fmt"
	"strconv"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
	"github.com/kubectl-operator/kubectl-operator/tui/diffview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// View draws the screen, and changes no state.
func (m *review) View() tea.View {
	lines, cursor := m.lines()
	v := tea.NewView(strings.Join(lines, "\n"))
	v.AltScreen = true
	v.WindowTitle = m.windowTitle()
	v.Cursor = cursor
	// Off on CONFIRM: digests can be selected there, and no click approves.
	if m.screen == screenReview && !m.mouseOff {
		v.MouseMode = tea.MouseModeCellMotion
	}
	return v
}

func (m *review) windowTitle() string {
	if m.Plan == nil {
		return "kubectl operator: " + frame.Clip(m.opts.Title, 60)
	}
	return "kubectl operator: " + frame.Clip(m.Plan.Request.Action+" "+m.Plan.Release.Name, 60)
}

func (m *review) frame() frame.Frame {
	f := frame.Frame{Theme: m.Theme, Size: m.Size, Title: m.opts.Title, Plan: m.Plan, Sealed: m.sealed, Now: m.opts.Now(), State: m.state(), Stale: m.StaleText(), Blind: m.watch.err != nil}
	if m.Checklist != nil {
		f.Stats = m.Checklist.Stats()
	}
	return f
}

func (m *review) state() string {
	switch m.screen {
	case screenResolve:
		return "RESOLVE"
	case screenConfirm:
		return "CONFIRM"
	}
	if b := m.activeTab(); m.tab == tabs.Findings && b.pane == frame.PaneDetail && !m.split() {
		if b.selected().ID == tabs.QuestionsID {
			return "NOT CHECKED"
		}
		return "FINDING " + b.selected().ID
	}
	switch {
	case m.Stale():
		return "STALE"
	case m.opts.ReadOnly:
		return "PREVIEW"
	}
	return "REVIEW"
}

// lines returns all lines of the screen, and the terminal's cursor.
func (m *review) lines() ([]string, *tea.Cursor) {
	f := m.frame()
	switch {
	case m.Size.Mode == frame.ModeNone:
		return []string{f.TooSmall()}, nil
	case m.page != nil:
		body, below := m.page.Paint(m.Theme, m.Size)
		f.Below[0] = below
		return m.compose(f, body, "", f.Footer(frame.PageKeys(m.keys.Back, m.keys.Down, m.keys.Up), nil)), nil
	case m.screen == screenResolve:
		return m.compose(f, m.resolving.body(m.tabPanel.View), "", f.Footer(m.resolveKeys(), nil)), nil
	case m.screen == screenConfirm:
		return m.confirmLines(f)
	}
	body, cursor := m.listBody()
	f.Below = m.below()
	tee := ""
	if m.split() {
		tee = "┬"
	}
	footer := f.Footer(m.footerKeys(), m.approvalState())
	switch {
	case m.search.typing:
		prompt, column := m.search.prompt()
		footer = prompt.Paint(m.Theme, m.Size.Width)
		cursor = tea.NewCursor(min(column, m.Size.Width-1), m.Size.Height-1)
	case m.narrowing:
		footer, cursor = m.promptLine(m.onlyPrompt())
	case m.palette.Typing:
		footer, cursor = m.promptLine(m.palette.Prompt())
	case m.canI.typing && m.notice == "":
		prompt, column := m.canI.prompt()
		footer = append(prompt, m.canI.hint()...).Paint(m.Theme, m.Size.Width)
		cursor = tea.NewCursor(min(column, m.Size.Width-1), m.Size.Height-1)
	case m.notice != "":
		footer = widget.Line{widget.Text(theme.Strong, " "+m.notice)}.Paint(m.Theme, m.Size.Width)
	}
	return m.compose(f, body, tee, footer), cursor
}

// promptLine returns a field that is being typed into, in place of the footer,
// and the terminal's cursor in it.
func (m *review) promptLine(prompt widget.Line, column int) (string, *tea.Cursor) {
	return prompt.Paint(m.Theme, m.Size.Width), tea.NewCursor(min(column, m.Size.Width-1), m.Size.Height-1)
}

// compose returns the lines of the screen: header, tabs, body and footer.
func (m *review) compose(f frame.Frame, body []string, tee, footer string) []string {
	if m.screen == screenReview && m.Size.Mode != frame.ModeTiny && m.Plan != nil {
		bar, _ := m.tabBar()
		f.Tabs = bar.Paint(m.Theme, m.Size.Width)
	}
	return f.Stack(body, tee, footer)
}

// listBody returns the lines of the open tab, and the terminal's cursor.
func (m *tabPanel) listBody() ([]string, *tea.Cursor) {
	b, height := m.activeTab(), m.PaneHeight()
	var lines []string
	var cursor *tea.Cursor
	top := m.Size.BodyTop
	if banner := m.BannerText(); banner != "" {
		lines = append(lines, widget.Line{widget.Text(theme.Caution, " ! "+banner)}.Paint(m.Theme, m.Size.Width))
		top++
	}
	switch {
	case b.pane == frame.PaneList && b.selected().ID != "":
		cursor = tea.NewCursor(1, top+b.list.Cursor-b.list.Top)
		cursor.Blink = false
	case b.pane == frame.PaneDetail && b.sheet != nil:
		cursor = b.sheet.CursorAt(m.detailLeft(), top, m.Tiny())
	}
	if m.split() {
		left := m.listLines(b, m.Size.Left, height)
		right := b.paintDetail(m, m.Size.Right, height)
		divider := m.Theme.Paint(theme.Rule, "│")
		if b.pane == frame.PaneDetail {
			divider = m.Theme.Paint(theme.Key, "┃")
		}
		for i := range left {
			lines = append(lines, left[i]+divider+right[i])
		}
		return lines, cursor
	}
	if b.pane == frame.PaneDetail {
		return append(lines, b.paintDetail(m, m.Size.Width, height)...), cursor
	}
	return append(lines, m.listLines(b, m.Size.Width, height)...), cursor
}

// below returns how many lines of each pane are below its window.
func (m *tabPanel) below() [2]int {
	b, height := m.activeTab(), m.PaneHeight()
	list, detail := b.list.Below(len(b.rows), height), b.below(height, m.Tiny())
	switch {
	case m.split():
		return [2]int{list, detail}
	case b.pane == frame.PaneDetail:
		return [2]int{detail}
	}
	return [2]int{list}
}

// listLines returns the visible rows, with the cursor's mark before the selected one.
func (m *tabPanel) listLines(b *masterDetail, width, height int) []string {
	out := make([]string, height)
	for i := range out {
		at := b.list.Top + i
		switch {
		case at >= len(b.rows):
			out[i] = widget.Blank().Paint(m.Theme, width)
		case at == b.list.Cursor && b.rows[at].ID != "" && b.pane == frame.PaneList:
			out[i] = m.withMark(">", b.rows[at], width).PaintSelected(m.Theme, width)
		case at == b.list.Cursor && b.rows[at].ID != "":
			out[i] = m.withMark(">", b.rows[at], width).Paint(m.Theme, width)
		default:
			out[i] = m.withMark(" ", b.rows[at], width).Paint(m.Theme, width)
		}
	}
	full := m.fullRow(b, width, height-min(height, max(0, len(b.rows)-b.list.Top))-1)
	for i, line := range full {
		out[height-len(full)+i] = line.Paint(m.Theme, width)
	}
	return out
}

// wholeRow is a width, in cells, that is larger than any row needs.
const wholeRow = 1 << 12

// blanks matches the blanks between two columns.
var blanks = lazyregexp.New(`  +`)

// fullRow returns the selected row without cuts, in the free lines below a
// list. It is nil if the row is not cut, or does not fit there.
func (m *tabPanel) fullRow(b *masterDetail, width, free int) []widget.Line {
	r := b.selected()
	if r.ID == "" || free < 1 || m.Tiny() {
		return nil
	}
	cut, whole := r.Line(width-len(" > ")), r.Line(wholeRow)
	if cut.Width() <= width-len(" > ") && strings.Count(cut.Plain(), "…") <= strings.Count(whole.Plain(), "…") {
		return nil
	}
	lines := widget.Wrap(theme.Plain, strings.TrimSpace(blanks.ReplaceAllString(whole.Plain(), "  ")), width-1, "   ")
	if len(lines) > free {
		return nil
	}
	return lines
}

// withMark returns a row with the cursor's mark before it. Headings are further left.
func (m *tabPanel) withMark(mark string, r tabs.Row, width int) widget.Line {
	prefix := " " + mark + " "
	if r.ID == "" {
		prefix = " "
	}
	if m.Size.Mode == frame.ModeTiny {
		prefix = " " + mark
	}
	moved := ""
	if m.Moved[r.Object] != "" {
		moved = movedMark
	}
	line := r.Line(width - len(prefix) - len(moved))
	if r.ID != "" {
		line = line.Find(m.search.find)
	}
	line = append(frame.Plain(prefix), line...)
	if moved == "" {
		return line
	}
	return widget.Spread(line, widget.Line{widget.Text(theme.Caution, moved)}, width)
}

// movedMark is shown at the end of a row whose live object has changed meanwhile.
const movedMark = " moved"

// approvalState says what the user still has to do for an approval.
func (m *review) approvalState() widget.Line {
	left := m.Checklist.Remaining()
	switch {
	case m.opts.ReadOnly:
		return frame.Plain("read only")
	case hasObstacles(m.Plan) && m.Size.Mode == frame.ModeTiny:
		return widget.Line{widget.Text(theme.Fail, "x cannot be applied")}
	case hasObstacles(m.Plan):
		return widget.Line{widget.Text(theme.Fail, "x cannot be applied (a: why)")}
	case m.Size.Mode == frame.ModeTiny:
		return frame.Plain(strconv.Itoa(left) + " to review")
	case left > 0 && m.Size.Mode == frame.ModeSingle:
		return widget.Line{widget.Text(theme.Risk, fmt.Sprintf("approve: %d left (n)", left))}
	case left > 0:
		return widget.Line{widget.Text(theme.Risk, "approve: "+m.Checklist.RemainingText()+" to review (n)")}
	}
	if m.gate.why != nil {
		return widget.Line{widget.Text(theme.Fail, "x cannot be approved (a: why)")}
	}
	return widget.Line{widget.Text(theme.Strong, "approve: press a")}
}

// footerKeys returns the keys for what is on the screen, the most useful first.
func (m *tabPanel) footerKeys() []key.Binding {
	if m.opts.Settle != nil && m.Size.Mode != frame.ModeTiny && len(m.contestedObjects()) > 0 {
		return append([]key.Binding{frame.WithHelp(m.keys.Take, "take"), frame.WithHelp(m.keys.Leave, "leave")}, m.placeKeys()...)
	}
	if m.choosable() && m.Size.Mode != frame.ModeTiny {
		does := "plan with it"
		if m.activeTab().selected().ID == tabs.SettingBack {
			does = "plan without it"
		}
		return append([]key.Binding{frame.WithHelp(m.keys.Open, does)}, m.placeKeys()[1:]...)
	}
	return m.placeKeys()
}

// placeKeys returns the keys of the open tab and pane, for the footer.
func (m *tabPanel) placeKeys() []key.Binding {
	k, b := m.keys, m.activeTab()
	switch {
	case m.Size.Mode == frame.ModeTiny:
		return m.tinyKeys()
	case b.pane == frame.PaneDetail && b.sheet != nil:
		return sheetKeys(k, b.sheet)
	case m.tab == tabs.Findings && m.split():
		return []key.Binding{frame.WithHelp(k.Mark, "mark"), k.Next, k.YAML, k.Diff, frame.WithHelp(k.NextPane, "pane"), k.Search, k.Help}
	case m.tab == tabs.Findings && b.pane == frame.PaneDetail:
		return []key.Binding{frame.WithHelp(k.Mark, "mark"), frame.WithHelp(k.Next, "next"), k.YAML, k.Diff, k.Back, k.Help}
	case m.tab == tabs.Files && b.pane == frame.PaneDetail:
		return []key.Binding{k.Back, k.Diff, frame.WithHelp(k.Down, "scroll"), k.Search, k.Copy, k.Help}
	case m.tab == tabs.Files:
		return []key.Binding{k.Open, k.Diff, k.Explain, frame.WithHelp(k.Down, "move"), k.Search, k.Copy, k.Help}
	case b.pane == frame.PaneDetail:
		return []key.Binding{k.Back, k.YAML, k.Diff, frame.WithHelp(k.Down, "scroll"), k.Search, k.Copy, k.Help}
	case m.tab == tabs.Access:
		return []key.Binding{k.Open, k.Explain, k.CanI, k.Group, k.Filter, k.Search, k.Help}
	case m.tab == tabs.Objects, m.tab == tabs.Diff:
		return []key.Binding{k.Open, k.YAML, k.Diff, k.Filter, k.Search, k.Copy, k.Help}
	case m.tab == tabs.Source:
		return []key.Binding{k.Copy, frame.WithHelp(k.CopyCommand, "copy command"), frame.WithHelp(k.Down, "move"), k.Search, k.Help, k.Quit}
	}
	return []key.Binding{k.Open, frame.WithHelp(k.Next, "next finding"), k.Search, k.Copy, k.Help, k.Quit}
}

// tinyKeys returns the keys for the footer of the smallest layout, which has
// room for few.
func (m *tabPanel) tinyKeys() []key.Binding {
	k, b := m.keys, m.activeTab()
	switch {
	case b.pane == frame.PaneDetail && b.sheet != nil && b.sheet.Kind == diffview.Diff:
		return []key.Binding{k.Back, k.NextHit, k.PreviousHit, k.Search, k.Help}
	case b.pane == frame.PaneDetail && m.tab == tabs.Findings:
		return []key.Binding{k.Back, k.Mark, k.Next, k.Help}
	case b.pane == frame.PaneDetail:
		return []key.Binding{k.Back, k.Search, k.Help, k.Quit}
	}
	return []key.Binding{k.Open, k.Next, k.Search, k.Help, k.Quit}
}
