package install

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
)

// attempt is the state that the parts of a run (checker, writer, waiter) share:
// the plan, its approval, the cluster, and the run's progress.
type attempt struct {
	plan     *preview.Plan
	approval record.Approval
	cluster  Cluster
	opts     Options

	// checked is the plan as recomputed last, with today's findings and fresh
	// live bodies.
	checked *preview.Plan
	before  *record.Record // the newest record before this revision, nil when none
	record  *record.Record // nil until it was written
	lock    *lock          // nil until it is taken
	// namespace is the live release Namespace that this plan creates and that
	// counts as absent in checks; nil when it does not exist yet.
	namespace map[string]any
	// approved is the digest that resumes this run where that is not its
	// plan's own.
	approved string
	// done holds the objects that need no write any more.
	done map[string]bool
	// leaving is set once the release Namespace is being deleted, and with it
	// the record: from then on only the receipt says what became of the run.
	leaving bool
	// wrote is set as soon as a write of a plan object was acknowledged, or
	// its outcome is unknown: from then on errors are Failed or Interrupted.
	wrote *atomic.Bool
	// sinking is held while the sink takes an event: writes in flight in parallel may have
	// some, and it takes one at a time.
	sinking *sync.Mutex
	// versions holds the resourceVersion that each write left, by object id.
	versions map[string]string
	// unarrived are the objects that an earlier run was creating when it ended, which may
	// come to exist until arriveUntil.
	unarrived   []record.Item
	arriveUntil time.Time
	// planned and fresh find the objects of plan and of checked by id.
	planned, fresh objectIndex
	// trials has the answers to dry runs of what comes with its own namespace or CRD.
	trials *trials
	// brought are the API groups of the plan's CRDs; nil until they are asked for.
	brought map[string]bool
}

// objectIndex finds the objects of one plan by id.
type objectIndex struct {
	of   *preview.Plan
	byID map[string]*preview.Object
}

// object returns an object of the plan, nil if the plan has no such object.
func (x *objectIndex) object(plan *preview.Plan, id string) *preview.Object {
	if x.of != plan {
		x.of, x.byID = plan, plan.ObjectsByID()
	}
	return x.byID[id]
}

// object returns an object of the plan, nil if the plan has no such object.
func (a *attempt) object(id string) *preview.Object { return a.planned.object(a.plan, id) }

// written returns the state of an attempt that has sent a write already.
func written() *atomic.Bool {
	wrote := new(atomic.Bool)
	wrote.Store(true)
	return wrote
}

func (a *attempt) hasSent() bool { return a.wrote.Load() }
func (a *attempt) noteWrite()    { a.wrote.Store(true) }

// stopRequested reports whether the channel Stop of the options is closed: the
// run is then to end before its next request.
func (a *attempt) stopRequested() bool {
	select {
	case <-a.opts.Stop:
		return true
	default:
		return false
	}
}

// isHalted reports whether the run is to send no further write.
func (a *attempt) isHalted(ctx context.Context) bool { return ctx.Err() != nil || a.stopRequested() }

// haltError returns the error of a halted run. It says how far the run is, so no write is in
// flight, and those that were not sent are marked.
func (a *attempt) haltError(ctx context.Context, stage *preview.Stage) error {
	if err := ctx.Err(); err != nil {
		return a.fail("applying "+stage.ID, "", err)
	}
	return a.stopError()
}

// stopError returns the error of a run that was asked to stop.
func (a *attempt) stopError() *Error {
	e := &Error{
		Kind: Interrupted, Operation: "applying " + a.plan.Release.Name,
		Cause: "stopped as asked: " + a.progress(), Advice: a.resumeAdvice(),
	}
	if !a.hasSent() && !a.isResumed() {
		e.Kind, e.Advice = Declined, "nothing was applied; run the command again"
	}
	return e
}

// progress returns as text how many objects were applied, how many were not,
// and those whose write is in flight.
func (a *attempt) progress() string {
	if a.record == nil {
		return "nothing was sent"
	}
	var applied, flying, left, failed int
	for _, o := range a.record.Objects {
		switch o.State {
		case record.StateSkipped:
		case record.StatePending, record.StateReleased:
			left++
		case record.StateSent:
			flying++
		case record.StateFailed:
			failed++
			if o.Written() {
				applied++
			}
		default:
			applied++
		}
	}
	text := fmt.Sprintf("%d applied, %d not applied, %d in flight", applied, left, flying)
	if failed > 0 {
		text += fmt.Sprintf(", %d failed", failed)
	}
	return text
}

func (a *attempt) resumeAdvice() string {
	digest := a.plan.Digest
	if a.approved != "" {
		digest = a.approved
	}
	if a.opts.Resume != nil {
		if command := a.opts.Resume(digest); command != "" {
			return "resume it: " + command
		}
	}
	return "run it again with --yes --approve " + digest + " to resume it"
}

// fail returns err as an [Error] that says what the run was doing and what to
// do next. Its kind is [Failed] if the run has sent a write, else [NotStarted].
func (a *attempt) fail(doing, next string, err error) *Error {
	kind := NotStarted
	if a.hasSent() {
		kind = Failed
		if next == "" {
			next = "part of the plan was applied; fix the cause, then " + a.resumeAdvice()
		}
	}
	if way := a.wayOut(err); way != "" {
		next = way
	}
	e := asError(kind, doing, next, err)
	if a.hasSent() && e.Kind != Interrupted {
		// A refusal after a write is a failure: the target changed.
		changed := *e
		changed.Kind = Failed
		return &changed
	}
	return e
}

// wayOut says how to end the refusals of an admission policy or webhook that refuses
// requests of the run itself, where the release has such objects, which are likely to be
// the cause; empty for other errors. No policy and no webhook is asked about these kinds.
func (a *attempt) wayOut(err error) string {
	switch preview.ReasonOf(err) {
	case preview.ReasonPolicy, preview.ReasonWebhook, preview.ReasonWebhookDown:
	default:
		return ""
	}
	var names []string
	for i := range a.plan.Objects {
		if o := &a.plan.Objects[i]; o.Action == preview.ActionDelete && o.Is(preview.KindValidatingAdmissionPolicyBinding,
			preview.KindValidatingWebhookConfiguration, preview.KindMutatingWebhookConfiguration) {
			names = append(names, strings.ToLower(o.Kind)+"/"+o.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	remove := commandline.Add(commandline.Join(append([]string{"kubectl", "delete"}, names...)...), commandline.Flags(a.plan.Request.Flags, commandline.Connection)...)
	return "the release's own policy or webhook may be what refuses it, and none is asked about itself: " + remove + "; then run the command again"
}

func (a *attempt) emit(e Event) {
	if a.opts.Sink == nil {
		return
	}
	a.sinking.Lock()
	defer a.sinking.Unlock()
	e.Time = a.opts.Clock.Now().UTC()
	a.opts.Sink(e)
}

func (a *attempt) log(message string) { a.emit(Event{Type: EventLog, Message: message}) }

// ownNamespace returns the release Namespace if this plan creates it, else nil.
func (a *attempt) ownNamespace() *preview.Object {
	id := preview.Ref{APIVersion: "v1", Kind: "Namespace", Name: a.plan.Release.Namespace}.ID()
	if o := a.object(id); o != nil && o.Action == preview.ActionCreate {
		return o
	}
	return nil
}

// isOwnNamespace reports whether a live Namespace is the one that an earlier run
// of this plan created: it is as planned, and no other client has written to it. A
// Namespace that sets only its name has no managed fields, so none are required.
func (a *attempt) isOwnNamespace(o *preview.Object, live map[string]any) bool {
	if !hasOnlyOurManager(live) {
		return false
	}
	verdict, _, err := Compare(a.opts.Schemas, WrittenObject{Sealed: o.Planned, Reviewed: o.ResultBody, Live: live})
	return err == nil && verdict == Same
}

// noAnswerError returns the error of a run that got no answer from the cluster
// while waiting or checking, with the advice to run the same command again; so
// is what that advice begins with. Any other err is returned by [attempt.fail].
func (a *attempt) noAnswerError(doing, so string, err error) error {
	if isOutage(err) && (a.hasSent() || a.isResumed()) {
		return &Error{Kind: Interrupted, Operation: doing, Cause: err.Error(), Advice: so + a.resumeAdvice(), Err: err}
	}
	return a.fail(doing, "", err)
}

// isResumed reports whether this run resumes an interrupted one.
func (a *attempt) isResumed() bool { return a.before != nil && a.before.Digest == a.plan.Digest }

// bringsAPIGroup reports whether the plan has a CRD of that API group.
func (a *attempt) bringsAPIGroup(group string) bool {
	if a.brought == nil {
		a.brought = map[string]bool{}
		for i := range a.plan.Objects {
			if body := a.plan.Objects[i].Planned; preview.String(body, "kind") == "CustomResourceDefinition" {
				a.brought[preview.String(body, "spec", "group")] = true
			}
		}
	}
	return a.brought[group]
}

// reviewedResult returns the object as the review's dry run showed it, or the one in the
// object's own namespace that was compared with the review. It is nil without a dry run, as
// for an adoption, whose object the former owner still had: then only the planned fields
// are compared.
func (a *attempt) reviewedResult(o *preview.Object) map[string]any {
	if tried := a.trials.result(o); tried != nil {
		return tried
	}
	fresh := a.freshObject(o)
	if fresh == nil || a.plan.ReadMode == preview.ReadGet || o.Action == preview.ActionAdopt {
		return nil
	}
	return fresh.ResultBody
}

// freshObject returns a planned object with the live body read by the last
// complete check; in a resumed run, the object of the recorded plan.
func (a *attempt) freshObject(o *preview.Object) *preview.Object {
	if a.checked == nil {
		return o
	}
	return a.fresh.object(a.checked, o.ID)
}

// liveOf returns the live object, as last read, that the write of o changes; nil if it
// does not exist.
func (a *attempt) liveOf(o *preview.Object) map[string]any {
	if fresh := a.freshObject(o); fresh != nil {
		return fresh.LiveBody
	}
	return nil
}

// recordWritten enters a written object into the record, with its differences
// from the review, and returns the verdict of the comparison.
func (a *attempt) recordWritten(o *preview.Object, w WrittenObject) Verdict {
	entry := a.record.Object(o.ID)
	entry.State, entry.UID, entry.Message, entry.Cause, entry.Offender = record.StateApplied, preview.UID(w.Live), "", "", ""
	entry.Version = preview.ResourceVersion(w.Live)
	a.versions[o.ID] = entry.Version
	if o.ReleasesOwnership() {
		a.record.RemoveFromInventory(o.ID)
	} else {
		a.record.AddToInventory(o, entry.UID)
		a.record.AddNamespace(o, entry.UID)
	}
	verdict, notes, err := Compare(a.opts.Schemas, w)
	switch {
	case err != nil:
		verdict, entry.State, entry.Message = Diverged, record.StateDiverged, "cannot be compared with the review: "+err.Error()
	case verdict == Diverged:
		entry.State, entry.Message = record.StateDiverged, strings.Join(notes, "; ")
	default:
		entry.Notes = notes
	}
	a.emit(Event{Type: EventObject, Object: o.ID, State: entry.State, Message: entry.Message})
	return verdict
}

func (a *attempt) recordRemoved(o *preview.Object, gone bool) {
	entry := a.record.Object(o.ID)
	entry.State, entry.Message = record.StateRemoving, ""
	if gone {
		entry.State = record.StateRemoved
		a.record.RemoveFromInventory(o.ID)
	} else {
		a.record.MarkDeleting(o.ID)
	}
	a.emit(Event{Type: EventObject, Object: o.ID, State: entry.State})
}

// failedObject enters a failed write into the record. A write with unknown outcome
// stays in flight.
func (a *attempt) failedObject(ctx context.Context, o *preview.Object, doing string, err error) error {
	e := a.objectError(o, doing, err)
	entry := a.record.Object(o.ID)
	entry.Message, entry.Cause = e.Cause, e.RolloutCause
	if unknownOutcome(err) {
		entry.State = record.StateSent
		a.emit(Event{Type: EventObject, Object: o.ID, State: record.StateSent, Message: e.Cause})
		return e
	}
	var gone *deletionError
	switch {
	case errors.As(err, &gone), entry.State == record.StateRemoved, entry.State == record.StateReleased: // between its two writes, as recorded
	case ctx.Err() != nil, preview.Throttled(err):
		entry.State = record.StatePending // it was not the object that failed
	case ctx.Err() == nil:
		entry.State = record.StateFailed
	}
	if o.Action != preview.ActionDelete {
		a.dropIntents(o.ID)
	}
	a.emit(Event{Type: EventObject, Object: o.ID, State: entry.State, Message: e.Cause, Cause: e.RolloutCause})
	return e
}

// timeout returns how long to wait until the objects of a stage are ready.
func (a *attempt) timeout(stage *preview.Stage) time.Duration {
	if a.opts.StageTimeout > 0 {
		return a.opts.StageTimeout
	}
	if d, err := time.ParseDuration(stage.Timeout); err == nil && d > 0 {
		return d
	}
	return DefaultRolloutTimeout
}

// isUndoing reports whether the newest record describes this plan's rollback on failure.
func (a *attempt) isUndoing() bool {
	return a.before != nil && a.before.Undoes != nil && a.before.Undoes.Digest == a.plan.Digest
}

// objectError returns the error for a failed write of one object.
func (a *attempt) objectError(o *preview.Object, doing string, err error) *Error {
	kind, next := NotStarted, ""
	var moved *changedObjectError
	var gone *deletionError
	switch reason := preview.ReasonOf(err); {
	case errors.As(err, &moved) && unknownOutcome(err):
		kind, next = Failed, "preview again to see what it is now, and approve that"
	case errors.As(err, &gone):
		kind, next = Interrupted, a.resumeAdvice()
	case errors.As(err, &moved):
		kind, next = Refused, "preview again, and approve what it shows"
	case unknownOutcome(err):
		kind, next = Interrupted, "whether the object was written is unknown; "+a.resumeAdvice()
	case reason == preview.ReasonConflict:
		kind, next = Refused, "preview again: another field manager took these fields since the review"
	case reason == preview.ReasonForbidden:
		next = "get the missing permission, then " + a.resumeAdvice()
	case reason == preview.ReasonQuota:
		next = quotaAdvice(o, err) + a.resumeAdvice()
	case preview.Throttled(err) && (a.hasSent() || a.isResumed()):
		kind, next = Interrupted, "the API server is overloaded and carried nothing out; when it has time, "+a.resumeAdvice()
	}
	cause, _ := rollout.RefusalCause(err.Error())
	e := a.fail(fmt.Sprintf("%s %s", doing, o.ID), next, &Error{
		Kind: kind, Object: o.ID, Operation: doing + " " + o.ID, Cause: err.Error(), RolloutCause: cause, Advice: next, Err: err,
	})
	if e.Advice == "" {
		changed := *e
		changed.Advice = "nothing was applied; fix the cause and run the command again"
		if a.hasSent() {
			changed.Advice = "part of the plan was applied; fix the cause, then " + a.resumeAdvice()
		}
		return &changed
	}
	return e
}
