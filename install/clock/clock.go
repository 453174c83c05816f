// Package clock measures time for an apply: by a clock that runs on while the
// machine is suspended, so that a lease which expired meanwhile is noticed, and
// with the pauses between two tries of a write. Tests bring their own clock.
package clock

import (
	"time"

	"github.com/kubectl-operator/kubectl-operator/install/rollout"
)

// Clock is the time as an apply reads it; tests replace it.
type Clock = rollout.Clock

// System is the [Clock] that reads the clocks of the machine.
type System struct{}

// Now returns [time.Now].
func (System) Now() time.Time { return time.Now() }

// After returns [time.After].
func (System) After(d time.Duration) <-chan time.Time { return time.After(d) }

// SinceBoot returns the time since boot, including time while the machine was suspended.
func (System) SinceBoot() time.Duration { return sinceBoot() }

// bootClock is a [Clock] that also counts time while the machine is suspended. The
// monotonic reading of [time.Now] stops then on most systems.
type bootClock interface{ SinceBoot() time.Duration }

// Stamp is one moment, read on the wall clock and on the clock since boot.
// Leases are timed by it.
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

// Since returns the time from earlier to s, the larger of what the two clocks
// measured. A virtual machine that was paused may notice it only by its wall
// clock; a wall clock that was set ahead only causes an early renewal.
func (s Stamp) Since(earlier Stamp) time.Duration {
	return max(s.boot-earlier.boot, s.wall.Sub(earlier.wall))
}
