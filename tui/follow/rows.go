package follow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// followRow is one line of the APPLYING or DONE screen.
type followRow struct {
	line widget.Line
	key  string // distinguishes it from other rows; empty for what cannot be selected
	id   string // of the object it is about
	copy string // what y copies
	err  bool   // it says what went wrong with the apply
}

const (
	// latest is how many finished objects are shown.
	latest = 5
	// lastWords is how many log lines are shown below an object or the list.
	lastWords = 5
)

// followRows builds the rows of a screen from the lines of its builder. Rows
// that can be selected are given to take or made by each; all others cannot be.
type followRows struct {
	frame.Builder
	rows []followRow
}

// take turns the lines that were added to the builder since the last call into
// rows. first says what the first of them is about; the others cannot be selected.
func (b *followRows) take(first followRow) {
	for i, line := range b.Lines[len(b.rows):] {
		row := followRow{}
		if i == 0 {
			row = first
		}
		row.line = line
		b.rows = append(b.rows, row)
	}
}

// each turns the lines that were added to the builder since the last call into
// selectable rows about an object.
func (b *followRows) each(key, id string) {
	for i, line := range b.Lines[len(b.rows):] {
		text := strings.TrimSpace(line.Plain())
		b.rows = append(b.rows, followRow{line: line, key: fmt.Sprint(key, " ", i), id: id, copy: text})
	}
}

// makeRows returns the rows of the screen: first the objects that block the
// apply, last those that are done.
func (m *followScreen) makeRows() []followRow {
	b := &followRows{Builder: frame.Builder{Width: m.size.Width}}
	if m.isOver() {
		m.doneRows(b)
	}
	failed := m.inStates(record.StateFailed, record.StateDiverged)
	m.group(b, "failed", failed, len(failed))
	if m.failedOnly {
		if len(failed) == 0 {
			b.Add(frame.Plain(" nothing has failed  (f shows the rest)"))
			b.take(followRow{})
		}
		return b.rows
	}
	waiting := m.inStates(record.StateWaiting, record.StateRemoving, record.StateSent)
	m.group(b, "waiting", waiting, len(waiting))
	done := m.inStates(record.StateReady, record.StateRemoved, record.StateApplied)
	slices.SortStableFunc(done, func(x, y *trackedObject) int { return y.since.Compare(x.since) })
	shown := min(len(done), latest)
	if m.all {
		shown = len(done)
	}
	m.group(b, "done (latest)", done, shown)
	if m.isOver() {
		pending := m.inStates(record.StatePending)
		title := "not applied"
		if m.opts.Resumes {
			title = "not looked at this time" // the run before may have applied them
		}
		m.group(b, title, pending, len(pending))
	}
	m.logRows(b)
	return b.rows
}

// inStates returns the objects that are in one of the states, in the order of the plan.
func (m *applyState) inStates(states ...record.ObjectState) []*trackedObject {
	var out []*trackedObject
	for _, o := range m.objects {
		if slices.Contains(states, o.state) && (o.action != "" || o.state != record.StatePending) {
			out = append(out, o)
		}
	}
	return out
}

// group appends a title and the first shown objects of a list. Without a
// connection, the title says from when the states are.
func (m *applyState) group(b *followRows, title string, list []*trackedObject, shown int) {
	if len(list) == 0 {
		return
	}
	if m.isDisconnected() {
		title += "   as of " + m.clockTime(m.waiting.LostSince)
	}
	if m.size.Mode != frame.ModeTiny {
		b.Heading(title)
	}
	b.take(followRow{})
	for _, o := range list[:shown] {
		m.objectRows(b, o)
	}
	if more := len(list) - shown; more > 0 {
		b.Add(frame.Plain(fmt.Sprintf("   … %d more  (a all)", more)))
		b.take(followRow{})
	}
}

// objectRows appends one object: state, name, reason, and since when; for a
// failed one also the last lines of its log.
func (m *applyState) objectRows(b *followRows, o *trackedObject) {
	sign, role := stateSign(o.state)
	strong, text := theme.Strong, theme.Plain
	if m.isDisconnected() {
		role, strong, text = theme.Old, theme.Old, theme.Old
	}
	age := frame.RoundDuration(m.now().Sub(o.since))
	name := min(48, m.size.Width*2/5)
	room := m.size.Width - 6 - name - len(age) - 3
	what := o.message
	if what == "" {
		what = string(o.state)
	}
	b.Add(widget.Line{
		widget.Text(theme.Plain, "   "), widget.Cell(role, sign, 3), widget.Cell(strong, frame.ObjectName(o.id), name),
		widget.Text(theme.Plain, " "), widget.Cell(text, what, max(1, room)), widget.Text(text, " "+age),
	})
	if o.state == record.StateFailed {
		if textsafe.Width(what) > room {
			b.Add(frame.ReasonLines(text, what, b.Width-1, "        ")...)
		}
		for _, line := range lastLines(o.logs, lastWords) {
			b.Add(widget.Line{widget.Text(text, "        "+line)})
		}
	}
	b.take(followRow{key: o.id, id: o.id, copy: strings.Join(frame.NonEmpty(frame.ObjectName(o.id), what), ": ")})
}

// stateSign returns the sign for a state, and its role for painting.
func stateSign(s record.ObjectState) (string, theme.Role) {
	switch s {
	case record.StateReady, record.StateRemoved, record.StateApplied:
		return "ok", theme.Good
	case record.StateFailed, record.StateDiverged:
		return "x", theme.Fail
	case record.StateRemoving:
		return "-", theme.Caution
	case record.StatePending:
		return "?", theme.Plain
	}
	return "*", theme.Change
}

// doneRows appends the rows about the result, once the apply is over.
func (m *applyState) doneRows(b *followRows) {
	if m.failure != "" {
		b.Heading("what happened")
		b.take(followRow{})
		for _, line := range frame.ThreeLines(m.failure) {
			b.Add(frame.ReasonLines(theme.Fail, line, b.Width-1, "   ")...)
		}
		b.each("failure", "")
		for i := range b.rows {
			b.rows[i].err = b.rows[i].key != ""
		}
	}
	if m.result == nil || m.size.Mode == frame.ModeTiny {
		return
	}
	pair := func(name, value string) {
		b.Pair(name, value)
		b.take(followRow{key: "pair " + name, copy: value})
	}
	if len(b.Lines) > 0 {
		b.Blank()
		b.take(followRow{})
	}
	p, receipt := m.opts.Plan, m.result.Receipt
	if m.result.Revision > 0 {
		pair("revision", fmt.Sprintf("%d, receipt in Secret %s/kubectl-operator.%s", m.result.Revision, p.Release.Namespace, p.Release.Name))
	}
	reverted := receipt != nil && receipt.Undo != nil
	code := exitCode(m.result)
	if (code == 3 || code == 4) && !reverted {
		pair("cluster", "was changed; its controllers keep trying")
	}
	if code != 0 && code != 3 && code != 4 {
		return
	}
	for _, kept := range verdict.Kept(p) {
		pair("kept", kept)
	}
	if code != 0 || !removes(p) {
		pair("status", statusCommand(p))
	}
	if reverted {
		pair("rollback", rollbackText(receipt.Undo))
		return
	}
	pair("rollback", frame.UndoCommand(p))
}

// logRows appends the excerpt of a log, or without one the last lines that the
// apply reported about no object.
func (m *followScreen) logRows(b *followRows) {
	log := m.held
	if !m.paused {
		log = m.excerpt()
	}
	if len(log.lines) == 0 || m.size.Mode == frame.ModeTiny {
		for _, note := range lastLines(m.notes, 2) {
			b.Text(theme.Plain, "   ", note)
			b.each("note", "")
		}
		return
	}
	if len(b.Lines) > 0 {
		b.Blank()
	}
	b.Add(m.withFollow(" log  " + log.title))
	b.take(followRow{})
	for _, line := range log.lines {
		b.Add(frame.Plain("   " + line))
	}
	b.each("log", log.id)
}

// selectable reports whether the cursor can be on row i.
func (m *followScreen) selectable(i int) bool { return m.rows[i].key != "" }

// row returns the row under the cursor.
func (m *followScreen) row() followRow {
	if m.list.Cursor < 0 || m.list.Cursor >= len(m.rows) {
		return followRow{}
	}
	return m.rows[m.list.Cursor]
}

// choose notes the row that the user moved the cursor to.
func (m *followScreen) choose() { m.chosen = m.row().key }

// settleRows makes the rows anew. The cursor stays on its row; until the user
// moves it, it is on the object that the apply waits for.
func (m *followScreen) settleRows(height int) {
	at := m.row()
	m.rows = m.makeRows()
	want := m.chosen
	if want == "" && !m.isOver() {
		want = m.blockingObject()
	}
	i := slices.IndexFunc(m.rows, func(r followRow) bool { return r.key != "" && r.key == want })
	if i < 0 && m.chosen != "" && at.id != "" {
		i = slices.IndexFunc(m.rows, func(r followRow) bool { return r.key != "" && r.id == at.id })
	}
	switch {
	case i >= 0:
		m.list.Cursor = i
	case m.chosen == "":
		m.list.Cursor = 0
	}
	m.list.Settle(len(m.rows), height, m.selectable)
}

// blockingObject returns the id of the object that an apply waits for: one that failed,
// else one that is not ready, else the one being written; empty if there is none.
func (m *applyState) blockingObject() string {
	for _, states := range [][]record.ObjectState{
		{record.StateFailed, record.StateDiverged}, {record.StateWaiting, record.StateRemoving}, {record.StateSent},
	} {
		for _, o := range m.objects {
			if slices.Contains(states, o.state) {
				return o.id
			}
		}
	}
	return ""
}
