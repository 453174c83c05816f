package install

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// writeCounter counts writes of plan objects that were made or whose outcome is
// unknown. It is kept outside the applier, so that it is known after a panic there.
type writeCounter struct{ made atomic.Int64 }

// happened reports whether a write of a plan object was made, or may have been.
func (w *writeCounter) happened() bool { return w.made.Load() > 0 }

// count calls send, which sends a write, and counts the write unless the API
// server refused it. Writes of records and locks are not counted.
func (w *writeCounter) count(ref preview.Ref, send func() error) error {
	if strings.HasPrefix(ref.Name, preview.RecordName("")) {
		return send() // a record or a lock
	}
	w.made.Add(1)
	err := send()
	if err != nil && !mayHaveBeenSent(err) {
		w.made.Add(-1)
	}
	return err
}

// countingCluster is a cluster whose writes are counted before they are sent.
type countingCluster struct {
	Cluster
	writes *writeCounter
}

func (c countingCluster) Apply(ctx context.Context, item preview.DryRun) (body map[string]any, err error) {
	err = c.writes.count(preview.RefOf(item.Body), func() error { body, err = c.Cluster.Apply(ctx, item); return err })
	return body, err
}

func (c countingCluster) Patch(ctx context.Context, ref preview.Ref, ops []preview.PatchOp) (body map[string]any, err error) {
	err = c.writes.count(ref, func() error { body, err = c.Cluster.Patch(ctx, ref, ops); return err })
	return body, err
}

func (c countingCluster) Delete(ctx context.Context, ref preview.Ref, uid, resourceVersion string, dependents preview.Propagation) (gone bool, err error) {
	err = c.writes.count(ref, func() error {
		gone, err = c.Cluster.Delete(ctx, ref, uid, resourceVersion, dependents)
		return err
	})
	return gone, err
}

// applyRecovered runs apply and returns a panic as an error. Nothing is recorded
// after a panic, as if the process had been killed, and the same digest resumes
// the plan.
func (r *applier) applyRecovered(ctx context.Context, writes *writeCounter) error {
	err := tasks.Try(func() error { return r.apply(ctx) })
	var known *Error
	var broken *tasks.Panic
	if !errors.As(err, &broken) || errors.As(err, &known) {
		return err
	}
	e := &Error{
		Kind: NotStarted, Operation: "applying " + r.plan.Release.Name,
		Cause: "internal error: " + broken.Error(), Advice: "this run has written nothing", Err: broken,
	}
	if r.hasSent() || writes.happened() {
		e.Kind, e.Advice = Interrupted, r.resumeAdvice()
		e.Cause += "; " + r.progress()
	}
	return e
}
