package clock

import (
	"time"

	"golang.org/x/sys/unix"
)

func sinceBoot() time.Duration {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return 0 // the wall clock decides
	}
	return time.Duration(now.Nano())
}
