package install

import (
	"context"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Fence returns the identity of this run as the holder of the lock (see
// [record.Fence]), to be stored in the records that it writes.
func (l *lock) Fence(revision int) record.Fence {
	if l == nil {
		return record.Fence{Revision: revision}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return record.Fence{Holder: l.holder, Transitions: transitionsOf(l.live), Revision: revision}
}

// LostError notes that another run has the lock, cancels the context of this
// run, and returns the error for that.
func (l *lock) LostError() error {
	if l != nil {
		l.lost(errLockLost)
	}
	return errLockLost
}

// DropLease deletes the Lease that a run left behind when it was killed after it had
// recorded how it ended. If that fails, the next run waits until the Lease expires.
func DropLease(ctx context.Context, cluster Cluster, release preview.Release) {
	stored, secret, err := record.LoadWithSecret(ctx, cluster, release)
	if err == nil && stored != nil && !stored.State.Unfinished() {
		dropLease(ctx, cluster, release, secret)
	}
}

// dropLease deletes the Lease of the run that wrote a record; stored is the
// Secret with the record.
func dropLease(ctx context.Context, cluster Cluster, release preview.Release, stored map[string]any) {
	ended := record.FenceOf(stored)
	if ended.Holder == "" {
		return
	}
	ref := leaseRef(release)
	lease, err := cluster.Get(ctx, ref)
	if err != nil || lease == nil || preview.String(lease, "spec", "holderIdentity") != ended.Holder {
		return
	}
	_, _ = cluster.Delete(ctx, ref, preview.UID(lease), preview.ResourceVersion(lease), preview.Background)
}
