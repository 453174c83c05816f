package follow

import (
	"errors"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// maxBlamed is how many objects that failed or are not ready the summary names.
const maxBlamed = 20

// Summary returns the text that is printed, without a screen, when an apply is
// over. It can be pasted into a report. receipt is nil if nothing was written;
// err is the error of [install.Apply].
func Summary(p *preview.Plan, f Outcome, receipt *record.Receipt, err error) string {
	if receipt == nil || err == nil && receipt.Revision == p.Base.Revision && !p.Changes() && !removes(p) {
		return nothingApplied(p, err)
	}
	s := &summary{}
	elapsed := duration(receipt, f.Elapsed)
	s.line("%s -> %s/%s      %s", strings.Join(frame.NonEmpty(p.Release.Name, frame.Version(p)), " "), frame.Cluster(p), p.Release.Namespace, endingText(err, elapsed))
	switch {
	case p.Platform != "", preview.InSections(p.Packages): // of many artifacts
		s.pair("content", p.ContentDigest)
	case len(p.Packages) > 0:
		s.pair("bundle", pinnedRef(p))
	}
	s.pair("plan", receipt.Digest)
	if by := receipt.Approval.By; by != "" {
		approved := by + " " + receipt.Started.UTC().Format(time.RFC3339)
		if n := len(receipt.Approval.Accepted); n > 0 {
			approved += "   accepted " + preview.Plural(n, "finding")
		}
		s.pair("approved", approved)
	}
	blamed := s.objects(receipt, removes(p))
	if err != nil && blamed == 0 {
		s.cause(err)
	}
	for _, kept := range verdict.Kept(p) {
		s.pair("kept", kept)
	}
	if err != nil || !removes(p) {
		s.pair("status", statusCommand(p))
	}
	if receipt.Undo != nil {
		s.pair("rollback", rollbackText(receipt.Undo))
	} else {
		s.pair("rollback", frame.UndoCommand(p))
	}
	return s.String()
}

// rollbackText returns the outcome of the rollback of a failed plan.
func rollbackText(undo *record.Receipt) string {
	return fmt.Sprintf("automatically, as revision %d, which is %s", undo.Revision, undo.State)
}

// nothingApplied returns the summary of an apply that changed nothing in the cluster.
func nothingApplied(p *preview.Plan, err error) string {
	s := &summary{}
	if err == nil {
		s.line("%s -> %s/%s      nothing to change", strings.Join(frame.NonEmpty(p.Release.Name, frame.Version(p)), " "), frame.Cluster(p), p.Release.Namespace)
		s.pair("plan", p.Digest)
		return s.String()
	}
	s.line("Nothing was applied.")
	s.pair("plan", p.Digest)
	return s.String()
}

// endingText says how an apply ended, and after how long.
func endingText(err error, elapsed time.Duration) string {
	if err == nil {
		return "DONE in " + tookText(elapsed)
	}
	code := int(install.KindOf(err))
	text := stateOf(code)
	if e, ok := errors.AsType[*install.Error](err); ok && e.TimedOut() && e.Kind == install.Interrupted {
		text = timedOutText
	}
	text += " after " + frame.RoundDuration(elapsed)
	if code == int(install.Failed) || code == int(install.Interrupted) {
		text += " (cluster was changed)"
	}
	return text
}

// summary collects harmless lines.
type summary struct{ b strings.Builder }

func (s *summary) line(format string, args ...any) {
	s.b.WriteString(strings.TrimRight(textsafe.Line(fmt.Sprintf(format, args...)), " ") + "\n")
}

func (s *summary) pair(name, value string) {
	if value != "" {
		s.line("  %-8s %s", name, value)
	}
}

func (s *summary) String() string { return s.b.String() }

// objects appends the numbers of objects written, and the names of those that
// failed or are not ready. It returns how many those are.
func (s *summary) objects(r *record.Receipt, removal bool) int {
	total, applied, ready := 0, 0, 0
	var bad []record.ObjectReceipt
	for _, o := range r.Objects {
		if !hasWrite(o.Action) {
			if o.State == record.StateWaiting || o.State == record.StateFailed { // what is as planned is waited for, too
				bad = append(bad, o)
			}
			continue
		}
		total++
		if o.Written() {
			applied++
		}
		switch o.State {
		case record.StateReady, record.StateRemoved:
			ready++
		case record.StateApplied:
		default:
			bad = append(bad, o)
		}
	}
	if removal {
		s.line("  deleted %d/%d", ready, total)
	} else {
		s.line("  applied %d/%d   ready %d   not ready %d", applied, total, ready, len(bad))
	}
	for i, o := range bad {
		if i == maxBlamed {
			s.line("  … %d more", len(bad)-i)
			break
		}
		sign, _ := stateSign(o.State)
		s.line("  %s %s   %s", sign, frame.ObjectName(o.ID), strings.Join(frame.NonEmpty(string(o.State), o.Message), ": "))
	}
	return len(bad)
}

// cause appends the error of an apply that no object caused.
func (s *summary) cause(err error) {
	for _, line := range strings.Split(textsafe.Block(err.Error()), "\n") {
		s.line("  x %s", line)
	}
}

// removes reports whether a plan deletes the release.
func removes(p *preview.Plan) bool { return p.Request.Action == preview.RequestUninstall }

// duration returns how long an apply took: by its receipt, as every form says it, else
// as it was measured here.
func duration(receipt *record.Receipt, measured time.Duration) time.Duration {
	if receipt != nil && !receipt.Finished.IsZero() && receipt.Finished.After(receipt.Started) {
		return receipt.Finished.Sub(receipt.Started)
	}
	return measured
}

// tookText returns how long a whole apply took.
func tookText(d time.Duration) string {
	if d < time.Second {
		return "less than 1s"
	}
	return frame.RoundDuration(d)
}

// took returns how long the apply took that is over.
func (m *applyState) took() string {
	var receipt *record.Receipt
	if m.result != nil {
		receipt = m.result.Receipt
	}
	return tookText(duration(receipt, m.elapsed()))
}

func statusCommand(p *preview.Plan) string { return commandline.OfRelease(p, "status") }

// pinnedRef returns the reference of the installed content with its digest.
func pinnedRef(p *preview.Plan) string {
	if ref := frame.ContentRef(p); ref != "" {
		return ref + "@" + frame.ContentPin(p)
	}
	return frame.ContentPin(p)
}

// deadlineNotice is how long before a deadline the screen offers to extend it.
const deadlineNotice = time.Minute

// awaitWaiting returns a command that waits until the apply waits for something
// else, and returns the latest such state.
func (m *applyState) awaitWaiting() tea.Cmd {
	waits := m.opts.Waits
	if waits == nil {
		return nil
	}
	return func() tea.Msg {
		last, ok := <-waits
		for ok {
			select {
			case w, more := <-waits:
				if !more {
					return waitsMsg(last)
				}
				last = w
			default:
				return waitsMsg(last)
			}
		}
		return nil
	}
}

// setWaiting stores what the apply waits for. Without motion, no tick updates
// the screen, so that a timer does it shortly before the deadline.
func (m *followScreen) setWaiting(w install.WaitState) tea.Cmd {
	moved := !w.Deadline.Equal(m.waiting.Deadline)
	m.waiting = w
	if !moved || w.Deadline.IsZero() || !m.opts.NoMotion {
		return m.awaitWaiting()
	}
	near := tea.Tick(w.Deadline.Add(-deadlineNotice).Sub(m.opts.Now()), func(time.Time) tea.Msg { return deadlineMsg{} })
	return tea.Batch(m.awaitWaiting(), near)
}

// isDisconnected reports whether the cluster does not answer, so that the
// screen shows an old state.
func (m *applyState) isDisconnected() bool { return !m.isOver() && !m.waiting.LostSince.IsZero() }

// isNearDeadline reports whether a wait that can be extended ends within
// [deadlineNotice].
func (m *applyState) isNearDeadline() bool {
	return m.canPostpone() && m.waiting.Deadline.Sub(m.opts.Now()) <= deadlineNotice
}

func (m *applyState) canPostpone() bool {
	return !m.isOver() && m.interrupt == NoInterrupt && m.opts.Extend != nil && !m.waiting.Deadline.IsZero()
}

// timedOut reports whether the apply ended because its time limit was reached.
func (m *applyState) timedOut() bool {
	return m.result != nil && exitCode(m.result) == int(install.Interrupted) && m.waiting.TimedOut && m.interrupt == NoInterrupt
}

// canExtend reports whether an apply that timed out can be resumed with more
// time. A plan that was rolled back cannot.
func (m *applyState) canExtend() bool {
	return m.timedOut() && m.opts.Resumable && (m.result.Receipt == nil || m.result.Receipt.Undo == nil)
}

// canReview reports whether a plan that was not applied can be reviewed again.
// If the user asked to stop, it cannot: the user is not asked once more.
func (m *applyState) canReview() bool {
	return m.opts.Reviewable && m.result != nil && m.interrupt == NoInterrupt && m.state() == notAppliedText
}

// extension returns by how much the key r extends the deadline.
func (m *applyState) extension() time.Duration {
	if m.opts.Limit > 0 {
		return m.opts.Limit
	}
	return install.DefaultRolloutTimeout
}

// extend handles the key r during an apply: it extends the deadline.
func (m *followScreen) extend() tea.Cmd {
	if !m.canPostpone() {
		m.notice = "no wait with a deadline is under way"
		return nil
	}
	m.notice = "extended by " + frame.RoundDuration(m.extension())
	put, d := m.opts.Extend, m.extension()
	return func() tea.Msg {
		put(d)
		return nil
	}
}

// statusLine returns the warning about a lost connection or a near deadline;
// nil if there is none.
func (m *applyState) statusLine() widget.Line {
	w := m.waiting
	tiny := m.size.Mode == frame.ModeTiny
	switch {
	case m.isDisconnected() && tiny:
		return widget.Line{widget.Text(theme.Caution, fmt.Sprintf(" ! no answer, as of %s (try %d)", m.clockTime(w.LostSince), w.Tries))}
	case m.isDisconnected():
		return widget.Line{widget.Text(theme.Caution, fmt.Sprintf(" ! cannot reach the cluster since %s, retrying (%d)", m.clockTime(w.LostSince), w.Tries))}
	case m.isNearDeadline() && tiny:
		return widget.Line{widget.Text(theme.Caution, " ! times out at "+m.clockTime(w.Deadline)+", r: extend")}
	case m.isNearDeadline():
		return widget.Line{widget.Text(theme.Caution, fmt.Sprintf(" ! times out at %s (r: extend by %s)", m.clockTime(w.Deadline), frame.RoundDuration(m.extension())))}
	case m.canExtend():
		return frame.Plain(" r: extend by " + frame.RoundDuration(m.extension()) + "; the cluster keeps trying meanwhile")
	}
	return nil
}

// limit returns how long after its start the apply gives up; 0 if that is not known.
func (m *applyState) limit() time.Duration {
	if !m.waiting.Deadline.IsZero() && !m.isOver() {
		return m.waiting.Deadline.Sub(m.started)
	}
	return m.opts.Limit
}

// clockTime returns a time as the user's clock shows it, such as 15:04:05.
func (m *applyState) clockTime(t time.Time) string {
	return t.In(m.opts.Now().Location()).Format(time.TimeOnly)
}
