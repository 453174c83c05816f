// Package clock measures time for an apply: by a clock that runs on while the
// machine is suspended, so that a lease which expired meanwhile is noticed, and
// with the pauses between two tries of a write. Tests bring their own clock.
package clock

import (
	"time"

	"github.com/kubectl-operator/kubectl-operator/install/rollout"
)

// Clock is the time for an apply; tests use their own.
type Clock = rollout.Clock

// System is the clock of the machine.
type System struct{}

// Now is the time of day.
func (System) Now() time.Time { return time.Now() }

// After sends once, after d.
func (System) After(d time.Duration) <-chan time.Time { return time.After(d) }

// SinceBoot returns the time since boot, including time in which the machine was
// suspended.
func (System) SinceBoot() time.Duration { return sinceBoot() }

// bootClock is a [Clock] that keeps running while the machine is suspended. On
// most systems the monotonic reading of [time.Now] stops then.
type bootClock interface{ SinceBoot() time.Duration }

// Stamp is a moment as read on each clock that is used for leases.
type Stamp struct {
	boot time.Duration
	wall time.Time // without a monotonic reading
}

// StampOf reads all clocks.
func StampOf(clock Clock) Stamp {
	s := Stamp{wall: clock.Now().Round(0)}
	if c, ok := clock.(bootClock); ok {
		s.boot = c.SinceBoot()
	}
	return s
}

// Since returns the time that passed since the stamp, the larger of what the
// clocks say. A virtual machine that was paused may notice it only by its wall
// clock; a wall clock that was set ahead only causes an early renewal.
func (s Stamp) Since(earlier Stamp) time.Duration {
	return max(s.boot-earlier.boot, s.wall.Sub(earlier.wall))
}
