// Package clock measures time for an apply: by a clock that runs on while the
// machine is suspended, so that a lease which expired meanwhile is noticed, and
// with the pauses between two tries of a write. Tests bring their own clock.
package clock

import (
	"time"

	"github.com/kubectl-operator/kubectl-operator/install/rollout"
)

// Clock is the time as apply sees it; tests bring their own.
type Clock = rollout.Clock

// System is the clock of the machine.
type System struct{}

// Now is the time of day.
func (System) Now() time.Time { return time.Now() }

// After answers once, when d has passed.
func (System) After(d time.Duration) <-chan time.Time { return time.After(d) }

// SinceBoot counts the time in which the machine was suspended, too.
func (System) SinceBoot() time.Duration { return sinceBoot() }

// bootClock is a [Clock] that goes on while the machine is suspended. The
// monotonic reading of [time.Now] stands still then on most systems.
type bootClock interface{ SinceBoot() time.Duration }

// Stamp is a moment on each clock that judges a lease.
type Stamp struct {
	boot time.Duration
	wall time.Time // without a monotonic reading
}

// StampOf reads each of the clocks.
func StampOf(clock Clock) Stamp {
	s := Stamp{wall: clock.Now().Round(0)}
	if c, ok := clock.(bootClock); ok {
		s.boot = c.SinceBoot()
	}
	return s
}

// Since returns the time that passed, by the clock that says more: a virtual
// machine that was paused may know of it by its wall clock alone, and a wall
// clock that was set ahead only costs a renewal.
func (s Stamp) Since(earlier Stamp) time.Duration {
	return max(s.boot-earlier.boot, s.wall.Sub(earlier.wall))
}
