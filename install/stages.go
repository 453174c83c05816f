package install

import (
	"context"
	"fmt"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// takeLock makes this run the only writer of the release. held is cancelled if the
// lock is lost; release gives it back. If the plan creates the release Namespace,
// the create serves as the lock, and the Lease follows in that Namespace.
func (r *applier) takeLock(ctx context.Context) (held context.Context, release func(), err error) {
	if o := r.ownNamespace(); o != nil && r.before == nil && r.namespace == nil {
		if err := r.createNamespace(ctx, o); err != nil {
			return nil, nil, err
		}
	}
	l, err := r.acquire(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil, nil, r.interruptError(ctx, ctx, err)
		}
		return nil, nil, r.fail("taking the lock on the release", "run the command again", err)
	}
	r.lock = l
	return l.keep(ctx), func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
		defer cancel()
		l.release(last)
	}, nil
}

// recordNamespace adds the release Namespace to the inventory, if this plan
// created it before there was a record.
func (r *applier) recordNamespace() {
	o := r.ownNamespace()
	if o == nil || r.namespace == nil {
		return
	}
	r.done[o.ID] = true
	r.recordWritten(o, WrittenObject{Sealed: o.Planned, Reviewed: o.ResultBody, Before: r.namespace, Live: r.namespace})
}

// stages writes the plan's stages in order. A stage begins when the objects
// that it needs of the stages before it are ready.
func (r *applier) stages(ctx context.Context) error {
	for i := range r.plan.Stages {
		stage := &r.plan.Stages[i]
		var objects []*preview.Object
		for _, id := range stage.Objects {
			o := r.object(id)
			if o == nil {
				return r.fail("applying "+stage.ID, "", fmt.Errorf("stage %s names %s, which the plan does not have", stage.ID, id))
			}
			if record.HasWrite(o.Action) && !r.done[id] {
				objects = append(objects, o)
			}
		}
		if len(objects) == 0 {
			continue
		}
		if err := r.gates(ctx, i); err != nil {
			return err
		}
		if err := r.trials.ahead(ctx, i); err != nil {
			return err
		}
		if err := r.stage(ctx, stage, objects); err != nil {
			return err
		}
	}
	return nil
}

// stage records which objects are about to be written, and writes them. The results are
// recorded with the objects of the next stage, or before the run waits.
func (r *applier) stage(ctx context.Context, stage *preview.Stage, objects []*preview.Object) error {
	objects = r.ownNamespaceLast(r.withReleases(stage, objects))
	r.emit(Event{Type: EventStage, Stage: stage.ID, Message: preview.Plural(len(objects), "object")})
	if !r.record.State.CanBecome(record.Applying) {
		return r.fail("applying "+stage.ID, "", fmt.Errorf("a record that is %s cannot be applied", r.record.State))
	}
	r.record.State, r.record.Stage = record.Applying, stage.ID
	before := map[string]record.ObjectState{}
	var intents []*preview.Object
	for _, o := range objects {
		entry := r.record.Object(o.ID)
		before[o.ID], entry.State = entry.State, record.StateSent
		if o.Action != preview.ActionDelete {
			intents = append(intents, o)
		}
	}
	r.record.AddAllToInventory(intents)
	if err := r.save(ctx, r.plan.Objects); err != nil {
		r.markUnsent(objects, before)
		return r.fail("recording what stage "+stage.ID+" is about to do", "", err)
	}
	r.unsaved = stage.ID
	diverged, err := r.sendAll(ctx, stage, objects, before)
	if err != nil {
		return err
	}
	if len(diverged) > 0 {
		return &Error{
			Kind: Failed, Operation: "comparing what stage " + stage.ID + " wrote with what was reviewed",
			Cause: joinReasons(diverged), Reasons: diverged,
			Advice: "something in the cluster changes these objects; preview again to see what they are now",
		}
	}
	return nil
}

// markUnsent marks objects that were recorded as about to be written, and were
// not, as pending again. An adoption between its two writes stays so.
func (r *applier) markUnsent(objects []*preview.Object, before map[string]record.ObjectState) {
	ids := make([]string, len(objects))
	for i, o := range objects {
		entry := r.record.Object(o.ID)
		entry.State, ids[i] = record.StatePending, o.ID
		if before[o.ID] == record.StateReleased {
			entry.State = record.StateReleased
		}
	}
	r.dropIntents(ids...)
}

// stopsOnDivergence reports whether an object must be exactly as reviewed
// before the next stage may begin: permissions, accounts, webhooks, workloads, and what
// decides who reaches them.
func stopsOnDivergence(o *preview.Object) bool {
	switch o.Ref().Group() {
	case "rbac.authorization.k8s.io", "admissionregistration.k8s.io", "networking.k8s.io":
		return true
	}
	if o.Is(preview.KindServiceAccount, preview.KindService) {
		return true
	}
	return o.Patches() || preview.Map(o.Planned, "spec", "template", "spec") != nil ||
		preview.Map(o.Planned, "spec", "jobTemplate", "spec", "template", "spec") != nil || o.Kind == "Pod"
}
