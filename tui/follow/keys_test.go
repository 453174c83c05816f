package follow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

// followReacts reports whether a key does anything: on screen, or beyond it.
func followReacts(m *followScreen, c *tuitest.Clock, name string) bool {
	m.notice = "" // any key takes it away
	before := m.View()
	msg := tuitest.Press(name)
	if r, ok := strings.CutPrefix(name, "ctrl+"); ok {
		msg = tea.KeyPressMsg{Code: rune(r[0]), Mod: tea.ModCtrl}
	}
	c.Forward(1)
	_, cmd := m.Update(msg)
	after := m.View()
	return cmd != nil || after.Content != before.Content || after.MouseMode != before.MouseMode
}

func TestHelpOfAnApplyNamesTheKeysThatDoSomethingAndNoOthers(t *testing.T) {
	p := tuitest.FreshPlan(t)
	var helped []key.Binding
	for _, g := range frame.NewKeyMap().FollowHelp() {
		helped = append(helped, g.Keys...)
	}
	useful := map[string]bool{}
	states := followStates(p)
	for _, where := range []string{"failing", "near", "asking", "events", "logs", "paused", "found", "timedout", "broken", "refused", "help"} {
		open := func() (*followScreen, *tuitest.Clock) {
			m, c, _ := followOf(t, p, 80, 24)
			happen(m, c, states[where].events...)
			if then := states[where].then; then != nil {
				then(t, m, c)
			}
			tuitest.Drive(m, c, "down")
			return m, c
		}
		m, c := open()
		for _, name := range tuitest.EveryKey() {
			if !followReacts(m, c, name) {
				continue
			}
			m, c = open()
			if !followReacts(m, c, name) {
				continue // time has changed the screen
			}
			m, c = open()
			useful[name] = true
			if !slices.ContainsFunc(helped, func(b key.Binding) bool { return slices.Contains(b.Keys(), name) }) {
				t.Errorf("%s does something in %s and is not in the help", name, where)
			}
		}
	}
	for _, b := range helped {
		if !slices.ContainsFunc(b.Keys(), func(name string) bool { return useful[name] }) {
			t.Errorf("the help names %s (%s), which does nothing anywhere", b.Help().Key, b.Help().Desc)
		}
	}
}

func TestTheCursorStaysWithItsObject(t *testing.T) {
	p := tuitest.FreshPlan(t)
	m, c, _ := followOf(t, p, 120, 36)
	happen(m, c, rolloutOf(p)...)
	if m.row().id != tuitest.DeployObject {
		t.Fatalf("the cursor begins at %q, want what is waited for", m.row().id)
	}
	happen(m, c, object(tuitest.RoleObject, record.StateFailed, "forbidden"))
	if m.row().id != tuitest.RoleObject {
		t.Errorf("the cursor is at %q, want what failed", m.row().id)
	}
	tuitest.Drive(m, c, "down")
	if m.row().id != tuitest.DeployObject {
		t.Fatalf("down leads to %q", m.row().id)
	}
	happen(m, c, object(tuitest.DeployObject, record.StateReady, ""), object(tuitest.RoleObject, record.StateFailed, "forbidden again"))
	if m.row().id != tuitest.DeployObject {
		t.Errorf("the cursor went from where the person put it to %q", m.row().id)
	}
	cursor := m.View().Cursor
	if cursor == nil || !strings.Contains(tuitest.ScreenOf(m)[cursor.Y], "Deployment mongodb/operator") {
		t.Errorf("the terminal's cursor is not on the selected row: %+v", cursor)
	}
}

func TestTheMouseSelectsAndScrollsInAnApply(t *testing.T) {
	p := tuitest.FreshPlan(t)
	m, c, asked := followOf(t, p, 120, 36)
	happen(m, c, rolloutOf(p)...)
	if m.View().MouseMode != tea.MouseModeCellMotion {
		t.Error("the mouse is not reported")
	}
	y := slices.IndexFunc(tuitest.ScreenOf(m), func(line string) bool { return strings.Contains(line, "kind12.mongodb.com") })
	tuitest.Drive(m, c, tea.MouseClickMsg{X: 20, Y: y, Button: tea.MouseLeft})
	if !strings.Contains(m.row().id, "kind12") {
		t.Errorf("a click on kind12 selects %q", m.row().id)
	}
	tuitest.Drive(m, c, tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	if !strings.Contains(m.row().id, "kind09") {
		t.Errorf("the wheel leads to %q", m.row().id)
	}
	for x := range 120 {
		for y := range 36 {
			tuitest.Drive(m, c, tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
		}
	}
	if m.asking || len(*asked) > 0 {
		t.Error("a click stopped the apply")
	}
	tuitest.Drive(m, c, "l")
	answer(m)
	m.Update(tea.MouseWheelMsg{Button: tea.MouseWheelUp})
	if !m.paused {
		t.Error("scrolling the log does not pause following it")
	}
	tuitest.Drive(m, c, "m")
	if m.View().MouseMode != tea.MouseModeNone {
		t.Error("m does not turn the mouse off")
	}
}

func TestMoreTimeIsGivenNearTheEndAndAfterIt(t *testing.T) {
	p := tuitest.FreshPlan(t)
	m, c, _ := followOf(t, p, 80, 24)
	var given []time.Duration
	m.opts.Extend = func(d time.Duration) { given = append(given, d) }
	happen(m, c, rolloutOf(p)...)
	tuitest.Drive(m, c, "r")
	if len(given) != 0 {
		t.Error("r gave time to an apply that waits for nothing")
	}
	waitsFor(m, c, func(*install.WaitState) {})
	if m.isNearDeadline() {
		t.Error("four minutes are near")
	}
	c.Forward(3*time.Minute + time.Second)
	if !m.isNearDeadline() {
		t.Error("59 seconds are not near")
	}
	tuitest.Drive(m, c, "r")
	if !slices.Equal(given, []time.Duration{5 * time.Minute}) {
		t.Errorf("r gave %v", given)
	}
	tuitest.Drive(m, c, "ctrl+c", "s", "r")
	if len(given) != 1 {
		t.Error("r gave time to an apply that was asked to stop")
	}

	for _, tc := range []struct {
		name   string
		code   int
		change func(*followScreen, *install.Event)
		again  bool
	}{
		{"its time was over", 4, func(m *followScreen, _ *install.Event) { m.waiting.TimedOut = true }, true},
		{"it failed", 3, func(m *followScreen, _ *install.Event) { m.waiting.TimedOut = true }, false},
		{"it was stopped", 4, func(m *followScreen, _ *install.Event) { m.interrupt = Detach }, false},
		{"what failed was undone", 4, func(m *followScreen, e *install.Event) {
			m.waiting.TimedOut = true
			e.Receipt = &record.Receipt{Undo: &record.Receipt{}}
		}, false},
		{"it cannot be gone on with", 4, func(m *followScreen, _ *install.Event) { m.waiting.TimedOut, m.opts.Resumable = true, false }, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, c, _ := followOf(t, p, 80, 24)
			e := result(tc.code)
			tc.change(m, &e)
			happen(m, c, e)
			tuitest.Drive(m, c, "r")
			if m.again != tc.again {
				t.Errorf("again: %t, want %t", m.again, tc.again)
			}
		})
	}
}

// An approved plan that was not applied can be reviewed again: by anyone who did not
// stop it, and only where nothing at all was applied.
func TestNothingAppliedIsReviewedAgain(t *testing.T) {
	for _, tc := range []struct {
		name   string
		code   int
		change func(*followScreen)
		review bool
	}{
		{"it was refused", 5, nil, true},
		{"the lock was held", 1, nil, true},
		{"it was stopped before the first write", 2, func(m *followScreen) { m.interrupt = StopNow }, false},
		{"it failed after a write", 3, nil, false},
		{"it is done", 0, nil, false},
		{"a run before it changed the cluster", 5, func(m *followScreen) { m.opts.Resumes = true }, false},
		{"the caller has no way back", 5, func(m *followScreen) { m.opts.Reviewable = false }, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, c, _ := followOf(t, tuitest.FreshPlan(t), 80, 24)
			if tc.change != nil {
				tc.change(m)
			}
			happen(m, c, result(tc.code))
			if shown := strings.Contains(strings.Join(tuitest.ScreenOf(m), "\n"), "R review again"); shown != tc.review {
				t.Errorf("offered: %t, want %t", shown, tc.review)
			}
			if tuitest.Drive(m, c, "R"); m.review != tc.review {
				t.Errorf("review: %t, want %t", m.review, tc.review)
			}
		})
	}
}

func TestWithoutAConnectionStatesAreOldUntilItIsBack(t *testing.T) {
	p := tuitest.FreshPlan(t)
	m, c, _ := followOf(t, p, 120, 36)
	happen(m, c, rolloutOf(p)...)
	lostFor(time.Minute)(t, m, c)
	if text := strings.Join(tuitest.ScreenOf(m), "\n"); !strings.Contains(text, "cannot reach the cluster since 14:02:56, retrying (3)") || !strings.Contains(text, "waiting   as of 14:02:56") {
		t.Errorf("it does not say that it is blind:\n%s", text)
	}
	waitsFor(m, c, func(*install.WaitState) {})
	if text := strings.Join(tuitest.ScreenOf(m), "\n"); strings.Contains(text, "as of") || strings.Contains(text, "cannot reach") {
		t.Errorf("it is blind for ever:\n%s", text)
	}
	lostFor(time.Minute)(t, m, c)
	happen(m, c, result(4))
	if text := strings.Join(tuitest.ScreenOf(m), "\n"); strings.Contains(text, "retrying") {
		t.Errorf("it retries after the end:\n%s", text)
	}
}

// reads counts what is read behind which object.
type reads struct {
	events, logs int
	last         preview.Ref
	err          error
}

func TestWhatStandsBehindIsReadWhileSomebodyLooks(t *testing.T) {
	p := tuitest.FreshPlan(t)
	m, c, _ := followOf(t, p, 120, 36)
	var r reads
	m.opts.ReadEvents = func(_ context.Context, ref preview.Ref) (rollout.Diagnostics, error) {
		r.events, r.last = r.events+1, ref
		return podEvents(c.T), r.err
	}
	m.opts.ReadLogs = func(_ context.Context, ref preview.Ref) (rollout.Diagnostics, error) {
		r.logs, r.last = r.logs+1, ref
		return readPodLogs(300), r.err
	}
	again := func() {
		_, cmd := m.Update(refreshMsg{m.podLogs.round})
		tuitest.Pump(m, cmd)
	}
	m.Update(tickMsg{})
	if r.events+r.logs > 0 {
		t.Fatal("something is read before there is anything in question")
	}
	m.opts.ReadLogs, m.opts.ReadEvents = nil, nil
	happen(m, c, rolloutOf(p)...)
	tuitest.Drive(m, c, "e") // no one can read, and nothing breaks
	if text := strings.Join(tuitest.ScreenOf(m), "\n"); !strings.Contains(text, "events may not be read here") {
		t.Errorf("it does not say so:\n%s", text)
	}

	m, c, _ = followOf(t, p, 120, 36)
	read := func(count *int, found rollout.Diagnostics) func(context.Context, preview.Ref) (rollout.Diagnostics, error) {
		return func(_ context.Context, ref preview.Ref) (rollout.Diagnostics, error) {
			*count, r.last = *count+1, ref
			return found, r.err
		}
	}
	m.opts.ReadEvents, m.opts.ReadLogs = read(&r.events, podEvents(c.T)), read(&r.logs, readPodLogs(300))
	happen(m, c, rolloutOf(p)...)
	if r.logs != 1 || r.last.Name != "operator" || r.last.Kind != "Deployment" {
		t.Errorf("the log in question was read %d times, of %v", r.logs, r.last)
	}
	again()
	tuitest.Drive(m, c, "e")
	again()
	if r.logs != 2 || r.events != 2 {
		t.Errorf("logs were read %d times and events %d times, want 2 and 2", r.logs, r.events)
	}
	tuitest.Drive(m, c, "l")
	lines := tuitest.ScreenOf(m)
	if text := strings.Join(lines, "\n"); !strings.Contains(text, "exiting") {
		t.Errorf("the log does not follow its end:\n%s", text)
	}
	tuitest.Drive(m, c, "up")
	before := r.logs
	again()
	if r.logs != before {
		t.Error("a paused log is read")
	}
	tuitest.Drive(m, c, "p")
	if r.logs != before+1 {
		t.Error("it is not read when it follows again")
	}
	r.err = errors.New("connection refused")
	again()
	if text := strings.Join(tuitest.ScreenOf(m), "\n"); !strings.Contains(text, "reading it: connection refused") || !strings.Contains(text, "exiting") {
		t.Errorf("what was read is gone, or nobody says that it is old:\n%s", text)
	}
	tuitest.Drive(m, c, "esc")
	happen(m, c, result(3))
	before = r.logs
	again()
	if r.logs != before {
		t.Error("after the end logs are read though nobody looks")
	}
}

func TestWaitsAreTakenAsTheLastOne(t *testing.T) {
	waits := make(chan install.WaitState, 3)
	m := newScreen(t.Context(), Options{Plan: tuitest.CleanPlan(t), Waits: waits})
	for i := range 3 {
		waits <- install.WaitState{Tries: i}
	}
	if msg := m.awaitWaiting()(); fmt.Sprint(msg) != fmt.Sprint(waitsMsg{Tries: 2}) {
		t.Errorf("heard %v", msg)
	}
	close(waits)
	if msg := m.awaitWaiting()(); msg != nil {
		t.Errorf("after the end it heard %v", msg)
	}
}
