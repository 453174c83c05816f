package frame

import (
	"context"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// HeartbeatInterval is the time between two signs of life of a wait without a
// screen.
const HeartbeatInterval = 10 * time.Second

// Heartbeat calls beat at intervals, every 10 s when every is 0, until stop is
// called, which waits for the last call to end.
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
