package follow

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// headLines is how many lines at the top of the body show the progress; the
// rest scrolls.
const headLines = 3

func (m *applyState) headHeight() int {
	if m.size.Mode == frame.ModeTiny {
		return 1
	}
	return headLines
}

func (m *followScreen) bodyHeight() int { return max(0, m.size.Body-m.headHeight()) }

// paneHeight returns how many lines of a pane scroll, which are those below its title.
func (m *followScreen) paneHeight() int { return max(0, m.bodyHeight()-1) }

// bodyTop returns the row of the first line that scrolls.
func (m *followScreen) bodyTop() int { return m.size.BodyTop + m.headHeight() }

// View draws the screen, and changes no state.
func (m *followScreen) View() tea.View {
	lines, cursor := m.lines()
	v := tea.NewView(strings.Join(lines, "\n"))
	v.AltScreen = true
	v.Cursor = cursor
	v.WindowTitle = "kubectl operator: " + frame.Clip(m.state()+" "+m.opts.Plan.Release.Name, 60)
	v.ProgressBar = m.progressBar()
	if !m.mouseOff {
		v.MouseMode = tea.MouseModeCellMotion
	}
	return v
}

// progressBar returns the progress for terminals that show it in their own bar.
func (m *applyState) progressBar() *tea.ProgressBar {
	if m.isOver() {
		return nil
	}
	t := m.tally()
	state := tea.ProgressBarDefault
	if t.failed > 0 {
		state = tea.ProgressBarError
	}
	return tea.NewProgressBar(state, widget.Percent(t.applied+t.ready, 2*t.total))
}

func (m *applyState) state() string {
	switch {
	case m.closed:
		return "ENDED"
	case m.result == nil && m.interrupt == Detach:
		return "DETACHING"
	case m.result == nil && m.interrupt != NoInterrupt:
		return "STOPPING"
	case m.result == nil:
		return "APPLYING"
	case m.timedOut():
		return timedOutText
	}
	if m.resumeRefused() {
		return "NOT RESUMED"
	}
	return stateOf(exitCode(m.result))
}

// resumeRefused reports whether this run was to resume an interrupted one, and
// was refused before it changed anything.
func (m *applyState) resumeRefused() bool {
	code := exitCode(m.result)
	return m.opts.Resumes && code != 0 && code != int(install.Failed) && code != int(install.Interrupted)
}

func exitCode(result *install.Event) int {
	if result == nil || result.ExitCode == nil {
		return 1
	}
	return *result.ExitCode
}

const (
	timedOutText   = "TIMED OUT"
	notAppliedText = "NOT APPLIED"
)

// stateOf returns the words for an exit code.
func stateOf(code int) string {
	switch code {
	case 0:
		return "DONE"
	case 3:
		return "FAILED"
	case 4:
		return "NOT FINISHED"
	}
	return notAppliedText
}

func (m *followScreen) lines() ([]string, *tea.Cursor) {
	f := frame.Frame{Theme: m.theme, Size: m.size, Plan: m.opts.Plan, State: m.state()}
	if m.size.Mode == frame.ModeNone {
		text := fmt.Sprintf("window too small (%dx%d), need %dx%d - %s", m.size.Width, m.size.Height, frame.MinWidth, frame.MinHeight, m.state())
		return []string{frame.Plain(text).Paint(m.theme, max(1, m.size.Width))}, nil
	}
	t := m.tally()
	f.Stats = fmt.Sprintf("%d%%", widget.Percent(t.applied+t.ready, 2*t.total))
	lines := append(f.Header(), f.Rule("", 0))
	if m.help != nil {
		page, below := m.help.Paint(m.theme, m.size)
		f.Below[0] = below
		return append(append(lines, page...), f.LowerRule(false), m.footer(f)), nil
	}
	lines = append(lines, m.headLines(t)...)
	body, cursor := m.body()
	f.Below[0] = m.below()
	lines = append(append(lines, body...), f.LowerRule(false))
	if m.search.typing {
		_, column := m.search.prompt()
		cursor = tea.NewCursor(min(column, m.size.Width-1), m.size.Height-1)
	}
	return append(lines, m.footer(f)), cursor
}

// headLines returns the lines that show the progress, and a warning about what
// is in the way of the apply.
func (m *applyState) headLines(t progress) []string {
	w, status := m.size.Width, m.statusLine()
	if m.size.Mode == frame.ModeTiny {
		if status == nil || m.canExtend() {
			status = m.stepLine(t)
		}
		return []string{status.Paint(m.theme, w)}
	}
	bar := append(frame.Plain(" "), widget.Bar(t.applied+t.ready, 2*t.total, min(w-2, 64))...)
	return []string{m.stepLine(t).Paint(m.theme, w), bar.Paint(m.theme, w), status.Paint(m.theme, w)}
}

// body returns the lines of the objects, or of the open pane, and the terminal's
// cursor. It is on the selected row, because screen readers read that line.
func (m *followScreen) body() ([]string, *tea.Cursor) {
	height := m.bodyHeight()
	if m.pane != paneRows {
		found := -1
		if m.search.active() {
			found = m.search.line
		}
		title := m.paneTitle().Paint(m.theme, m.size.Width)
		return append([]string{title}, m.pager.Paint(m.theme, m.size.Width, m.paneHeight(), found)...), nil
	}
	out := make([]string, height)
	var cursor *tea.Cursor
	for i := range out {
		at := m.list.Top + i
		switch {
		case at >= len(m.rows):
			out[i] = widget.Blank().Paint(m.theme, m.size.Width)
		case at == m.list.Cursor:
			marked := append(frame.Plain(" > "), m.rows[at].line.From(len(" > "))...)
			out[i] = marked.Find(m.search.find).PaintSelected(m.theme, m.size.Width)
			cursor = tea.NewCursor(1, m.bodyTop()+i)
			cursor.Blink = false
		default:
			out[i] = m.rows[at].line.Find(m.search.find).Paint(m.theme, m.size.Width)
		}
	}
	return out, cursor
}

// below returns how many lines are below the window.
func (m *followScreen) below() int {
	if m.pane != paneRows {
		return m.pager.Below(m.paneHeight())
	}
	return m.list.Below(len(m.rows), m.bodyHeight())
}

func (m *followScreen) footer(f frame.Frame) string {
	switch {
	case m.asking:
		k := m.keys
		return f.Footer([]key.Binding{k.StopObject, k.Detach, frame.WithHelp(k.AskStop, "stop now"), frame.WithHelp(k.Back, "go on")}, frame.Plain("stop what?"))
	case m.search.typing:
		prompt, _ := m.search.prompt()
		return prompt.Paint(m.theme, m.size.Width)
	case m.notice != "":
		return widget.Line{widget.Text(theme.Strong, " "+m.notice)}.Paint(m.theme, m.size.Width)
	}
	return f.Footer(m.footerKeys(), frame.Plain(m.footerText()))
}

// footerKeys returns the keys that work in the present state, most important first.
func (m *followScreen) footerKeys() []key.Binding {
	k := m.keys
	stop := []key.Binding{k.AskStop, frame.WithHelp(k.Detach, "detach…")}
	if m.isOver() {
		stop = []key.Binding{frame.WithHelp(k.Quit, "leave")}
	} else if m.interrupt != NoInterrupt {
		stop = []key.Binding{k.AskStop}
	}
	if m.isNearDeadline() || m.canExtend() {
		stop = append(stop, k.Longer)
	}
	if m.canReview() {
		stop = append(stop, frame.WithHelp(k.Replan, "review again"))
	}
	move := frame.WithHelp(k.Down, "move")
	switch {
	case m.help != nil:
		return append(frame.PageKeys(k.Back, k.Down, k.Up), stop...)
	case m.pane == paneEvents:
		return append(append([]key.Binding{k.Back}, stop...), k.Logs, k.Help, k.Search, move)
	case m.pane == paneLogs:
		return append(append([]key.Binding{k.Back}, stop...), k.Events, frame.WithHelp(k.Pause, "pause"), k.Help, k.Search)
	case m.isOver():
		return append(stop, move, k.Logs, k.Events, k.Help, k.FailedOnly, k.All)
	}
	return append(stop, k.Logs, k.Events, k.Help, k.FailedOnly, move)
}

func (m *followScreen) footerText() string {
	switch {
	case m.help != nil || m.pane != paneRows || m.isOver() || m.size.Mode == frame.ModeTiny:
		return ""
	case m.interrupt != NoInterrupt:
		return strings.ToLower(m.state()) + " …"
	}
	return "detach leaves it running"
}

// progress counts the objects of the plan by state.
type progress struct{ total, applied, ready, waiting, failed int }

func (m *applyState) tally() progress {
	t := progress{}
	for _, o := range m.objects {
		if o.action == "" {
			continue // not of this plan, such as a pod that logs
		}
		t.total++
		if o.written {
			t.applied++
		}
		switch o.state {
		case record.StateReady, record.StateRemoved:
			t.ready++
		case record.StateWaiting, record.StateRemoving, record.StateSent:
			t.waiting++
		case record.StateFailed, record.StateDiverged:
			t.failed++
		}
	}
	return t
}

// stepLine returns the line with the present stage, the numbers of objects, and
// the time.
func (m *applyState) stepLine(t progress) widget.Line {
	counts := fmt.Sprintf("applied %d/%d  ready %d  waiting %d  failed %d", t.applied, t.total, t.ready, t.waiting, t.failed)
	if removes(m.opts.Plan) {
		counts = fmt.Sprintf("deleted %d/%d  waiting %d  failed %d", t.ready, t.total, t.waiting, t.failed)
	}
	clock := "elapsed " + frame.RoundDuration(m.elapsed())
	if limit := m.limit(); limit > 0 {
		clock += "  limit " + frame.RoundDuration(limit)
	}
	step := " " + m.step()
	switch m.size.Mode {
	case frame.ModeTiny:
		return frame.Plain(step)
	case frame.ModeSingle:
		return widget.Spread(widget.Line{widget.Text(theme.Strong, step)}, frame.Plain("  "+m.shortCounts(t)+"  "+frame.RoundDuration(m.elapsed())+" "), m.size.Width)
	}
	return widget.Spread(widget.Line{widget.Text(theme.Strong, step)}, frame.Plain("   "+counts+"    "+clock+" "), m.size.Width)
}

// shortCounts returns the numbers of objects in few cells.
func (m *applyState) shortCounts(t progress) string {
	if removes(m.opts.Plan) {
		return fmt.Sprintf("%d/%d deleted, failed %d", t.ready, t.total, t.failed)
	}
	return fmt.Sprintf("%d/%d ready %d failed %d", t.applied, t.total, t.ready, t.failed)
}

func (m *applyState) step() string {
	if m.isOver() {
		return m.verdict()
	}
	stages, text := m.opts.Plan.Stages, m.stageText
	if m.waiting.Stage != "" {
		text = "waiting for " + m.waiting.Stage
	}
	for i := range stages {
		if stages[i].ID == m.stage {
			return strings.TrimSpace(fmt.Sprintf("step %d of %d  %s  %s", i+1, len(stages), m.stage, text))
		}
	}
	if m.stage != "" {
		return strings.TrimSpace(m.stage + "  " + m.stageText)
	}
	return "starting"
}

func (m *applyState) verdict() string {
	t := m.tally()
	switch code := exitCode(m.result); {
	case m.closed:
		return "the apply ended without a result"
	case code == 0 && removes(m.opts.Plan):
		return fmt.Sprintf("DONE  %d deleted in %s", t.ready, m.took())
	case code == 0 && t.applied == t.ready:
		return fmt.Sprintf("DONE  %d applied, all ready in %s", t.applied, m.took())
	case code == 0:
		return fmt.Sprintf("DONE  %d applied in %s", t.applied, m.took())
	case (code == 3 || code == 4) && removes(m.opts.Plan):
		return fmt.Sprintf("%s after %s: %d of %d not deleted", m.state(), frame.RoundDuration(m.elapsed()), t.total-t.ready, t.total)
	case code == 3 || code == 4:
		return fmt.Sprintf("%s after %s: %d of %d not ready", m.state(), frame.RoundDuration(m.elapsed()), t.total-t.ready, t.total)
	}
	if m.resumeRefused() {
		return "NOT RESUMED: what was applied before stays"
	}
	return notAppliedText + ": nothing was changed"
}
