package install

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/install/clock"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

// deletedNamespace returns the release Namespace if a plan deletes it, else nil.
func deletedNamespace(p *preview.Plan) *preview.Object {
	o := p.Object(namespaceRef(p.Release).ID())
	if o == nil || o.Action != preview.ActionDelete {
		return nil
	}
	return o
}

func namespaceRef(release preview.Release) preview.Ref {
	return preview.Ref{APIVersion: "v1", Kind: "Namespace", Name: release.Namespace}
}

// ownNamespaceLast moves the release Namespace to the end of the objects to
// delete, because the record is in it.
func (r *applier) ownNamespaceLast(objects []*preview.Object) []*preview.Object {
	own := deletedNamespace(r.plan)
	at := slices.Index(objects, own)
	if own == nil || at < 0 {
		return objects
	}
	return append(slices.Delete(slices.Clone(objects), at, at+1), own)
}

// removeNamespace deletes a Namespace that contains only what was reviewed.
// Before the release Namespace goes, and the record in it, the receipt is
// stored elsewhere (Keep of the options).
func (r *applier) removeNamespace(ctx context.Context, o *preview.Object) error {
	r.emit(Event{Type: EventObject, Object: o.ID, State: record.StateSent})
	if err := r.mayRemoveNamespace(ctx, o); err != nil {
		return r.failedObject(ctx, o, "deleting", err)
	}
	if o != deletedNamespace(r.plan) {
		return r.sendDelete(ctx, o, r.liveOf(o))
	}
	r.lock.leaving.Store(true)
	err := r.sendDelete(ctx, o, r.liveOf(o))
	r.leaving = err == nil
	r.lock.leaving.Store(r.leaving)
	return err
}

func (r *applier) mayRemoveNamespace(ctx context.Context, o *preview.Object) error {
	more, err := engine.NewNamespaceContents(ctx, r.checked, r.cluster, o.Name)
	switch {
	case err != nil:
		return notSentError(err)
	case len(more) > 0:
		return &changedObjectError{"it holds objects that the review did not show: " + joinReasons(more)}
	case o != deletedNamespace(r.plan):
		return nil
	}
	if err := r.opts.Keep(r.record.Receipt()); err != nil {
		return notSentError(fmt.Errorf("keeping the receipt, as the record is deleted with the namespace: %w", err))
	}
	return nil
}

// finishDeletedNamespace completes a run whose earlier attempt deleted the release
// Namespace as its last write: it waits until the Namespace is gone. ended is false
// for other runs. Lock and record cannot be written in that Namespace any more.
func (r *applier) finishDeletedNamespace(ctx context.Context) (ended bool, err error) {
	o := deletedNamespace(r.plan)
	if o == nil || !r.isResumed() {
		return false, nil
	}
	live, err := r.cluster.Get(ctx, o.Ref())
	if err != nil {
		return false, r.fail("reading namespace "+o.Name, "run the command again", err)
	}
	if namespaceStays(live, o.Live.UID) {
		return false, nil
	}
	record := *r.before
	record.Approval = r.approval
	r.record, r.leaving = &record, true
	r.noteWrite()
	return true, r.close(ctx, ctx, r.awaitNamespaceGone(ctx))
}

// namespaceStays reports whether a live Namespace has that uid and is not being
// deleted.
func namespaceStays(live map[string]any, uid string) bool {
	return live != nil && preview.UID(live) == uid && preview.String(live, "metadata", "deletionTimestamp") == ""
}

// FinishRemoval completes an uninstall that was interrupted after it had deleted the
// release Namespace, and the record in it: it waits until the Namespace named by the
// receipt is gone. It returns nil if that uninstall did not delete the Namespace.
func FinishRemoval(ctx context.Context, receipt *record.Receipt, cluster Cluster, opts Options) (*record.Receipt, error) {
	if opts.Clock == nil {
		opts.Clock = clock.System{}
	}
	if opts.RolloutTimeout == 0 {
		opts.RolloutTimeout = DefaultRolloutTimeout
	}
	plan := &preview.Plan{
		Release: receipt.Release, Digest: receipt.Digest, ContentDigest: receipt.ContentDigest, Base: preview.Base{Revision: receipt.Revision - 1},
	}
	own := false
	for _, o := range receipt.Objects {
		group, kind, _, name, err := preview.ParseID(o.ID)
		if err != nil || group != "" || kind != "Namespace" || o.Action != preview.ActionDelete {
			continue
		}
		plan.Objects = append(plan.Objects, preview.Object{
			ID: o.ID, APIVersion: "v1", Kind: kind, Name: name, Action: o.Action, Live: preview.Live{UID: o.UID},
		})
		sent := o.State == record.StateSent || o.State == record.StateRemoving || o.State == record.StateRemoved
		own = own || sent && name == receipt.Release.Namespace // and so all before it is sent, and gone but for Namespaces
	}
	if !own {
		return nil, nil
	}
	o := deletedNamespace(plan)
	live, err := cluster.Get(ctx, o.Ref())
	if err != nil {
		return nil, asError(NotStarted, "reading namespace "+o.Name, "run the command again", err)
	}
	if namespaceStays(live, o.Live.UID) {
		return nil, nil
	}
	r := newRun(&attempt{
		plan: plan, cluster: cluster, opts: opts, leaving: true, wrote: written(),
		record: &record.Record{
			Release: receipt.Release, Revision: receipt.Revision, State: record.Applying, Digest: receipt.Digest, ContentDigest: receipt.ContentDigest,
			Target: receipt.Target, Approval: receipt.Approval, Started: receipt.Started, Objects: slices.Clone(receipt.Objects),
		},
	})
	done, err := r.result(r.close(ctx, ctx, r.awaitNamespaceGone(ctx)))
	done.Stages = slices.Clone(receipt.Stages)
	for i := range done.Stages {
		if err == nil {
			done.Stages[i].Status = record.StageSucceeded
		}
	}
	return done, err
}

// awaitNamespaceGone waits until Namespaces that an earlier run deleted are gone.
func (r *applier) awaitNamespaceGone(ctx context.Context) error {
	var left []preview.Ref
	for i := range r.plan.Objects {
		o := &r.plan.Objects[i]
		if o.Kind != "Namespace" || o.Action != preview.ActionDelete {
			continue
		}
		live, err := r.cluster.Get(ctx, o.Ref())
		if err != nil {
			return r.fail("reading namespace "+o.Name, "", err)
		}
		gone := live == nil || preview.UID(live) != o.Live.UID
		if r.recordRemoved(o, gone); !gone {
			left = append(left, o.Ref())
		}
	}
	if len(left) == 0 || r.opts.NoWait {
		return nil
	}
	end := rollout.Options{Gone: left, Timeout: r.opts.RolloutTimeout}
	return r.addNamespaceState(ctx, r.await(ctx, preview.StagePruneNamespaces, end))
}
