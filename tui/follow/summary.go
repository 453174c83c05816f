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
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
	"github.com/kubectl-operator/kubectl-operator/tui/widget"
)

// maxBlamed objects are named in the final summary.
const maxBlamed = 20

// Summary is the block printed on the normal screen when an apply is over:
// plain text that can be pasted into a report. receipt is nil when nothing was
// written; err is what [install.Apply] returned.
func Summary(p *preview.Plan, f Outcome, receipt *record.Receipt, err error) string {
	if receipt == nil {
		return nothingApplied(p, err)
	}
	s := &summary{}
	elapsed := f.Elapsed
	if !receipt.Finished.IsZero() && receipt.Finished.After(receipt.Started) {
		elapsed = receipt.Finished.Sub(receipt.Started)
	}
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
	blamed := s.objects(receipt)
	if err != nil && blamed == 0 {
		s.cause(err)
	}
	s.pair("status", statusCommand(p))
	if receipt.Undo != nil {
		s.pair("rollback", rollbackText(receipt.Undo))
	} else {
		s.pair("rollback", frame.UndoCommand(p))
	}
	return s.String()
}

// rollbackText returns the outcome of the rollback that a failed plan
// contained.
func rollbackText(undo *record.Receipt) string {
	return fmt.Sprintf("automatically, as revision %d, which is %s", undo.Revision, undo.State)
}

// nothingApplied is the block when the cluster was not changed.
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

// endingText words how an apply ended.
func endingText(err error, elapsed time.Duration) string {
	if err == nil {
		return "DONE in " + frame.RoundDuration(elapsed)
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

// objects counts what was written, names what is not well, and returns how
// many objects that is.
func (s *summary) objects(r *record.Receipt) int {
	total, applied, ready := 0, 0, 0
	var bad []record.ObjectReceipt
	for _, o := range r.Objects {
		if !hasWrite(o.Action) {
			continue
		}
		total++
		switch o.State {
		case record.StateReady, record.StateRemoved:
			applied, ready = applied+1, ready+1
			continue
		case record.StateApplied:
			applied++
			continue
		case record.StateWaiting, record.StateRemoving, record.StateDiverged:
			applied++
		}
		bad = append(bad, o)
	}
	s.line("  applied %d/%d   ready %d   not ready %d", applied, total, ready, len(bad))
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

// cause is the error, when no object is to blame for it.
func (s *summary) cause(err error) {
	for _, line := range strings.Split(textsafe.Block(err.Error()), "\n") {
		s.line("  x %s", line)
	}
}

func statusCommand(p *preview.Plan) string {
	return fmt.Sprintf("kubectl operator status %s -n %s", p.Release.Name, p.Release.Namespace)
}

// pinnedRef returns the reference of the content, by digest.
func pinnedRef(p *preview.Plan) string {
	if ref := frame.ContentRef(p); ref != "" {
		return ref + "@" + frame.ContentPin(p)
	}
	return frame.ContentPin(p)
}

// deadlineNotice is the time before a deadline from which the screen offers to
// extend it.
const deadlineNotice = time.Minute

// awaitWaiting is a command that returns what the apply waits for next: the last of
// what came meanwhile.
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

// setWaiting takes it. Where nothing moves by itself, one timer wakes the screen for
// the deadline.
func (m *followScreen) setWaiting(w install.WaitState) tea.Cmd {
	moved := !w.Deadline.Equal(m.waiting.Deadline)
	m.waiting = w
	if !moved || w.Deadline.IsZero() || !m.opts.NoMotion {
		return m.awaitWaiting()
	}
	near := tea.Tick(w.Deadline.Add(-deadlineNotice).Sub(m.opts.Now()), func(time.Time) tea.Msg { return deadlineMsg{} })
	return tea.Batch(m.awaitWaiting(), near)
}

// isDisconnected reports whether the cluster does not answer: what is shown is old.
func (m *applyState) isDisconnected() bool { return !m.isOver() && !m.waiting.LostSince.IsZero() }

// isNearDeadline reports whether a wait is about to end that can be put off.
func (m *applyState) isNearDeadline() bool {
	return m.canPostpone() && m.waiting.Deadline.Sub(m.opts.Now()) <= deadlineNotice
}

func (m *applyState) canPostpone() bool {
	return !m.isOver() && m.interrupt == NoInterrupt && m.opts.Extend != nil && !m.waiting.Deadline.IsZero()
}

// timedOut reports whether the apply ended because its time was over.
func (m *applyState) timedOut() bool {
	return m.result != nil && exitCode(m.result) == int(install.Interrupted) && m.waiting.TimedOut && m.interrupt == NoInterrupt
}

// canExtend reports whether more time can be given after the end. A plan that
// was rolled back is not resumed.
func (m *applyState) canExtend() bool {
	return m.timedOut() && m.opts.Resumable && (m.result.Receipt == nil || m.result.Receipt.Undo == nil)
}

// canReview reports whether a plan of which nothing was applied can be reviewed
// again. A user who asked to stop is not asked once more.
func (m *applyState) canReview() bool {
	return m.opts.Reviewable && m.result != nil && m.interrupt == NoInterrupt && m.state() == notAppliedText
}

// extension returns the time by which r extends the deadline.
func (m *applyState) extension() time.Duration {
	if m.opts.Limit > 0 {
		return m.opts.Limit
	}
	return install.DefaultRolloutTimeout
}

// extend is r while applying.
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
// nil when there is neither.
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

// limit is the time of the whole apply at which it gives up, as far as that is
// known.
func (m *applyState) limit() time.Duration {
	if !m.waiting.Deadline.IsZero() && !m.isOver() {
		return m.waiting.Deadline.Sub(m.started)
	}
	return m.opts.Limit
}

// clockTime is a time of the cluster or of this machine as the person's clock
// shows it.
func (m *applyState) clockTime(t time.Time) string {
	return t.In(m.opts.Now().Location()).Format(time.TimeOnly)
}
