package review

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

// heldTimer is a timer that goes off when the test says so.
type heldTimer struct {
	clock *tuitest.Clock
	waits time.Duration
	due   func(time.Time) tea.Msg
}

func (h *heldTimer) tick(d time.Duration, due func(time.Time) tea.Msg) tea.Cmd {
	h.waits, h.due = d, due
	return nil
}

// goOff moves the clock to when the timer is due, and returns its message.
func (h *heldTimer) goOff() tea.Msg {
	h.clock.Forward(h.waits)
	return h.due(h.clock.T)
}

// The header says how long ago a plan was made, without a key being pressed: a timer
// wakes it when its words change, and only then.
func TestTheAgeOfAPlanIsSaidAnew(t *testing.T) {
	timer := &heldTimer{clock: tuitest.NewClock()}
	p := tuitest.CleanPlan(t)
	m := newReview(t.Context(), Options{
		Plan: p, Recheck: recheckSame(p), Gate: openGate, Now: timer.clock.Now, tick: timer.tick,
	})
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 36})
	says := func(want string) {
		t.Helper()
		if second := tuitest.ScreenOf(m)[1]; !strings.Contains(second, want) {
			t.Errorf("the header is %q, want %q", second, want)
		}
	}
	says("planned just now")
	for _, step := range []struct {
		waits time.Duration
		want  string
	}{{time.Minute, "planned 1 min ago"}, {time.Minute, "planned 2 min ago"}} {
		if timer.waits != step.waits {
			t.Fatalf("the timer waits %v, want %v", timer.waits, step.waits)
		}
		m.Update(timer.goOff())
		says(step.want)
	}
	timer.clock.Forward(57*time.Minute + 20*time.Second)
	m.Update(timer.due(timer.clock.T)) // late, as after a suspension
	says("planned 59 min ago")
	if timer.waits != 40*time.Second {
		t.Errorf("the timer waits %v, want what is left of the minute", timer.waits)
	}
	m.Update(timer.goOff())
	says("planned 1 h ago")
	if timer.waits != time.Hour {
		t.Errorf("after an hour the timer waits %v", timer.waits)
	}

	// A plan that was made again has a timer of its own, and the former's ends.
	former := timer.due
	again := *p
	m.show(&again)
	says("planned just now")
	timer.waits = 0
	m.Update(former(timer.clock.T))
	if timer.waits != 0 {
		t.Error("the timer of the former plan goes on")
	}
}

// Of a plan that another user made, the header does not say when.
func TestAPlanThatWasSavedHasNoAge(t *testing.T) {
	timer := &heldTimer{clock: tuitest.NewClock()}
	m := newReview(t.Context(), Options{Plan: tuitest.CleanPlan(t), ReadOnly: true, Now: timer.clock.Now, tick: timer.tick})
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 36})
	if timer.due != nil || tuitest.Shows(m, "planned") {
		t.Error("a saved plan has an age")
	}
}
