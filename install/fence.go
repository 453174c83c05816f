package install

import (
	"context"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// Fence is that of a record which the holder of the lock writes.
func (l *lock) Fence(revision int) fence {
	if l == nil {
		return fence{Revision: revision}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return fence{Holder: l.holder, Transitions: transitionsOf(l.live), Revision: revision}
}

// Taken ends what is done under a lock that another run turned out to hold.
func (l *lock) Taken() error {
	if l != nil {
		l.lost(errLockLost)
	}
	return errLockLost
}

// DropLease deletes the Lease that the run which wrote the newest record left
// behind when it was killed after its last word. What fails here only makes the
// next writer wait for the lease to expire.
func DropLease(ctx context.Context, cluster Cluster, release preview.Release) {
	record, secret, err := loadRecord(ctx, cluster, release)
	if err == nil && record != nil && !record.State.Unfinished() {
		dropLease(ctx, cluster, release, secret)
	}
}

// dropLease deletes the Lease of the run that wrote a record.
func dropLease(ctx context.Context, cluster Cluster, release preview.Release, record map[string]any) {
	ended := fenceOf(record)
	if ended.Holder == "" {
		return
	}
	ref := leaseRef(release)
	lease, err := cluster.Get(ctx, ref)
	if err != nil || lease == nil || preview.String(lease, "spec", "holderIdentity") != ended.Holder {
		return
	}
	_ = cluster.Delete(ctx, ref, uidOf(lease), versionOf(lease), preview.Background)
}
