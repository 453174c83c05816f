package bounded

import (
	"context"
	"errors"
	"io"
	"net"
	"time"
)

// MinimumPace is how many bytes a second a body has to bring on average, looked
// at every two request timeouts: silence is noticed after one. A timeout for
// silence alone would let a server hold a run for weeks with a byte now and
// then; at this pace a manifest takes no more than 17 minutes.
const MinimumPace = 4 * KiB

var ErrTooSlow = errors.New("too slow")

// PacedBody gives up on a server that keeps a connection open with a drop now
// and then.
type PacedBody struct {
	io.ReadCloser
	ctx    context.Context // of the request, which ends with errTooSlow
	cancel context.CancelCauseFunc
	timer  *time.Timer
	every  time.Duration
	want   int // bytes in that time
	got    int
}

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

// IdleConn gives up on a peer that sends nothing for a while.
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
