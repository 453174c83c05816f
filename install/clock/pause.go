package clock

import (
	"context"
	"errors"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// The pauses between the tries of one write. They double while the cluster is
// unavailable; a server that asks for more time gets it, within reason.
const (
	RetryPause    = 300 * time.Millisecond
	maxRetryAfter = 30 * time.Second
)

// pauseAfter returns how long to wait after try n (from 0), which failed with
// err: longer after each try, and at least the Retry-After of the answer, when
// the API server was unavailable.
func pauseAfter(err error, n int) time.Duration {
	if preview.ReasonOf(err) != preview.ReasonUnavailable {
		return RetryPause
	}
	pause := RetryPause << n
	if refused, ok := errors.AsType[*preview.Refusal](err); ok {
		pause = max(pause, min(refused.RetryAfter, maxRetryAfter))
	}
	return pause
}

// maxThrottled is how long a write is repeated that the API server refuses with
// 429 (too many requests).
const maxThrottled = 2 * time.Minute

// Unthrottled calls send again while the API server answers 429 (too many
// requests): the write was not carried out, and the answer says how long to wait.
func Unthrottled(ctx context.Context, clock Clock, send func() error) error {
	end := clock.Now().Add(maxThrottled)
	for n := 0; ; n++ {
		err := send()
		if !preview.Throttled(err) || !clock.Now().Before(end) || Sleep(ctx, clock, pauseAfter(err, min(n, MaxAttempts))) != nil {
			return err
		}
	}
}

// Pause waits after try n (from 0) of a write, which failed with err. After the last try
// of [MaxAttempts] it returns at once. It returns the error of ctx.
func Pause(ctx context.Context, clock Clock, err error, n int) error {
	if n+1 >= MaxAttempts {
		return nil
	}
	return Sleep(ctx, clock, pauseAfter(err, n))
}

// Sleep returns nil after d, or the error of ctx if ctx ends earlier.
func Sleep(ctx context.Context, clock Clock, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-clock.After(d):
		return nil
	}
}

// MaxAttempts is how often one write is tried.
const MaxAttempts = 5
