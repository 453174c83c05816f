package install

import (
	"context"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install/rollout"
)

// Clock is the time as apply sees it; tests bring their own.
type Clock = rollout.Clock

type systemClock struct{}

func (systemClock) Now() time.Time                         { return time.Now() }
func (systemClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// sleep returns nil after d, or the context's error when that ends first.
func sleep(ctx context.Context, clock Clock, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-clock.After(d):
		return nil
	}
}
