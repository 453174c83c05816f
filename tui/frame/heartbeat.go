package frame

import (
	"context"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// HeartbeatInterval is the time between two reports, without a screen, that a
// wait is still going on.
const HeartbeatInterval = 10 * time.Second

// Heartbeat calls beat at intervals (0 means [HeartbeatInterval]) until ctx
// ends or stop is called. stop waits until the last call has returned.
func Heartbeat(ctx context.Context, every time.Duration, beat func()) (stop func()) {
	if every <= 0 {
		every = HeartbeatInterval
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := tasks.Async(func() error {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
				beat()
			}
		}
	})
	return func() {
		cancel()
		if err := <-ended; err != nil {
			panic(err) // as it did
		}
	}
}
