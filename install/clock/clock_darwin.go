package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot reads CLOCK_MONOTONIC, which on macOS continues while the machine
// sleeps (clock_gettime(3)).
func sinceBoot() time.Duration {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) != nil {
		return 0 // the wall clock decides
	}
	return time.Duration(now.Nano())
}
