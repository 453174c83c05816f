package review

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
)

// replan makes the plan again, beginning with resolving its reference. The
// present plan stays until the new one is made; the key esc returns to it.
func (m *review) replan() tea.Cmd {
	if m.opts.Resolve == nil {
		m.notice = "this plan was loaded from a file and cannot be recomputed"
		return nil
	}
	if m.opts.Settle != nil {
		m.opts.Settle(m.Plan.Options.ConflictsOf)
	}
	m.decided = ""
	return m.planAgain()
}

func (m *review) planAgain() tea.Cmd {
	m.search.end()
	m.screen, m.page = screenResolve, nil
	return m.resolving.start(m.ctx, m.opts)
}

// continueReview reviews a plan again whose approval was refused, with the same marks.
func (m *review) continueReview(before *Outcome) tea.Cmd {
	m.Checklist = &tabs.Checklist{Marks: before.marks} // show makes the whole of it
	return tea.Batch(m.show(before.Plan), m.replan())
}

// stopReplan stops making the plan again, and shows the present one.
func (m *review) stopReplan() {
	m.resolving.stop()
	m.resolving.round++ // whatever comes of it is dropped
	m.screen, m.notice = screenReview, "not planned again"
	m.endChoice(false)
}

// planReplaced handles the result of making the plan again. After an error, the
// present plan stays, as stale as it was.
func (m *review) planReplaced(p *preview.Plan, err error) tea.Cmd {
	m.endChoice(err == nil)
	if err != nil {
		m.screen, m.failed = screenReview, err
		m.Banner = "planning again (e all of it): " + strings.Join(frame.ThreeLines(err.Error()), "; ")
		return nil
	}
	if refusal := m.opts.Refusal; refusal != nil {
		m.opts.Refusal = nil // is reported once
		return m.refusedBefore(p, refusal)
	}
	cmd := m.replace(p, "planned again: ")
	m.showDecided()
	return cmd
}

// refusedBefore shows the new plan in place of one that was approved but refused
// by the apply, and says what differs or, if nothing does, why it was refused.
func (m *review) refusedBefore(p *preview.Plan, refusal error) tea.Cmd {
	cmd := m.replace(p, "nothing was applied (e why), planned again: ")
	if m.Banner == "" {
		m.Banner = "nothing was applied (e all of it): " + strings.Join(frame.ThreeLines(refusal.Error()), "; ")
		m.notice = ""
	}
	m.failed = refusal
	return cmd
}

// replace shows a new plan in place of the present one, and says what differs
// and how many marks do not count any more.
func (m *review) replace(p *preview.Plan, why string) tea.Cmd {
	old, before := m.Plan, m.Checklist
	cmd := m.show(p)
	m.Banner, m.failed = "", nil
	if p.Digest == old.Digest {
		m.notice = why + "nothing that was reviewed has changed"
		return cmd
	}
	m.tab = tabs.Summary
	m.Banner = why + changedFacts(old, p)
	if reset, marked := m.Checklist.CountResets(before); reset > 0 {
		m.Banner += fmt.Sprintf("; %d of %d marks reset", reset, marked)
		if at := m.Checklist.Next(-1, 1); at >= 0 && m.Checklist.Items[at].Severity().Gates() {
			m.Banner += ": " + m.Checklist.Items[at].First().Title
		}
	}
	return cmd
}

// resolveJob is a plan being made: the first one, or one to replace another.
type resolveJob struct {
	round int // answers of an earlier one are dropped
	stop  context.CancelFunc
	log   frame.ProgressLog
}

// Drift is a live object that has changed since the plan under review was made,
// or that is as it was again.
type Drift struct {
	ID   string // object id
	What string // in a few words; empty when it is as it was again
}

// maxDrifts is how many changes are handled before the screen is drawn again.
const maxDrifts = 256

// liveWatch is the watch on the live objects of one plan. It ends when another
// plan is shown.
type liveWatch struct {
	round int // answers about an earlier plan are dropped
	stop  context.CancelFunc
	err   error // why it is not watched any more
}

// The messages of a watch.
type (
	driftMsg struct {
		round  int
		drifts []Drift
		more   tea.Cmd // waits for the next ones
	}
	watchEndedMsg struct {
		round int
		err   error
	}
)

// start begins to watch the live objects of a plan, and no longer those of another.
func (w *liveWatch) start(ctx context.Context, plan *preview.Plan, follow func(context.Context, *preview.Plan, func(Drift)) error) tea.Cmd {
	if w.stop != nil {
		w.stop()
	}
	*w = liveWatch{round: w.round + 1}
	if follow == nil {
		return nil
	}
	ctx, w.stop = context.WithCancel(ctx)
	round, drifts := w.round, make(chan Drift)
	run := func() tea.Msg {
		err := follow(ctx, plan, func(d Drift) {
			select {
			case drifts <- d:
			case <-ctx.Done():
			}
		})
		if ctx.Err() != nil {
			return nil
		}
		return watchEndedMsg{round, err}
	}
	return tea.Batch(run, awaitDrifts(ctx, round, drifts))
}

// awaitDrifts returns a command that waits for changes of live objects, and
// returns those that have come.
func awaitDrifts(ctx context.Context, round int, drifts <-chan Drift) tea.Cmd {
	return func() tea.Msg {
		msg := driftMsg{round: round, more: awaitDrifts(ctx, round, drifts)}
		select {
		case d := <-drifts:
			msg.drifts = append(msg.drifts, d)
		case <-ctx.Done():
			return nil
		}
		for len(msg.drifts) < maxDrifts {
			select {
			case d := <-drifts:
				msg.drifts = append(msg.drifts, d)
			default:
				return msg
			}
		}
		return msg
	}
}

// setDrift notes changes of live objects. If the plan becomes stale by them,
// CONFIRM is closed.
func (m *review) setDrift(msg driftMsg) tea.Cmd {
	if msg.round != m.watch.round {
		return nil
	}
	for _, d := range msg.drifts {
		if d.What == "" {
			delete(m.Moved, d.ID)
			continue
		}
		m.Moved[d.ID] = d.What
	}
	if m.screen == screenConfirm && m.Stale() {
		m.screen = screenReview
		m.Banner, m.failed = "the question was closed: "+m.StaleText(), nil
	}
	return msg.more
}

func (w *liveWatch) ended(msg watchEndedMsg) {
	if msg.round == w.round {
		w.err = msg.err
		if w.err == nil {
			w.err = fmt.Errorf("the watch ended")
		}
	}
}

// start makes the plan.
func (j *resolveJob) start(ctx context.Context, opts Options) tea.Cmd {
	ctx, stop := context.WithCancel(ctx)
	*j = resolveJob{round: j.round + 1, stop: stop, log: frame.NewProgressLog(opts.Now(), opts.NoMotion)}
	resolve, log, round := opts.Resolve, j.log, j.round
	return tea.Batch(func() tea.Msg {
		defer close(log.Done)
		p, err := resolve(ctx, func(line string) { log.Send(ctx, line) })
		return resolvedMsg{p, err, round}
	}, j.await())
}

// await returns a command that waits for the next line of progress in making the plan.
func (j *resolveJob) await() tea.Cmd {
	round := j.round
	return j.log.Wait(func(line string) tea.Msg { return frame.ProgressMsg{Line: line, Round: round} })
}

// show adds a line of progress in making the plan to those that are shown.
func (j *resolveJob) show(msg frame.ProgressMsg, now time.Time) tea.Cmd {
	if msg.Round != j.round {
		return nil
	}
	j.log.Add(msg.Line, now)
	return j.await()
}

// planResolved shows the first plan for review. An error ends the program,
// because it is read best on the normal screen.
func (m *review) planResolved(msg resolvedMsg) tea.Cmd {
	if msg.round != m.resolving.round || m.screen != screenResolve {
		return nil
	}
	m.resolving.stop()
	err := msg.err
	if err == nil && msg.plan == nil {
		err = errors.New("no plan came back")
	}
	if m.Plan != nil {
		return m.planReplaced(msg.plan, err)
	}
	if err != nil {
		m.outcome.Kind, m.outcome.Err = Failed, err
		return tea.Quit
	}
	return m.show(msg.plan)
}

// body returns the lines of the last steps in making the plan.
func (j *resolveJob) body(v *tabs.View) []string {
	what := " Resolving. Nothing has been changed."
	if v.Plan != nil {
		what = " Planning again. Nothing has been changed."
	}
	return j.log.Body(v.Theme, v.Size, what)
}

func (m *review) resolveKeys() []key.Binding {
	quit := frame.WithHelp(m.keys.Stop, "cancel, nothing applied")
	if m.Plan == nil {
		return []key.Binding{quit}
	}
	return []key.Binding{frame.WithHelp(m.keys.Back, "back to the plan under review"), quit}
}
