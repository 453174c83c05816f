package flight_test

import (
	"slices"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/k8s/flight"
)

// server answers a window of requests: each takes the way there and back, and waits for
// those before it. It carries out workers of them at a time.
type server struct {
	way, work time.Duration
	workers   int
}

// round answers one window, the first request first.
func (s server) round(r *flight.Rule) {
	window := r.Window()
	for i := range window {
		r.Answered("dry run", s.way+s.work*time.Duration(i/s.workers+1), window)
	}
}

func TestTheWindowFollowsTheServer(t *testing.T) {
	ms := time.Millisecond
	for _, test := range []struct {
		name     string
		server   server
		rounds   int
		from, to int // the window after the rounds
	}{
		{"before the first answer it is that of the start", server{}, 0, flight.Start, flight.Start},
		{"a server nearby, which is busy at once, keeps it", server{0, 4 * ms, 2}, 50, flight.Start, flight.Start + 1},
		{"a server far away gets it full in a few round trips", server{30 * ms, ms / 4, 8}, 4, flight.Most, flight.Most},
		{"a slow server far away gets what fills the way and its queue", server{30 * ms, 4 * ms, 2}, 50, 24, 48},
		{"a slower one gets less", server{30 * ms, 20 * ms, 2}, 50, flight.Start, 24},
		{"never more than a connection takes", server{300 * ms, ms / 8, 64}, 100, flight.Most, flight.Most},
	} {
		t.Run(test.name, func(t *testing.T) {
			var r flight.Rule
			for range test.rounds {
				test.server.round(&r)
			}
			if w := r.Window(); w < test.from || w > test.to {
				t.Errorf("window %d, want %d to %d", w, test.from, test.to)
			}
		})
	}
}

func TestTheWindowShrinksWhenRequestsTakeLonger(t *testing.T) {
	var r flight.Rule
	for range 5 {
		server{30 * time.Millisecond, time.Millisecond / 4, 8}.round(&r)
	}
	for range 200 { // other clients came
		server{30 * time.Millisecond, 8 * time.Millisecond, 2}.round(&r)
	}
	if w := r.Window(); w > 40 || w < flight.Start {
		t.Errorf("window %d of a server that has become slow", w)
	}
}

func TestTheWindowShrinksWhenRequestsAreRefused(t *testing.T) {
	fast := func(r *flight.Rule, n int) {
		for range n {
			server{30 * time.Millisecond, time.Millisecond / 4, 8}.round(r)
		}
	}
	for _, test := range []struct {
		name string
		do   func(r *flight.Rule)
		want int
	}{
		{"one refusal halves it", func(r *flight.Rule) { r.Refused(r.Round()) }, flight.Start / 2},
		{"all of one window count once", func(r *flight.Rule) {
			round := r.Round()
			for range flight.Start {
				r.Refused(round)
			}
		}, flight.Start / 2},
		{"those of each window after it count again", func(r *flight.Rule) { r.Refused(r.Round()); r.Refused(r.Round()) }, flight.Start / 4},
		{"it stays at one", func(r *flight.Rule) {
			for range 20 {
				r.Refused(r.Round())
			}
		}, 1},
		{"it grows again, by one in ten windows", func(r *flight.Rule) { r.Refused(r.Round()); fast(r, 39) }, flight.Start/2 + 3},
		{"below the start it grows from one", func(r *flight.Rule) {
			for range 20 {
				r.Refused(r.Round())
			}
			fast(r, 60)
		}, 7},
	} {
		t.Run(test.name, func(t *testing.T) {
			var r flight.Rule
			test.do(&r)
			if w := r.Window(); w != test.want {
				t.Errorf("window %d, want %d", w, test.want)
			}
		})
	}
}

func TestAWindowThatIsNotUsedDoesNotGrow(t *testing.T) {
	var r flight.Rule
	for range 1000 {
		r.Answered("get", 30*time.Millisecond, 3)
	}
	if w := r.Window(); w != flight.Start {
		t.Errorf("window %d after requests one by one", w)
	}
}

func TestKindsOfRequestsAreNotComparedWithEachOther(t *testing.T) {
	var one, two flight.Rule
	for range 20 {
		for range one.Window() {
			one.Answered("get", 30*time.Millisecond, one.Window())
			one.Answered("dry run", 90*time.Millisecond, one.Window())
		}
		for range two.Window() {
			two.Answered("both", 30*time.Millisecond, two.Window())
			two.Answered("both", 90*time.Millisecond, two.Window())
		}
	}
	if windows := []int{two.Window(), one.Window()}; !slices.IsSorted(windows) || windows[0] == windows[1] {
		t.Errorf("windows %v", windows)
	}
}

func TestAWindowOfManyConnectionsStaysSmall(t *testing.T) {
	var early, late flight.Rule
	early.Cap()
	for range 20 {
		server{30 * time.Millisecond, time.Millisecond / 4, 8}.round(&early)
		server{30 * time.Millisecond, time.Millisecond / 4, 8}.round(&late)
	}
	late.Cap()
	for _, r := range []*flight.Rule{&early, &late} {
		if w := r.Window(); w != flight.Start {
			t.Errorf("window %d", w)
		}
	}
}
