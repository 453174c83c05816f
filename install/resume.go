package install

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// resume continues an unfinished record of this plan. Every object must be as
// reviewed, either before or after its write; in any other state, another
// client has changed it, which is refused.
func (r *applier) resume(ctx context.Context) (err error) {
	if err := r.gateAgain(); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			r.record = nil // it stays as it was found
		}
	}()
	return r.takeOver(ctx)
}

// takeOver resumes the unfinished record, once the gate is passed.
func (r *applier) takeOver(ctx context.Context) error {
	r.log(fmt.Sprintf("resuming revision %d, which is %s", r.record.Revision, r.record.State))
	if err := r.knowsObjects(); err != nil {
		return r.fail("resuming", "preview again", err)
	}
	// The bodies read now replace the recorded ones: writes are made on them.
	now := *r.plan
	now.Objects = append([]preview.Object(nil), r.plan.Objects...)
	r.checked = &now
	reasons, err := engine.StaleReads(ctx, r.plan, r.cluster)
	if err != nil {
		return r.fail("reading the objects that the plan depends on", "run the command again", err)
	}
	left, err := r.readLeft(ctx, now.Objects)
	if err != nil {
		return r.fail("reading what the interrupted run left", "", err)
	}
	var undecided []string
	for i := range left {
		why, err := r.resumeObject(&left[i])
		switch {
		case err != nil:
			return r.fail("reading what the interrupted run left", "", err)
		case why != "" && left[i].undecided != nil:
			undecided = append(undecided, left[i].o.ID+" "+why)
		case why != "":
			reasons = append(reasons, left[i].o.ID+" "+why)
		}
	}
	next := "preview again, and approve what it shows"
	if len(reasons) == 0 {
		next = "once dry runs are admitted again, " + r.resumeAdvice()
	}
	if reasons = append(reasons, undecided...); len(reasons) > 0 {
		return r.fail("resuming", "", refusal("resuming revision "+fmt.Sprint(r.record.Revision), next, reasons...))
	}
	return nil
}

// gateAgain passes the recorded plan through the gate as if it were new: with
// findings of the present rules as well as the recorded ones, judged by the
// present policy. If it passes, the record gets the new approval and its accepted
// findings.
func (r *applier) gateAgain() error {
	today := *r.plan
	today.Findings, today.Policy = preview.WithoutPolicy(r.plan.Findings), nil
	found, err := engine.CurrentFindings(&today, r.opts.Schemas)
	if err != nil {
		return refusal("resuming", "preview again, and approve what it shows", "the review cannot be recomputed: "+err.Error())
	}
	today.Findings = found
	if err := r.judge(&today); err != nil {
		return err
	}
	if err := gate(&today, r.approval, true); err != nil {
		return err
	}
	stored := *r.before
	stored.Approval, stored.Accepted = r.approval, maps.Clone(r.before.Accepted)
	for fingerprint, revision := range record.AcceptedFindings(&today, nil, stored.Revision) {
		if stored.Accepted == nil {
			stored.Accepted = map[string]int{}
		}
		stored.Accepted[fingerprint] = revision
	}
	r.record = &stored
	return nil
}

// knowsObjects returns an error if the record lacks an object of the plan.
func (r *applier) knowsObjects() error {
	for i := range r.plan.Objects {
		if r.record.Object(r.plan.Objects[i].ID) == nil {
			return fmt.Errorf("the record of revision %d does not know %s", r.record.Revision, r.plan.Objects[i].ID)
		}
	}
	return nil
}

// leftObject is an object of an interrupted run's plan as the cluster has it.
type leftObject struct {
	o     *preview.Object
	live  map[string]any
	after bool // it is as its write makes it
	// undecided says why it is not known whether it is.
	undecided *undecidedError
}

// readLeft reads the objects of an interrupted run's plan, and asks for each that may have
// been written whether it was. Objects that the plan does not touch are left out.
func (r *applier) readLeft(ctx context.Context, objects []preview.Object) ([]leftObject, error) {
	var left []leftObject
	var planned []*preview.Object
	for i := range objects {
		if o := &objects[i]; o.Action != preview.ActionKeep && o.Action != preview.ActionSkip {
			left, planned = append(left, leftObject{o: o}), append(planned, o)
		}
	}
	for i, result := range readPlanned(ctx, r.cluster, planned) {
		if result.Err != nil {
			return nil, fmt.Errorf("reading %s: %w", planned[i].ID, result.Err)
		}
		left[i].live = result.Body
	}
	var group tasks.Group
	group.SetLimit(maxFlying)
	for i := range left {
		l := &left[i]
		if l.live == nil || l.isGoing() || l.o.Planned == nil || !record.HasWrite(l.o.Action) {
			continue
		}
		recorded := r.isRecorded(l.o, l.live)
		group.Go(func() (err error) {
			l.after, err = r.isAfter(ctx, l.o, l.live, recorded)
			if undecided, is := errors.AsType[*undecidedError](err); is {
				l.undecided, err = undecided, nil
			}
			return err
		})
	}
	return left, group.Wait()
}

// isGoing reports whether an existing object is being deleted, as the plan has it.
func (l *leftObject) isGoing() bool {
	return preview.String(l.live, "metadata", "deletionTimestamp") != "" &&
		(l.o.Action == preview.ActionDelete || l.o.FormerOwner() || l.o.Action == preview.ActionReplace && preview.UID(l.live) == l.o.Live.UID)
}

// resumeObject decides whether an object still has to be written. why is not
// empty if its live state is neither the reviewed one nor that after its write.
func (r *applier) resumeObject(l *leftObject) (why string, err error) {
	o, live := l.o, l.live
	o.LiveBody = live
	switch {
	case live == nil && o.Action == preview.ActionDelete:
		r.done[o.ID] = true
		r.recordRemoved(o, true)
		return "", nil
	case live == nil && (o.Action == preview.ActionCreate || o.Action == preview.ActionUnknown):
		return "", nil
	case live == nil && o.Action == preview.ActionReplace:
		return "", nil // deleted, and to be created
	case live == nil:
		return "was deleted meanwhile", nil
	case l.isGoing() && o.Action == preview.ActionDelete && !o.FormerOwner():
		r.done[o.ID] = true
		r.recordRemoved(o, false)
		return "", nil
	case l.isGoing():
		return "", nil // its deletion goes on, and the stage waits until it is gone
	case l.after:
		r.done[o.ID] = true
		r.recordWritten(o, WrittenObject{Sealed: r.plan.Sent(o), Reviewed: o.ResultBody, Before: live, Live: live})
		return "", nil
	}
	if created := o.Action == preview.ActionCreate || o.Action == preview.ActionUnknown; created && l.undecided == nil {
		return "exists, and is not what this plan creates", nil
	} else if !created {
		if same, err := r.isBefore(o, live); err != nil || same {
			return "", err
		}
	}
	if l.undecided != nil {
		return l.undecided.Error(), nil
	}
	return "is neither as reviewed nor as this plan leaves it", nil
}
