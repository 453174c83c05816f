package install

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/rollback"
)

// StageUndo is the prefix of the stage names in the events of a rollback on failure.
const StageUndo = "undo"

// triggersUndo reports whether an error starts the rollback on failure that the
// plan contains: something failed or timed out. A run that was asked to stop, or
// whose last write has an unknown outcome, is resumed instead.
func (r *applier) triggersUndo(ctx context.Context, err error) bool {
	var e *Error
	if r.plan.FailureRollback == nil || r.record == nil || ctx.Err() != nil || r.stopRequested() || !errors.As(err, &e) || unknownOutcome(err) {
		return false
	}
	switch e.Kind {
	case Failed:
		return true
	case Interrupted:
		return e.timedOut
	}
	return r.isResumed() && r.hasWritten() // this run has written nothing, an earlier one did
}

// hasWritten reports whether this run, or an earlier run of the same plan, has
// written any object of the plan.
func (r *applier) hasWritten() bool {
	return slices.ContainsFunc(r.record.Objects, func(o record.ObjectReceipt) bool {
		return record.HasWrite(o.Action) && o.State != record.StatePending && o.State != record.StateFailed
	})
}

// undoneError returns the error of a plan that was rolled back on failure, with
// its cause. Such a plan cannot be resumed.
func (r *applier) undoneError(err error) error {
	e := *asError(Failed, "applying "+r.plan.Release.Name, "", err)
	e.Kind = Failed
	return &e
}

// undo applies the rollback on failure that the plan contains, under the lock
// and as a new revision, and returns the error of the plan, which failed with
// cause. The plan counts as failed even if the rollback succeeds.
func (r *applier) undo(ctx, held context.Context, cause error) error {
	r.noteWrite() // perhaps by an earlier run of this plan
	r.emit(Event{Type: EventStage, Stage: StageUndo, Message: "the plan failed; " + r.undoText() + ", as planned"})
	u, err := r.beginUndo(held)
	if err != nil {
		if held.Err() != nil {
			err = r.interruptError(ctx, held, err)
		}
		return r.undoOutcomeError(cause, err)
	}
	return r.undoOutcomeError(cause, r.followUndo(ctx, held, u))
}

func (r *applier) undoText() string {
	if r.plan.FailureRollback.Revision == 0 {
		return "removing what it made"
	}
	return fmt.Sprintf("going back to revision %d", r.plan.FailureRollback.Revision)
}

// beginUndo plans the rollback again on fresh reads, compares it with the reviewed
// one, and records it. An object that is neither as before nor as after the plan's
// write was changed by others: then nothing is sent, and the error names it.
func (r *applier) beginUndo(ctx context.Context) (*applier, error) {
	doing := "undoing " + r.plan.Release.Name
	if _, err := r.awaitLate(ctx); err != nil { // what arrives after it stays
		return nil, r.fail(doing, "", err)
	}
	back, err := r.planUndo(ctx)
	if err != nil {
		return nil, r.fail(doing, "", err)
	}
	reasons := rollback.Differences(r.plan, back)
	foreign, err := r.foreignEdits(ctx, back)
	if err != nil {
		return nil, r.fail(doing, "", err)
	}
	if reasons = append(foreign, reasons...); len(reasons) > 0 {
		return nil, r.fail(doing, "", refusal(doing, "", reasons...))
	}
	u := r.undoRun(back, r.record)
	u.checked = back
	u.record = record.New(back, r.approval, r.record, r.opts.ToolVersion, r.opts.Clock.Now().UTC())
	u.record.Undoes = &record.RollbackOf{Revision: r.record.Revision, Digest: r.plan.Digest}
	if err := u.checkUndoOperands(ctx); err != nil {
		return nil, err
	}
	if err := u.store.Begin(ctx, back, r.record, u.record); err != nil {
		return nil, r.fail("recording the rollback", "", err)
	}
	return u, nil
}

// undoRun returns the run that applies back, the plan of a rollback; before is
// the record of the failed revision.
func (r *applier) undoRun(back *preview.Plan, before *record.Record) *applier {
	opts := r.opts
	opts.Checks = nil // they are about what failed
	u := newRun(&attempt{
		plan: back, approval: r.approval, cluster: r.cluster, opts: opts, before: before,
		lock: r.lock, done: map[string]bool{}, versions: map[string]string{}, wrote: written(), approved: r.plan.Digest,
	})
	u.store = r.store
	return u
}

// planUndo plans the rollback against the cluster as it is now.
func (r *applier) planUndo(ctx context.Context) (*preview.Plan, error) {
	earlier, err := r.earlierContent(ctx)
	if err != nil {
		return nil, err
	}
	opts := engine.Options{
		Tool: r.opts.ToolVersion, Release: r.plan.Release, Schemas: r.opts.Schemas, ReadMode: r.plan.ReadMode,
		Request: preview.Request{Reference: r.plan.Release.Name, Action: preview.RequestRollback, Revision: earlier.Revision},
		Apply:   preview.DefaultOptions(), ReleaseOptions: earlier.Options,
	}
	if earlier.Revision == 0 {
		opts.Request.Action = preview.RequestUninstall
	}
	if r.plan.Options.Conflicts == preview.ConflictsLeave {
		opts.Apply.Conflicts = preview.ConflictsLeave
	}
	opts.Apply.ConflictsOf = r.plan.Options.LeftObjects()
	opts.Installed.Base = r.record.PlanBase()
	for _, item := range r.record.Inventory {
		opts.Installed.Members = append(opts.Installed.Members, engine.InstalledObject{Ref: item.Ref(), Package: item.Package, Manager: item.Manager, Format: FormatOf(r.record.Packages, item.Package)})
	}
	if opts.Installed.Set, err = InstalledSet(ctx, r.cluster, r.record); err != nil {
		return nil, err
	}
	return engine.Build(ctx, earlier.Contents, r.cluster, opts)
}

// earlierContent restores the recorded content of the revision that a failed plan is
// rolled back to.
func (c *checker) earlierContent(ctx context.Context) (*engine.PriorRevision, error) {
	revision := c.plan.FailureRollback.Revision
	if revision == 0 {
		return &engine.PriorRevision{}, nil
	}
	record, err := record.LoadRevision(ctx, c.cluster, c.plan.Release, revision)
	if err != nil {
		return nil, err
	}
	if record == nil {
		return nil, &engine.RefusedError{What: fmt.Sprintf("revision %d, the target of a rollback, is no longer on record", revision), Next: "preview again"}
	}
	record.Verify(c.opts.RecordKeys, c.plan.Target.Identity)
	return EarlierRevision(ctx, c.cluster, record)
}

// checkUndo checks before the first write that the plan's rollback can be applied:
// the revision that it goes back to must be on record as it was reviewed.
func (c *checker) checkUndo(ctx context.Context, now *preview.Plan) error {
	if now.FailureRollback == nil {
		return nil
	}
	doing := "checking that the plan can be rolled back"
	earlier, err := c.earlierContent(ctx)
	if err == nil {
		err = engine.CheckPriorRevision(now, earlier)
	}
	if err == nil {
		err = engine.CheckRollbackFindings(ctx, now, earlier, c.cluster, c.opts.Schemas)
	}
	if err != nil {
		return c.notChecked(doing, err)
	}
	return nil
}

// foreignEdits names the objects that others changed: they are neither as before nor as
// after the plan's write. It also names the objects to update where that cannot be
// decided. back has their live bodies.
func (r *applier) foreignEdits(ctx context.Context, back *preview.Plan) ([]string, error) {
	var reasons []string
	for i := range r.plan.Objects {
		o := &r.plan.Objects[i]
		now, entry := back.Object(o.ID), r.record.Object(o.ID)
		if now == nil || now.LiveBody == nil || entry == nil || o.Planned == nil || !record.HasWrite(o.Action) {
			continue
		}
		if entry.UID != "" && entry.UID != preview.UID(now.LiveBody) {
			reasons = append(reasons, o.ID+" was deleted and created again by another client")
			continue
		}
		recorded := r.isRecorded(o, now.LiveBody)
		if recorded && r.versions[o.ID] == entry.Version {
			continue // by this run, which no record has to say
		}
		before, err := r.isBefore(o, now.LiveBody)
		if err != nil {
			return nil, err
		}
		if before {
			continue
		}
		after, err := r.isAfter(ctx, o, now.LiveBody, recorded)
		undecided, is := errors.AsType[*undecidedError](err)
		switch {
		case is && now.Action == preview.ActionDelete: // of what the plan made, by its uid
		case is:
			reasons = append(reasons, o.ID+" "+undecided.Error())
		case err != nil:
			return nil, err
		case !after:
			reasons = append(reasons, o.ID+" was changed by another client since the plan wrote it")
		}
	}
	return reasons, nil
}

// checkUndoOperands refuses a rollback that would delete an operator whose custom
// resources others have created meanwhile. Those of the plan itself are rolled back too.
func (r *applier) checkUndoOperands(ctx context.Context) error {
	if !record.IsUninstall(r.plan) {
		return nil
	}
	counts, err := LeftOperands(ctx, r.cluster, r.checked)
	if err != nil {
		return r.fail("counting the custom resources that the operator manages", "", err)
	}
	for i := range r.plan.Objects {
		o := &r.plan.Objects[i]
		kind := o.Kind + "." + o.Ref().Group()
		if o.Action != preview.ActionDelete || counts[kind] == 0 {
			continue
		}
		if counts[kind]--; counts[kind] == 0 {
			delete(counts, kind)
		}
	}
	if err := RefuseOperands(r.plan.Release, counts); err != nil {
		return r.fail("undoing "+r.plan.Release.Name, "", err)
	}
	return nil
}

// followUndo runs u, which applies the rollback and waits for its rollout, and
// records how it ended.
func (r *applier) followUndo(ctx, held context.Context, u *applier) error {
	r.undone = u
	return u.close(ctx, held, u.carryOut(held))
}

// undoOutcomeError returns the error of a plan that failed with cause. Its
// advice says whether the rollback succeeded (err is nil) or how that failed.
func (r *applier) undoOutcomeError(cause, err error) error {
	failed := *asError(Failed, "applying "+r.plan.Release.Name, "", cause)
	switch {
	case err == nil && r.plan.FailureRollback.Revision == 0:
		failed.Advice = fmt.Sprintf("it was rolled back: what the plan created is removed (revision %d)", r.undone.record.Revision)
	case err == nil:
		failed.Advice = fmt.Sprintf("it was rolled back to revision %d, as revision %d", r.plan.FailureRollback.Revision, r.undone.record.Revision)
	case errors.Is(err, errLockLost):
		ended := asError(Failed, "", "", err)
		failed.Kind, failed.Advice = ended.Kind, "the rollback was not finished: "+ended.Cause+"; "+ended.Advice
		r.log("the rollback stopped: " + errorCause(err))
	case KindOf(err) == Interrupted || KindOf(err) == Declined || isOutage(err):
		failed.Kind, failed.Advice = Interrupted, "the rollback was not finished; "+r.resumeAdvice()
		r.log("the rollback stopped: " + errorCause(err))
	default:
		failed.Advice = "it was not rolled back: " + errorCause(err) + "; fix the cause, then preview again"
		r.log("the rollback stopped: " + errorCause(err))
	}
	return &failed
}

// isOutage reports whether an error is about the connection or the login, so that
// the same command can succeed later.
func isOutage(err error) bool {
	reason := preview.ReasonOf(err)
	return reason == preview.ReasonUnavailable || reason == preview.ReasonUnauthorized
}

// errorCause returns the cause in an [Error], without operation and advice; the
// text of any other error.
func errorCause(err error) string {
	var e *Error
	if errors.As(err, &e) && e.Cause != "" {
		return e.Cause
	}
	return err.Error()
}

// resumeUndo resumes an interrupted rollback. The recorded plan must be the one
// that the failed plan contains; nothing else in the record decides what is sent.
func (r *applier) resumeUndo(ctx, held context.Context) error {
	failed := &Error{
		Kind: Failed, Operation: "applying " + r.plan.Release.Name, Cause: fmt.Sprintf("revision %d of this plan had failed", r.before.Undoes.Revision),
	}
	u, err := r.takeOverUndo(held)
	if err != nil {
		if held.Err() != nil {
			err = r.interruptError(ctx, held, err)
		}
		return r.undoOutcomeError(failed, err)
	}
	return r.undoOutcomeError(failed, r.followUndo(ctx, held, u))
}

func (r *applier) takeOverUndo(ctx context.Context) (*applier, error) {
	doing := fmt.Sprintf("resuming the rollback, revision %d", r.before.Revision)
	// This run has no write left, but the target has changed.
	r.noteWrite()
	record, err := record.LoadRevision(ctx, r.cluster, r.plan.Release, r.before.Undoes.Revision)
	if err != nil {
		return nil, r.fail(doing, "", err)
	}
	r.record = record
	back, err := r.recordedUndo(ctx)
	if err != nil {
		return nil, r.fail(doing, "", err)
	}
	if reasons := rollback.Differences(r.plan, back); len(reasons) > 0 {
		return nil, r.fail(doing, "", refusal(doing, "", reasons...))
	}
	u := r.undoRun(back, r.before)
	own := *r.before
	own.Objects, own.Inventory = slices.Clone(own.Objects), slices.Clone(own.Inventory)
	u.record = &own
	return u, u.takeOver(ctx)
}

// recordedUndo reads the plan of the rollback from the record. Its Secrets, recorded
// without values, get the live values, which were the same when it was recorded.
func (r *applier) recordedUndo(ctx context.Context) (*preview.Plan, error) {
	_, shapes, err := record.LoadRecordedPlan(ctx, r.cluster, r.before)
	if err != nil {
		return nil, err
	}
	sealed := map[string]map[string]any{}
	for id, shape := range shapes {
		live, err := r.cluster.Get(ctx, preview.RefOf(shape))
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", id, err)
		}
		if sealed[id], err = WithLiveValues(shape, live); err != nil {
			return nil, fmt.Errorf("%s: %w", id, err)
		}
	}
	return record.LoadPlan(ctx, r.cluster, r.before, sealed)
}

// FormatOf returns the format of the named package, empty if it is not in packages.
func FormatOf(packages []preview.Package, name string) string {
	for _, pkg := range packages {
		if pkg.Name == name {
			return pkg.Format
		}
	}
	return ""
}
