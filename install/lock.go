package install

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install/clock"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// The lease that serializes the writers of one release.
const (
	leaseSeconds  = 15
	leaseDuration = leaseSeconds * time.Second
	renewEvery    = 4 * time.Second
	pollLease     = time.Second
	// doubtAfter is the age that makes the last renewal of the lease too old to write on:
	// the lease is renewed first. A write sent before has the rest of the lease to be
	// stored.
	doubtAfter = 2 * renewEvery
)

// microTime is the format of a MicroTime field (coordination.k8s.io/v1).
const microTime = "2006-01-02T15:04:05.000000Z07:00"

// Why a run ends that may no longer be the only writer.
var (
	errLockLost = errors.New("the lock on the release was lost to another writer")
	errLockOld  = errors.New("the lock on the release could not be renewed in time")
)

// lockLost reports whether a context was cancelled because the run lost its lock.
func lockLost(held context.Context) bool {
	cause := context.Cause(held)
	var broken *tasks.Panic
	return errors.Is(cause, errLockLost) || errors.Is(cause, errLockOld) || errors.As(cause, &broken)
}

// lock is a held Lease, renewed in the background until it is released. A nil
// *lock belongs to a run that needs no Lease.
type lock struct {
	cluster Cluster
	ref     preview.Ref
	holder  string
	clock   clock.Clock
	onWait  func(string) // called once when acquiring has to wait

	taken    map[string]any // the lease as first written
	overtook map[string]any // the lease of another run that had expired, nil when there was none

	mu   sync.Mutex     // held while the lease is written
	live map[string]any // the lease as last written
	// renewed is when the last acknowledged renewal was sent; nil when that is not known.
	renewed atomic.Pointer[clock.Stamp]
	proof   error        // of the last Prove
	proofs  atomic.Int64 // how many there were
	stop    context.CancelFunc
	held    context.Context         // ends with the lock
	lost    context.CancelCauseFunc // ends what is done under the lock
	done    <-chan error

	resting atomic.Bool // see rest
	// leaving is set while the namespace of the lease is being deleted, which
	// takes the lease along: no other run can take it there any more.
	leaving atomic.Bool
}

// leaseWatch decides whether another run's Lease has expired: nothing in the
// Lease has changed for its whole duration, by the local clock. Clocks of
// machines differ, so renewTime is never compared with the local time.
type leaseWatch struct {
	seen  string
	since time.Time
}

// expired observes the Lease once more and reports whether it has expired, and
// whether its holder has renewed it since the first observation.
func (w *leaseWatch) expired(lease map[string]any, now time.Time) (expired, alive bool) {
	mark := preview.UID(lease) + " " + preview.String(lease, "spec", "holderIdentity") + " " + preview.String(lease, "spec", "renewTime")
	if w.seen == "" {
		w.seen, w.since = mark, now
		return false, false
	}
	if mark != w.seen {
		return false, true
	}
	return now.Sub(w.since) >= leaseDuration, false
}

func leaseRef(release preview.Release) preview.Ref {
	return preview.Ref{
		APIVersion: "coordination.k8s.io/v1", Kind: "Lease",
		Namespace: release.Namespace, Name: preview.RecordName(release.Name),
	}
}

// acquire takes the release's Lease. A Lease that another run holds and renews
// is an error of kind [NotStarted]; one that is not renewed is taken over after
// it was watched for its whole duration. The holder's name ends in a random
// word, because two containers can have the same host name and process id.
func (r *applier) acquire(ctx context.Context) (*lock, error) {
	l := &lock{
		cluster: r.cluster, ref: leaseRef(r.plan.Release), holder: r.opts.Holder + "/" + rand.Text()[:8], clock: r.opts.Clock,
		onWait: r.log,
	}
	var watch leaseWatch
	var live map[string]any
	unavailable := 0
	for {
		sent := clock.StampOf(l.clock)
		written, _, err := l.write(ctx, live)
		if err == nil {
			l.live, l.taken, l.overtook = written, written, live
			l.renewed.Store(&sent)
			return l, nil
		}
		reason, last := preview.ReasonOf(err), err
		if reason != preview.ReasonChanged && (reason != preview.ReasonUnavailable || unavailable == clock.MaxAttempts) {
			return nil, fmt.Errorf("taking the lock %s/%s: %w", l.ref.Namespace, l.ref.Name, err)
		}
		other := live
		if live, err = l.await(ctx, &watch); err != nil {
			return nil, err
		}
		if preview.String(live, "spec", "holderIdentity") == l.holder {
			l.live, l.taken, l.overtook = live, live, other // it was written, at a time unknown, and only the answer was lost
			return l, nil
		}
		if reason == preview.ReasonUnavailable {
			if err := clock.Pause(ctx, l.clock, last, unavailable); err != nil {
				return nil, err
			}
			unavailable++
		}
	}
}

// await waits until the Lease can be taken, because it is absent, held by this
// run, or expired, and returns it as read, nil if absent.
func (l *lock) await(ctx context.Context, watch *leaseWatch) (map[string]any, error) {
	for {
		lease, err := l.cluster.Get(ctx, l.ref)
		if err != nil {
			return nil, fmt.Errorf("reading the lock %s/%s: %w", l.ref.Namespace, l.ref.Name, err)
		}
		holder := preview.String(lease, "spec", "holderIdentity")
		if lease == nil || holder == l.holder {
			return lease, nil
		}
		if watch.seen == "" {
			l.onWait(fmt.Sprintf("%s holds the lock; watching for %s whether it still works", holder, leaseDuration))
		}
		expired, alive := watch.expired(lease, l.clock.Now())
		if alive {
			return nil, &Error{
				Kind: NotStarted, Operation: "taking the lock on the release",
				Cause:  fmt.Sprintf("%s holds the lock and is still running", holder),
				Advice: "wait until that run has ended, then run the command again",
			}
		}
		if expired {
			return lease, nil
		}
		if err := clock.Sleep(ctx, l.clock, pollLease); err != nil {
			return nil, err
		}
	}
}

// write creates the Lease, or updates it with the resourceVersion of live.
// renewal is the renewTime that was written.
func (l *lock) write(ctx context.Context, live map[string]any) (written map[string]any, renewal string, err error) {
	now := l.clock.Now().UTC().Format(microTime)
	acquired, transitions := now, transitionsOf(live)
	switch {
	case live == nil:
	case preview.String(live, "spec", "holderIdentity") == l.holder:
		acquired = preview.String(live, "spec", "acquireTime")
	default:
		transitions++
	}
	// Force, because the lease is this tool's own: an edit of it by others must
	// not lock the release for good.
	item := preview.DryRun{Force: true, Body: map[string]any{
		"apiVersion": l.ref.APIVersion, "kind": l.ref.Kind,
		"metadata": map[string]any{"name": l.ref.Name, "namespace": l.ref.Namespace},
		"spec": map[string]any{
			"holderIdentity": l.holder, "leaseDurationSeconds": int64(leaseSeconds),
			"acquireTime": acquired, "renewTime": now, "leaseTransitions": transitions,
		},
	}}
	if live != nil {
		item.UID, item.ResourceVersion = preview.UID(live), preview.ResourceVersion(live)
	}
	written, err = l.cluster.Apply(ctx, item)
	return written, now, err
}

func transitionsOf(lease map[string]any) int64 {
	n, _ := preview.Value(lease, "spec", "leaseTransitions").(int64)
	return n
}

// keep renews the lease in the background. The returned context is cancelled when
// the lease is lost or could not be renewed in time, because another run may be
// writing from then on.
func (l *lock) keep(ctx context.Context) context.Context {
	l.held, l.lost = context.WithCancelCause(ctx)
	// Renewing goes on while an interrupted run records what it did.
	renewing, stop := context.WithCancel(context.WithoutCancel(ctx))
	l.stop = stop
	l.done = tasks.Async(func() error {
		err := tasks.Try(func() error { return l.keepRenewing(renewing) })
		if err != nil {
			l.lost(err)
		}
		return nil
	})
	return l.held
}

// keepRenewing renews the lease until ctx ends (nil), or until the lock is
// lost: then it returns why.
func (l *lock) keepRenewing(ctx context.Context) error {
	for clock.Sleep(ctx, l.clock, renewEvery) == nil {
		switch err := l.renew(ctx); {
		case err == nil:
		case l.leaving.Load():
			return nil
		case errors.Is(err, errLockLost):
			return errLockLost
		case l.age() >= leaseDuration-renewEvery && !l.resting.Load():
			return errLockOld // it may expire before the next renewal
		}
	}
	return nil
}

// age returns the time since the last successful renewal was sent, including time while
// the process or the machine was suspended.
func (l *lock) age() time.Duration {
	renewed := l.renewed.Load()
	if renewed == nil {
		return leaseDuration
	}
	return clock.StampOf(l.clock).Since(*renewed)
}

// Confirm returns nil only if this run is the only writer; it is called before
// each write and after each create. If the last renewal is too old, because the
// process was stopped or the machine suspended, it renews the lease first.
func (l *lock) Confirm(ctx context.Context) error {
	switch {
	case l == nil || l.leaving.Load():
		return nil
	case errors.Is(context.Cause(l.held), errLockLost):
		return errLockLost
	case l.age() < doubtAfter:
		return nil
	}
	return l.Prove(ctx)
}

// Prove renews the lease now. If that fails, the context of the lock is cancelled. Writes
// in flight in parallel may ask at once: one of them finds out for all.
func (l *lock) Prove(ctx context.Context) error {
	if l == nil || l.leaving.Load() {
		return nil
	}
	before := l.proofs.Load()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.proofs.Load() == before {
		l.proof = l.prove(ctx)
		l.proofs.Add(1)
	}
	return l.proof
}

// prove renews the lease, with mu held: waiting for mu does not count against its deadline.
func (l *lock) prove(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	for try := range clock.MaxAttempts {
		err := l.renewLocked(ctx)
		switch {
		case err == nil || l.leaving.Load():
			return nil
		case errors.Is(err, errLockLost):
			l.lost(errLockLost)
			return errLockLost
		}
		if clock.Pause(ctx, l.clock, err, try) != nil {
			break
		}
	}
	l.lost(errLockOld)
	return errLockOld
}

// suspend stops requiring renewals while the run only waits and writes nothing, so
// that an unreachable cluster does not end it. resume must be called before the
// next write: it renews the lease, and fails if another run took it. The nil lock
// of a run that waits for a deleted namespace does nothing.
func (l *lock) suspend() {
	if l != nil {
		l.resting.Store(true)
	}
}

func (l *lock) resume(ctx context.Context) {
	if l == nil {
		return
	}
	defer l.resting.Store(false)
	// A run that was asked to stop records what it did, under the lock too.
	_ = l.Confirm(context.WithoutCancel(ctx)) // it ends what is done under the lock
}

// renew updates the Lease once more in this run's name.
func (l *lock) renew(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.renewLocked(ctx)
}

func (l *lock) renewLocked(ctx context.Context) error {
	sent := clock.StampOf(l.clock)
	written, renewal, err := l.write(ctx, l.live)
	if err == nil {
		l.live = written
		l.renewed.Store(&sent)
		return nil
	}
	live, readErr := l.cluster.Get(ctx, l.ref)
	if readErr != nil {
		return err
	}
	if preview.String(live, "spec", "holderIdentity") != l.holder {
		return errLockLost
	}
	l.live = live
	if preview.String(live, "spec", "renewTime") == renewal {
		l.renewed.Store(&sent) // it was written, and only the answer was lost
		return nil
	}
	return err
}

// release deletes the Lease, whatever its resourceVersion: the answer to the last
// renewal may have been lost. If that fails, the next run waits until it expires.
func (l *lock) release(ctx context.Context) {
	if l.stop != nil {
		l.stop()
		<-l.done //nolint:errcheck // that renewing ended is all that is awaited
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for try := range clock.MaxAttempts {
		_, err := l.cluster.Delete(ctx, l.ref, preview.UID(l.live), preview.ResourceVersion(l.live), preview.Background)
		if err == nil {
			return
		}
		live, readErr := l.cluster.Get(ctx, l.ref)
		switch {
		case readErr != nil && clock.Pause(ctx, l.clock, readErr, try) != nil:
			return
		case readErr != nil:
		case live == nil, preview.String(live, "spec", "holderIdentity") != l.holder:
			return // it is gone, or another run's
		case preview.ResourceVersion(live) == preview.ResourceVersion(l.live) && clock.Pause(ctx, l.clock, err, try) != nil:
			return // it may not be deleted, or not now
		default:
			l.live = live
		}
	}
}
