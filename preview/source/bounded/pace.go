package bounded

import (
	"context"
	"errors"
	"io"
	"net"
	"time"
)

// MinimumPace is the average rate, in bytes per second over two request timeouts, below
// which the reading of a response is given up. A timeout for silence alone would let a
// server hold a run for weeks with a byte now and then; at this rate a manifest takes
// at most 17 minutes.
const MinimumPace = 4 * KiB

// ErrTooSlow is the error for a response that arrives more slowly than [MinimumPace].
var ErrTooSlow = errors.New("too slow")

// PacedBody is a response body that cancels its request with [ErrTooSlow] if it arrives
// more slowly than [MinimumPace].
type PacedBody struct {
	io.ReadCloser
	ctx    context.Context // of the request, which ends with ErrTooSlow
	cancel context.CancelCauseFunc
	timer  *time.Timer
	every  time.Duration
	want   int // bytes in that time
	got    int
}

// NewPacedBody returns body with its pace measured from now on. patience is the request
// timeout; cancel ends the context of the request.
func NewPacedBody(ctx context.Context, body io.ReadCloser, patience time.Duration, cancel context.CancelCauseFunc) *PacedBody {
	every := 2 * patience
	return &PacedBody{
		ReadCloser: body, ctx: ctx, cancel: cancel, every: every, want: max(KiB, int(MinimumPace*every.Seconds())),
		timer: time.AfterFunc(every, func() { cancel(ErrTooSlow) }),
	}
}

func (b *PacedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.got += n; b.got >= b.want {
		b.got = 0
		b.timer.Reset(b.every)
	}
	if err == nil {
		return n, nil
	}
	b.timer.Stop()
	// A connection that is being hung up may still seem to come to its end.
	if errors.Is(context.Cause(b.ctx), ErrTooSlow) {
		err = ErrTooSlow
	}
	return n, err
}

// Close implements [io.Closer].
func (b *PacedBody) Close() error {
	b.timer.Stop()
	err := b.ReadCloser.Close()
	b.cancel(nil)
	return err
}

// IdleConn is a connection whose reads fail if no byte arrives for Patience.
type IdleConn struct {
	net.Conn
	Patience time.Duration
}

func (c *IdleConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.Patience)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}
