package install

import (
	"time"

	"github.com/kubectl-operator/kubectl-operator/install/rollout"
)

// Clock is the time as apply sees it; tests bring their own.
type Clock = rollout.Clock

type systemClock struct{}

func (systemClock) Now() time.Time                         { return time.Now() }
func (systemClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// SinceBoot counts the time in which the machine was suspended, too.
func (systemClock) SinceBoot() time.Duration { return sinceBoot() }

// bootClock is a [Clock] that goes on while the machine is suspended. The
// monotonic reading of [time.Now] stands still then on most systems.
type bootClock interface{ SinceBoot() time.Duration }

// stamp is a moment on each clock that judges a lease.
type stamp struct {
	boot time.Duration
	wall time.Time // without a monotonic reading
}

func stampOf(clock Clock) stamp {
	s := stamp{wall: clock.Now().Round(0)}
	if c, ok := clock.(bootClock); ok {
		s.boot = c.SinceBoot()
	}
	return s
}

// since returns the time that passed, by the clock that says more: a virtual
// machine that was paused may know of it by its wall clock alone, and a wall
// clock that was set ahead only costs a renewal.
func (s stamp) since(earlier stamp) time.Duration {
	return max(s.boot-earlier.boot, s.wall.Sub(earlier.wall))
}
