package install

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// waiter waits until the objects that were written are ready, and deleted ones
// gone.
type waiter struct {
	*attempt
	shown WaitState // what a screen was last shown of a wait
	// beforeWait is called before a wait: nothing is left to record while it lasts.
	beforeWait func(context.Context) error
	putOff     time.Duration // by how much the waits were longer than their timeouts
}

// gates waits until stage i may begin: until what it needs of the stages before
// it is ready (section 5 of the package documentation).
func (w *waiter) gates(ctx context.Context, i int) error {
	to := &w.plan.Stages[i]
	for j := range w.plan.Stages[:i] {
		from := &w.plan.Stages[j]
		if err := w.awaitDefinitions(ctx, from); err != nil {
			return err
		}
		if refs := w.gateOf(from, to); len(refs) > 0 {
			if err := w.await(ctx, from.ID, rollout.Options{Refs: refs, Timeout: w.timeout(from)}); err != nil {
				return err
			}
		}
	}
	switch to.ID {
	case preview.StagePruneNamespaces:
		return w.awaitRest(ctx, to)
	case preview.StageAdmission:
		return w.await(ctx, to.ID, rollout.Options{Endpoints: w.webhookServices(to), Timeout: w.timeout(to)})
	}
	return nil
}

// gateOf returns the objects of stage from that must be ready before stage to begins:
// objects of certain kinds, and objects that the user's health checks select.
// PersistentVolumeClaims are left out, because a claim that waits for its first consumer
// would block for ever.
func (w *waiter) gateOf(from, to *preview.Stage) []preview.Ref {
	var refs []preview.Ref
	for _, id := range from.Objects {
		o := w.object(id)
		if o == nil || o.Planned == nil || w.record.Object(id).State == record.StateReady {
			continue
		}
		if w.gatesByKind(o, to) || w.hasCheck(o) {
			refs = append(refs, o.Ref())
		}
	}
	return refs
}

func (w *waiter) gatesByKind(o *preview.Object, to *preview.Stage) bool {
	switch o.Kind {
	case "Namespace", "CustomResourceDefinition", "Job":
		return true
	case "Pod":
		return o.Hook != nil
	case "Certificate", "Issuer":
		// Only a cert-manager that was there before can make them ready.
		return o.Ref().Group() == "cert-manager.io" && !w.bringsAPIGroup(o.Ref().Group())
	case "Deployment", "StatefulSet", "DaemonSet":
		return to.ID != "scaling"
	}
	return false
}

func (w *waiter) hasCheck(o *preview.Object) bool {
	return slices.ContainsFunc(w.opts.Checks, func(c rollout.Check) bool { return c.Selects(o.Planned) })
}

// webhookServices returns the Services behind a stage's webhooks. A webhook whose
// Service has no ready endpoint rejects or delays requests.
func (w *waiter) webhookServices(stage *preview.Stage) []preview.Ref {
	var refs []preview.Ref
	seen := map[preview.Ref]bool{}
	for _, id := range stage.Objects {
		o := w.object(id)
		if o == nil || !record.HasWrite(o.Action) {
			continue
		}
		for _, item := range preview.List(o.Planned, "webhooks") {
			webhook, _ := item.(map[string]any)
			service := preview.Map(webhook, "clientConfig", "service")
			ref := preview.Ref{
				APIVersion: "v1", Kind: "Service",
				Namespace: preview.String(service, "namespace"), Name: preview.String(service, "name"),
			}
			if ref.Name != "" && !seen[ref] {
				seen[ref] = true
				refs = append(refs, ref)
			}
		}
	}
	return refs
}

// rollout waits, after the last write, until all objects are ready and the
// deleted ones are gone. Custom resources of the plan's own CRDs are waited for
// last, after their operator.
func (w *waiter) rollout(ctx context.Context) error {
	if w.opts.NoWait {
		return nil
	}
	var o, operands rollout.Options
	for i := range w.plan.Objects {
		switch object := &w.plan.Objects[i]; {
		case object.Action == preview.ActionDelete:
			if entry := w.record.Object(object.ID); entry == nil || entry.State != record.StateRemoved {
				o.Gone = append(o.Gone, object.Ref())
			}
		case object.Planned == nil || object.Action == preview.ActionSkip:
		case object.Kind == "Secret" && object.Ref().Group() == "" && !w.hasCheck(object):
			w.settle(object)
		case w.bringsAPIGroup(object.Ref().Group()):
			operands.Refs = append(operands.Refs, object.Ref())
		default:
			o.Refs = append(o.Refs, object.Ref())
		}
	}
	end := w.opts.Clock.Now().Add(w.opts.RolloutTimeout - w.putOff)
	o.Timeout = w.opts.RolloutTimeout
	w.emit(Event{Type: EventStage, Stage: "rollout", Message: "waiting until everything is ready"})
	if err := w.await(ctx, "rollout", o); err != nil || len(operands.Refs) == 0 {
		return w.addNamespaceState(ctx, err)
	}
	operands.Operands = operands.Refs
	operands.Timeout = max(end.Add(w.putOff).Sub(w.opts.Clock.Now()), time.Second)
	w.emit(Event{Type: EventStage, Stage: "operands", Message: "waiting until the operator's custom resources are ready"})
	return w.await(ctx, "operands", operands)
}

// settle records a Secret as ready, which it is once it is stored. It is not followed: each
// would take its own watch, so that no other Secret is read. Whether it is still as
// reviewed shows at the end of the run.
func (w *waiter) settle(o *preview.Object) {
	entry := w.record.Object(o.ID)
	if entry == nil || entry.State != record.StateApplied && entry.State != record.StateWaiting {
		return
	}
	entry.State, entry.Message = record.StateReady, ""
	w.emit(Event{Type: EventObject, Object: o.ID, State: entry.State})
}

// await waits until the objects of o are ready or gone; events name the stage. A
// permanent failure is an error of kind [Failed], a timeout one of kind [Interrupted].
func (w *waiter) await(ctx context.Context, stage string, o rollout.Options) error {
	if len(o.Refs)+len(o.Gone)+len(o.Endpoints) == 0 {
		return nil
	}
	if w.beforeWait != nil {
		if err := w.beforeWait(ctx); err != nil {
			return err
		}
	}
	o.Watcher, o.Inspector, o.Discovery, o.Clock, o.Checks = w.cluster, w.cluster, w.cluster, w.opts.Clock, w.opts.Checks
	o.More = w.opts.More
	seen := make(map[preview.Ref]rollout.Object, len(o.Refs)+len(o.Gone))
	var lost time.Time
	blind := map[string]bool{}
	o.Each = func(s rollout.Snapshot) {
		for _, what := range s.Blind {
			if !blind[what] {
				blind[what] = true
				w.log("you may not " + what + "; reasons may be missing")
			}
		}
		if !s.LostSince.Equal(lost) {
			if lost = s.LostSince; !lost.IsZero() {
				w.log("the cluster has not answered since " + lost.UTC().Format(time.TimeOnly) + "; trying again")
			} else {
				w.log("the cluster answers again")
			}
		}
		w.showWait(WaitState{Stage: stage, Deadline: s.Deadline, LostSince: s.LostSince, Tries: s.Tries})
		var removed []string
		for i := range s.Objects {
			if object := &s.Objects[i]; w.observe(seen, object) {
				removed = append(removed, object.Ref.ID())
			}
		}
		w.record.RemoveFromInventory(removed...)
	}
	waiting, done := context.WithCancel(ctx)
	defer done()
	tasks.Async(func() error {
		select {
		case <-w.opts.Stop:
			done()
		case <-waiting.Done():
		}
		return nil
	})
	w.lock.suspend()
	report, err := rollout.Wait(waiting, o)
	w.lock.resume(ctx)
	w.showWait(WaitState{TimedOut: report.Outcome == rollout.TimedOut})
	w.putOff += report.Limit - o.Timeout
	doing := "waiting for stage " + stage
	switch {
	case report.Outcome != rollout.AllReady && w.stopRequested():
		return w.stopError()
	case err != nil:
		return w.noAnswerError(doing, "", err)
	case report.Outcome == rollout.AllReady && lockLost(ctx):
		return w.fail(doing, "", context.Cause(ctx))
	case report.Outcome == rollout.AllReady:
		return nil
	}
	return w.rolloutError(doing, report)
}

// showWait sends to the live screen what the run is waiting for, if that has changed.
func (w *waiter) showWait(now WaitState) {
	if w.opts.Waiting != nil && now != w.shown {
		w.shown = now
		w.opts.Waiting(now)
	}
}

// rolloutError returns the error of a rollout that did not succeed. It names
// the objects that are to blame, failed ones first.
func (w *waiter) rolloutError(doing string, report rollout.Report) *Error {
	e := &Error{Kind: Interrupted, Operation: doing, Advice: "the cluster keeps trying; " + w.resumeAdvice()}
	switch report.Outcome {
	case rollout.HasFailed:
		e.Kind, e.Reasons = Failed, unreadyObjects(report.Snapshot, rollout.Failed)
		e.Advice = "look at it with " + commandline.OfRelease(w.plan, "status")
	case rollout.Unseen:
		e.Reasons = unreadyObjects(report.Snapshot, rollout.Unknown)
		e.Advice = "everything else is ready; with permission to read these, " + w.resumeAdvice()
	default:
		e.Operation, e.timedOut = fmt.Sprintf("%s, %s long", doing, report.Limit), true
		e.Reasons = unreadyObjects(report.Snapshot, rollout.Waiting, rollout.Removing, rollout.Unknown)
	}
	e.Cause = joinReasons(e.Reasons)
	for _, object := range report.Objects {
		if object.State != rollout.Ready && object.State != rollout.Removed {
			e.Object, e.RolloutCause = object.Ref.ID(), object.Cause
			break
		}
	}
	return e
}

// unreadyObjects names the objects of a snapshot that are in one of the states,
// each with its reason.
func unreadyObjects(s rollout.Snapshot, states ...rollout.State) []string {
	var out []string
	for _, object := range s.Objects {
		for _, state := range states {
			if object.State == state {
				out = append(out, strings.TrimSuffix(object.Ref.ID()+" "+string(state)+": "+object.Message, ": "))
			}
		}
	}
	return out
}

// observe records a new state of one object; seen has the states so far. A
// difference from the review stays on record, even if the object becomes ready.
// removed is true if the plan deletes the object, and it is gone.
func (w *waiter) observe(seen map[preview.Ref]rollout.Object, object *rollout.Object) (removed bool) {
	before, known := seen[object.Ref]
	if !known && object.Message == rollout.NotRead {
		return false
	}
	if known && before.State == object.State && before.Cause == object.Cause && before.Message == object.Message && before.Event == object.Event {
		return false
	}
	seen[object.Ref] = *object
	id := object.Ref.ID()
	state := objectState(object.State)
	message := strings.TrimPrefix(object.Message+"; "+object.Event, "; ")
	message = strings.TrimSuffix(message, "; ")
	offender := ""
	if object.Offender.Name != "" {
		offender = object.Offender.ID()
	}
	if entry := w.record.Object(id); entry != nil && entry.State != record.StateDiverged {
		entry.State, entry.Message, entry.Cause, entry.Offender = state, message, object.Cause, offender
		removed = state == record.StateRemoved && entry.Action == preview.ActionDelete
	}
	w.emit(Event{Type: EventObject, Object: id, State: state, Message: message, Cause: object.Cause, Offender: offender})
	for _, line := range object.Logs {
		w.emit(Event{Type: EventLog, Object: id, Message: line})
	}
	return removed
}

func objectState(s rollout.State) record.ObjectState {
	switch s {
	case rollout.Ready:
		return record.StateReady
	case rollout.Removed:
		return record.StateRemoved
	case rollout.Removing:
		return record.StateRemoving
	case rollout.Failed:
		return record.StateFailed
	}
	return record.StateWaiting
}

// awaitRest waits until everything that the plan deletes before the Namespaces is
// gone. Objects that hang would otherwise block the deletion of the Namespaces,
// after the record in them was deleted.
func (w *waiter) awaitRest(ctx context.Context, to *preview.Stage) error {
	var refs []preview.Ref
	for i := range w.plan.Objects {
		o := &w.plan.Objects[i]
		if o.Action == preview.ActionDelete && !slices.Contains(to.Objects, o.ID) && w.record.Object(o.ID).State != record.StateRemoved {
			refs = append(refs, o.Ref())
		}
	}
	if len(refs) == 0 {
		return nil
	}
	return w.await(ctx, preview.StagePrune, rollout.Options{Gone: refs, Timeout: w.timeout(to)})
}

// addNamespaceState adds to the error of a wait why the control plane does not
// remove the release Namespace, from the conditions of the Namespace.
func (w *waiter) addNamespaceState(ctx context.Context, err error) error {
	o := deletedNamespace(w.plan)
	var e *Error
	if o == nil || !errors.As(err, &e) || ctx.Err() != nil || w.stopRequested() {
		return err
	}
	live, readErr := w.cluster.Get(ctx, o.Ref())
	if readErr != nil || namespaceStays(live, o.Live.UID) {
		return err
	}
	var held []string
	for _, condition := range preview.Maps(live, "status", "conditions") {
		if condition["status"] == "True" {
			held = append(held, o.ID+": "+preview.String(condition, "message"))
		}
	}
	named := *e
	named.Reasons = append(held, e.Reasons...)
	named.Cause = joinReasons(named.Reasons)
	return &named
}
