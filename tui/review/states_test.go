package review

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

// sequences returns how many random sequences are tried: enough to find a hole in some
// seconds, or those of a soak.
func sequences(t *testing.T) int {
	t.Helper()
	slowtest.Skip(t, "random keys")
	from, to := slowtest.Runs(t, 12_000)
	return to - from
}

// world is a review under a storm: what it asked for comes back late, twice,
// out of order or as failures, and the cluster moves.
type world struct {
	m       *review
	c       *tuitest.Clock
	rng     *rand.Rand
	plans   []*preview.Plan
	keys    []string
	pending [][]tea.Cmd // each in its order
	old     []tea.Msg   // messages that may come again
}

func newWorld(t *testing.T, rng *rand.Rand, plans []*preview.Plan, without string) *world {
	w := &world{rng: rng, plans: plans, c: tuitest.NewClock()}
	w.keys = slices.DeleteFunc(append(randomKeys(), "R", "R", "r", "A", "N", "F"), func(k string) bool { return k == without || k == "q" })
	pick := func() (*preview.Plan, error) {
		if rng.IntN(8) == 0 {
			return nil, errors.New("connection refused")
		}
		return plans[rng.IntN(len(plans))], nil
	}
	w.m = newReview(t.Context(), Options{
		Plan: plans[0], Gate: openGate, Now: w.c.Now,
		Resolve: func(context.Context, func(string)) (*preview.Plan, error) { return pick() },
		Recheck: func(_ context.Context, p *preview.Plan, _ func(string)) (*preview.Plan, error) {
			if rng.IntN(3) == 0 {
				return pick()
			}
			return p, nil
		},
	})
	w.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	return w
}

func (w *world) send(msg tea.Msg) {
	w.c.Forward(quietTime)
	_, cmd := w.m.Update(msg)
	w.later(cmd)
}

// later keeps what commands will say.
func (w *world) later(cmds ...tea.Cmd) {
	cmds = slices.DeleteFunc(slices.Clone(cmds), func(c tea.Cmd) bool { return c == nil })
	if len(cmds) > 0 {
		w.pending = append(w.pending, cmds)
	}
}

// deliver runs one of the commands under way and hands in what it says.
func (w *world) deliver() {
	if len(w.pending) == 0 {
		return
	}
	at := w.rng.IntN(len(w.pending))
	cmd := w.pending[at][0]
	if w.pending[at] = w.pending[at][1:]; len(w.pending[at]) == 0 {
		w.pending = slices.Delete(w.pending, at, at+1)
	}
	switch msg := cmd().(type) {
	case nil, tea.QuitMsg, tea.SuspendMsg:
	case tea.BatchMsg:
		w.later(msg...)
	default:
		if len(w.old) < 32 {
			w.old = append(w.old, msg)
		}
		w.send(msg)
	}
}

// step does one random thing.
func (w *world) step() {
	m, rng := w.m, w.rng
	switch rng.IntN(24) {
	case 0, 1, 2, 3, 4:
		w.deliver()
	case 5:
		size := [][2]int{{0, 0}, {39, 11}, {40, 12}, {60, 20}, {80, 24}, {120, 36}}[rng.IntN(6)]
		w.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
	case 6:
		w.send(tea.MouseClickMsg{X: rng.IntN(120), Y: rng.IntN(36), Button: tea.MouseLeft})
	case 7:
		w.send(tea.MouseWheelMsg{X: rng.IntN(120), Y: rng.IntN(36), Button: tea.MouseWheelDown})
	case 8:
		w.send(driftMsg{round: m.watch.round - rng.IntN(2), drifts: []Drift{{tuitest.DeployObject, []string{"", "changed"}[rng.IntN(2)]}}})
	case 9:
		w.send(tea.PasteMsg{Content: m.Plan.Release.Name})
	case 10:
		if len(w.old) > 0 {
			w.send(w.old[rng.IntN(len(w.old))])
		}
	case 11:
		w.send(recheckedMsg{plan: w.plans[rng.IntN(len(w.plans))], round: m.confirm.round - rng.IntN(3)})
	case 12:
		w.send(resolvedMsg{plan: w.plans[rng.IntN(len(w.plans))], round: m.resolving.round - rng.IntN(3)})
	case 13, 14:
		w.send(tuitest.Press("a"))
	default:
		w.send(tuitest.Press(w.keys[rng.IntN(len(w.keys))]))
	}
}

// Without the answer nothing approves, whatever happens meanwhile: the answers
// lack one letter that is never pressed.
func TestSlowRandomEventsNeverApproveWithoutTheAnswer(t *testing.T) {
	for _, tc := range []struct {
		name, without string
		plans         []*preview.Plan
	}{
		{"plans that ask for the name", "m", []*preview.Plan{tuitest.FreshPlan(t), changedWebhook(t)}},
		{"plans that ask for y", "y", []*preview.Plan{tuitest.CleanPlan(t)}},
		{"an upgrade that deletes", "g", []*preview.Plan{tuitest.UpgradePlan(t), tuitest.FreshPlan(t)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			confirms, replans := 0, 0
			for i := range sequences(t) / 3 / 10 {
				rng := rand.New(rand.NewPCG(7, uint64(i)))
				w := newWorld(t, rng, tc.plans, tc.without)
				for range 100 {
					w.step()
					switch {
					case w.m.outcome.Kind == Approved:
						t.Fatalf("sequence %d approved", i)
					case w.m.screen == screenConfirm:
						confirms++
						if w.m.Stale() || w.m.Checklist.Remaining() > 0 {
							t.Fatalf("sequence %d asks about a stale plan, or one with looks left", i)
						}
					case w.m.screen == screenResolve:
						replans++
					}
				}
			}
			if confirms == 0 || replans == 0 {
				t.Errorf("%d steps on CONFIRM, %d while planning again: the test proves nothing", confirms, replans)
			}
		})
	}
}

// With the answer typed at random moments, what is approved is the plan on
// screen, as the cluster's last answer found it.
func TestSlowRandomEventsApproveOnlyThePlanAsked(t *testing.T) {
	plans := []*preview.Plan{tuitest.CleanPlan(t), tuitest.CleanPlan(t), tuitest.CleanPlan(t)}
	for i, p := range plans {
		p.Digest = tuitest.DigestOf(fmt.Sprint("plan ", i))
	}
	approved := 0
	for i := range sequences(t) / 10 {
		rng := rand.New(rand.NewPCG(11, uint64(i)))
		w := newWorld(t, rng, plans, "")
		for range 60 {
			before, asking := w.m.Plan.Digest, w.m.screen == screenConfirm && w.m.confirm.checked && !w.m.Stale()
			if asking && rng.IntN(4) == 0 {
				w.send(tuitest.Press("y"))
				w.send(tuitest.Press("enter"))
			} else {
				w.step()
			}
			if w.m.outcome.Kind != Approved {
				continue
			}
			approved++
			if !asking || w.m.outcome.PlanDigest != before || w.m.outcome.Plan == nil || w.m.outcome.Plan.Digest != before {
				t.Fatalf("sequence %d approved %s, and %s was on screen, asked about: %t", i, w.m.outcome.PlanDigest, before, asking)
			}
			break
		}
	}
	if approved == 0 {
		t.Error("nothing was approved: the test proves nothing")
	}
}

// breaks is a review that panics at the question, in Update or in View.
type breaks struct {
	*review
	inView bool
}

func (m breaks) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if _, key := msg.(tea.KeyPressMsg); key && m.screen == screenConfirm && !m.inView {
		panic("broken Update")
	}
	_, cmd := m.review.Update(msg)
	return m, cmd
}

func (m breaks) View() tea.View {
	if m.screen == screenConfirm && m.inView {
		panic("broken View")
	}
	return m.review.View()
}

// A panic is an error, never an answer.
func TestAPanicApprovesNothing(t *testing.T) {
	p := tuitest.CleanPlan(t)
	for _, inView := range []bool{false, true} {
		t.Run(fmt.Sprintf("in View: %t", inView), func(t *testing.T) {
			asked := make(chan struct{})
			in := tuitest.Keyboard("a", asked, "y\r")
			defer func() { _ = in.Close() }()
			recheck := func(context.Context, *preview.Plan, func(string)) (*preview.Plan, error) {
				close(asked)
				return p, nil
			}
			m := newReview(tuitest.Deadline(t), Options{Plan: p, Recheck: recheck, Gate: openGate, Now: (&tuitest.StepClock{}).Now})
			if err := frame.Run(tuitest.Deadline(t), breaks{m, inView}, tuitest.TestTerminal(in)); !errors.Is(err, tea.ErrProgramPanic) || !strings.Contains(err.Error(), "broken ") || m.outcome.Kind == Approved {
				t.Errorf("outcome %v, error %v", m.outcome.Kind, err)
			}
		})
	}
	t.Run("while the cluster is checked again", func(t *testing.T) {
		asked := make(chan struct{})
		in := tuitest.Keyboard("a", asked, "y\r")
		defer func() { _ = in.Close() }()
		outcome, err := Run(tuitest.Deadline(t), Options{
			Terminal: tuitest.TestTerminal(in), Plan: p, Gate: openGate, Now: (&tuitest.StepClock{}).Now,
			Recheck: func(context.Context, *preview.Plan, func(string)) (*preview.Plan, error) {
				close(asked)
				panic("broken check")
			},
		})
		if err == nil || !strings.Contains(err.Error(), "broken check") || outcome.Kind == Approved {
			t.Errorf("outcome %v, error %v", outcome.Kind, err)
		}
	})
}
