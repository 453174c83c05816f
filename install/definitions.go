package install

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// maxHeld is how many custom resources a message names whose finalizers keep a CRD.
const maxHeld = 5

// awaitDefinitions waits until the CRDs that a stage deleted are gone, and all
// their custom resources with them. Finalizers of those may need the operator,
// which a later stage deletes.
func (w *waiter) awaitDefinitions(ctx context.Context, stage *preview.Stage) error {
	if stage.ID != preview.StagePruneDefinitions {
		return nil
	}
	var refs []preview.Ref
	var live []map[string]any
	for _, id := range stage.Objects {
		o := w.object(id)
		if o != nil && o.Kind == "CustomResourceDefinition" && w.record.Object(id).State != record.StateRemoved {
			refs, live = append(refs, o.Ref()), append(live, w.liveOf(o))
		}
	}
	if len(refs) == 0 {
		return nil
	}
	err := w.await(ctx, stage.ID, rollout.Options{Gone: refs, Timeout: w.timeout(stage)})
	var e *Error
	if !errors.As(err, &e) || ctx.Err() != nil || w.stopRequested() {
		return err
	}
	var held []string
	for _, definition := range live {
		held = append(held, w.heldObjects(ctx, definition)...)
	}
	if len(held) == 0 {
		return err
	}
	named := *e
	named.Reasons = append(held, e.Reasons...)
	named.Cause = joinReasons(named.Reasons)
	named.Advice = "the operator still runs and may remove its finalizers; " + w.resumeAdvice()
	return &named
}

// heldObjects names the first custom resources of a CRD that are being deleted
// and wait for finalizers.
func (w *waiter) heldObjects(ctx context.Context, definition map[string]any) []string {
	version, kind := preview.ServedVersion(definition), preview.String(definition, "spec", "names", "kind")
	if version == "" {
		return nil
	}
	var out []string
	// Custom resources that cannot be listed any more stay unnamed: the definition is named.
	_ = w.cluster.Pages(ctx, preview.String(definition, "spec", "group")+"/"+version, kind, func(objects []map[string]any, _ int) bool {
		for _, body := range objects {
			var names []string
			for _, item := range preview.List(body, "metadata", "finalizers") {
				names = append(names, fmt.Sprint(item))
			}
			if len(names) > 0 && len(out) < maxHeld {
				out = append(out, preview.RefOf(body).ID()+" waits for finalizers "+strings.Join(names, ", "))
			}
		}
		return false
	})
	return out
}

// lookPause is the pause between two lists of the custom resources of a CRD whose deletion
// is under way.
const lookPause = 20 * time.Millisecond

// removeDefinition deletes a CRD as [writer.remove] does, and returns the ids of those
// custom resources that went with it and were created after the last count: no
// precondition of the deletion keeps them from it. The API server still lists them for a
// moment, until it deletes them.
func (w *writer) removeDefinition(ctx context.Context, o *preview.Object, live map[string]any) (gone bool, lost []string, err error) {
	answered := make(chan struct{})
	looked := tasks.Async(func() error {
		lost = w.newOperands(ctx, live, answered)
		return nil
	})
	gone, err = w.remove(ctx, o, live)
	close(answered)
	<-looked //nolint:errcheck // it has none
	return gone, lost, err
}

// newOperands lists the custom resources of a CRD again and again, the last time when its
// deletion was answered, and returns the ones created after this run took its lock; it
// counted all earlier ones.
func (w *writer) newOperands(ctx context.Context, definition map[string]any, answered <-chan struct{}) []string {
	var since time.Time
	if w.lock != nil {
		since = appliedAt(w.lock.taken)
	}
	seen := map[string]bool{}
	for last := false; ; {
		// Objects that cannot be listed any more are gone.
		found, err := ListOperands(ctx, w.cluster, []map[string]any{definition})
		for _, operand := range found {
			ref := preview.Ref{APIVersion: operand.APIVersion, Kind: operand.Kind, Namespace: operand.Namespace, Name: operand.Name}
			if !operand.Created.Before(since) && w.plan.Object(ref.ID()) == nil {
				seen[ref.ID()] = true
			}
		}
		if last || err != nil {
			return slices.Sorted(maps.Keys(seen))
		}
		select {
		case <-answered:
			last = true
		case <-w.opts.Clock.After(lookPause):
		}
	}
}
