package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// headLines of the body say how far the apply is; the rest scrolls.
const headLines = 3

func (m *follow) bodyHeight() int {
	if m.size.mode == modeTiny {
		return max(0, m.size.body-1)
	}
	return max(0, m.size.body-headLines)
}

// View draws the screen. It changes nothing.
func (m *follow) View() tea.View {
	v := tea.NewView(strings.Join(m.lines(), "\n"))
	v.AltScreen = true
	v.WindowTitle = "kubectl operator: " + clip(m.state()+" "+m.opts.Plan.Release.Name, 60)
	v.ProgressBar = m.progressBar()
	return v
}

// progressBar feeds terminals that show one of their own.
func (m *follow) progressBar() *tea.ProgressBar {
	if m.over() {
		return nil
	}
	t := m.tally()
	state := tea.ProgressBarDefault
	if t.failed > 0 {
		state = tea.ProgressBarError
	}
	return tea.NewProgressBar(state, widget.Percent(t.applied+t.ready, 2*t.total))
}

func (m *follow) state() string {
	switch {
	case m.closed:
		return "ENDED"
	case m.result == nil && m.interrupt == Detach:
		return "DETACHING"
	case m.result == nil && m.interrupt != NoInterrupt:
		return "STOPPING"
	case m.result == nil:
		return "APPLYING"
	}
	return stateOf(exitCode(m.result))
}

func exitCode(result *install.Event) int {
	if result == nil || result.ExitCode == nil {
		return 1
	}
	return *result.ExitCode
}

// stateOf words an exit code.
func stateOf(code int) string {
	switch code {
	case 0:
		return "DONE"
	case 3:
		return "FAILED"
	case 4:
		return "NOT FINISHED"
	}
	return "NOT APPLIED"
}

func (m *follow) lines() []string {
	f := frame{theme: m.theme, size: m.size, plan: m.opts.Plan, state: m.state()}
	if m.size.mode == modeNone {
		text := fmt.Sprintf("window too small (%dx%d), need %dx%d - %s", m.size.width, m.size.height, minWidth, minHeight, m.state())
		return []string{plain(text).Paint(m.theme, max(1, m.size.width))}
	}
	t := m.tally()
	f.stats = fmt.Sprintf("%d%%", widget.Percent(t.applied+t.ready, 2*t.total))
	w := m.size.width
	lines := append(f.header(), f.rule("", 0), m.stepLine(t).Paint(m.theme, w))
	if m.size.mode != modeTiny {
		bar := append(plain(" "), widget.Bar(t.applied+t.ready, 2*t.total, min(w-2, 64))...)
		lines = append(lines, bar.Paint(m.theme, w), widget.Blank().Paint(m.theme, w))
	}
	lines = append(lines, m.pager.Paint(m.theme, w, m.bodyHeight(), -1)...)
	return append(lines, f.rule("", 0), m.footer(f))
}

func (m *follow) footer(f frame) string {
	k := m.keys
	switch {
	case m.asking:
		return f.footer([]key.Binding{k.StopObject, k.Detach, as(k.AskStop, "stop now"), as(k.Back, "go on")}, plain("stop what?"))
	case m.over():
		return f.footer([]key.Binding{as(k.Quit, "leave"), as(k.Down, "move"), k.Logs, k.FailedOnly, k.All}, nil)
	case m.interrupt != NoInterrupt:
		return f.footer([]key.Binding{as(k.Down, "move"), k.Logs, k.AskStop}, plain(strings.ToLower(m.state())+" …"))
	case m.size.mode == modeTiny:
		return f.footer([]key.Binding{k.Down, k.Logs, k.FailedOnly, k.All, k.AskStop}, nil)
	}
	return f.footer([]key.Binding{as(k.Down, "move"), k.AskStop, as(k.Detach, "detach…"), k.Logs, k.FailedOnly, k.All, k.Pause}, plain("detach leaves it running"))
}

// progress counts where the plan's objects stand.
type progress struct{ total, applied, ready, waiting, failed int }

func (m *follow) tally() progress {
	t := progress{}
	for _, o := range m.objects {
		if o.action == "" {
			continue // not of this plan, such as a pod that logs
		}
		t.total++
		switch o.state {
		case install.StateReady, install.StateRemoved:
			t.applied, t.ready = t.applied+1, t.ready+1
		case install.StateWaiting, install.StateApplied, install.StateRemoving, install.StateDiverged:
			t.applied++
		}
		switch o.state {
		case install.StateWaiting, install.StateRemoving, install.StateSent:
			t.waiting++
		case install.StateFailed, install.StateDiverged:
			t.failed++
		}
	}
	return t
}

// stepLine is the one line that says it all.
func (m *follow) stepLine(t progress) widget.Line {
	counts := fmt.Sprintf("applied %d/%d  ready %d  waiting %d  failed %d", t.applied, t.total, t.ready, t.waiting, t.failed)
	clock := "elapsed " + round(m.elapsed())
	if m.opts.Limit > 0 {
		clock += "  limit " + round(m.opts.Limit)
	}
	step := " " + m.step()
	switch m.size.mode {
	case modeTiny:
		return plain(step)
	case modeSingle:
		return widget.Spread(widget.Line{widget.Text(theme.Strong, step)}, plain(fmt.Sprintf("  %d/%d ready %d failed %d  %s ", t.applied, t.total, t.ready, t.failed, round(m.elapsed()))), m.size.width)
	}
	return widget.Spread(widget.Line{widget.Text(theme.Strong, step)}, plain("   "+counts+"    "+clock+" "), m.size.width)
}

func (m *follow) step() string {
	if m.over() {
		return m.verdict()
	}
	stages := m.opts.Plan.Stages
	for i := range stages {
		if stages[i].ID == m.stage {
			return strings.TrimSpace(fmt.Sprintf("step %d of %d  %s  %s", i+1, len(stages), m.stage, m.stageText))
		}
	}
	if m.stage != "" {
		return strings.TrimSpace(m.stage + "  " + m.stageText)
	}
	return "starting"
}

func (m *follow) verdict() string {
	t := m.tally()
	switch code := exitCode(m.result); {
	case m.closed:
		return "the apply ended without a result"
	case code == 0 && t.applied == t.ready:
		return fmt.Sprintf("DONE  %d applied, all ready in %s", t.applied, round(m.elapsed()))
	case code == 0:
		return fmt.Sprintf("DONE  %d applied in %s", t.applied, round(m.elapsed()))
	case code == 3 || code == 4:
		return fmt.Sprintf("%s after %s: %d of %d not ready", stateOf(code), round(m.elapsed()), t.total-t.ready, t.total)
	}
	return "NOT APPLIED: nothing was changed"
}

// round is a duration in seconds, such as 1m04s.
func round(d time.Duration) string {
	d = max(0, d).Truncate(time.Second)
	if d < time.Minute {
		return fmt.Sprintf("%ds", int(d.Seconds()))
	}
	if d < time.Hour {
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// latest is how many finished objects are shown.
const latest = 5

// document is what scrolls: what blocks first, what is done last.
func (m *follow) document() []widget.Line {
	b := &builder{width: m.size.width}
	if m.logs {
		m.allLogs(b)
		return b.lines
	}
	if m.over() {
		m.doneLines(b)
	}
	failed := m.in(install.StateFailed, install.StateDiverged)
	m.group(b, "failed", failed, len(failed))
	if m.failedOnly {
		return b.lines
	}
	waiting := m.in(install.StateWaiting, install.StateRemoving, install.StateSent)
	m.group(b, "waiting", waiting, len(waiting))
	done := m.in(install.StateReady, install.StateRemoved, install.StateApplied)
	slices.SortStableFunc(done, func(x, y *tracked) int { return y.since.Compare(x.since) })
	shown := min(len(done), latest)
	if m.all {
		shown = len(done)
	}
	m.group(b, "done (latest)", done, shown)
	if m.over() {
		pending := m.in(install.StatePending)
		m.group(b, "not applied", pending, len(pending))
	}
	m.lastLogs(b)
	return b.lines
}

// in returns the objects in some states, in the order of the plan.
func (m *follow) in(states ...install.ObjectState) []*tracked {
	var out []*tracked
	for _, o := range m.objects {
		if slices.Contains(states, o.state) && (o.action != "" || o.state != install.StatePending) {
			out = append(out, o)
		}
	}
	return out
}

func (m *follow) group(b *builder, title string, list []*tracked, shown int) {
	if len(list) == 0 {
		return
	}
	if m.size.mode != modeTiny {
		b.heading(title)
	}
	for _, o := range list[:shown] {
		m.objectLines(b, o)
	}
	if more := len(list) - shown; more > 0 {
		b.add(plain(fmt.Sprintf("   … %d more  (a all)", more)))
	}
}

// objectLines is one object: state, name, why, since when; and the last lines
// it logged, when it failed.
func (m *follow) objectLines(b *builder, o *tracked) {
	sign, role := stateSign(o.state)
	age := round(m.now().Sub(o.since))
	name := min(48, m.size.width*2/5)
	room := m.size.width - 6 - name - len(age) - 3
	what := o.message
	if what == "" {
		what = string(o.state)
	}
	b.add(widget.Line{
		widget.Text(theme.Plain, "   "), widget.Cell(role, sign, 3), widget.Cell(theme.Strong, objectName(o.id), name),
		widget.Text(theme.Plain, " "), widget.Cell(theme.Plain, what, max(1, room)), widget.Text(theme.Plain, " "+age),
	})
	if o.state == install.StateFailed {
		if textsafe.Width(what) > room {
			b.text(theme.Plain, "        ", what)
		}
		for _, line := range o.logs[max(0, len(o.logs)-5):] {
			b.add(plain("        " + line))
		}
	}
}

// now is the time durations are measured to: they stand still at the end.
func (m *follow) now() time.Time {
	if m.over() {
		return m.ended
	}
	return m.opts.Now()
}

// stateSign is kstatus' vocabulary in one mark.
func stateSign(s install.ObjectState) (string, theme.Role) {
	switch s {
	case install.StateReady, install.StateRemoved, install.StateApplied:
		return "ok", theme.Good
	case install.StateFailed, install.StateDiverged:
		return "x", theme.Fail
	case install.StateRemoving:
		return "-", theme.Caution
	case install.StatePending:
		return "?", theme.Plain
	}
	return "*", theme.Change
}

// doneLines is what a person needs once it is over.
func (m *follow) doneLines(b *builder) {
	if m.failure != "" {
		b.heading("what happened")
		b.text(theme.Fail, "   ", m.failure)
	}
	if m.result == nil || m.size.mode == modeTiny {
		return
	}
	if len(b.lines) > 0 {
		b.blank()
	}
	if m.result.Revision > 0 {
		b.pair("revision", fmt.Sprintf("%d, receipt in Secret %s/kubectl-operator.%s", m.result.Revision, m.opts.Plan.Release.Namespace, m.opts.Plan.Release.Name))
	}
	switch code := exitCode(m.result); code {
	case 3, 4:
		if m.result.Receipt == nil || m.result.Receipt.Undo == nil {
			b.pair("cluster", "was changed; what runs there keeps trying")
		}
		fallthrough
	case 0:
		b.pair("look", lookCommand(m.opts.Plan))
		if m.result.Receipt != nil && m.result.Receipt.Undo != nil {
			b.pair("undone", undoneText(m.result.Receipt.Undo))
			return
		}
		b.pair("undo", undo(m.opts.Plan))
	}
}

// lastLogs shows the end of the log of the object that spoke last.
func (m *follow) lastLogs(b *builder) {
	t := m.byID[m.lastLog]
	if t == nil || m.size.mode == modeTiny {
		for _, note := range m.notes[max(0, len(m.notes)-2):] {
			b.text(theme.Plain, "   ", note)
		}
		return
	}
	b.heading("log  " + objectName(t.id))
	for _, line := range t.logs[max(0, len(t.logs)-latest):] {
		b.add(plain("   " + line))
	}
}

func (m *follow) allLogs(b *builder) {
	for _, note := range m.notes {
		b.text(theme.Plain, "   ", note)
	}
	for _, o := range m.objects {
		if len(o.logs) == 0 {
			continue
		}
		b.heading("log  " + objectName(o.id))
		for _, line := range o.logs {
			b.add(plain("   " + line))
		}
	}
	if len(b.lines) == 0 {
		b.add(plain(" no log lines: only objects that are not ready log here"))
	}
}
