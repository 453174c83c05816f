package plugins

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/approval"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/plugins"
)

// Options are settings of [Apply] that do not change what is applied.
type Options struct {
	// Files hold the bytes of every file that the plan wants.
	Files []plugins.File
	// Beside are small files that go into the folder of the generation, by name,
	// such as its lock; they are no part of what the host loads.
	Beside map[string][]byte
	// Holder names this run to another that finds the location locked.
	Holder string
	Tool   string // version of this program
	// Quorum is asked for signed approvals, when not nil.
	Quorum *approval.Quorum
	// Sink is called with every step, when not nil. The last event has type result.
	Sink install.Sink
	// Step is called with every change of the disk before it is made; may be nil.
	Step func(what string)
	Now  func() time.Time // nil is the clock
}

// Apply carries out an approved plan on files, and nothing else. In this order it
//
//  1. recomputes the digest, and passes the gate,
//  2. compares the files at the location with those that the plan saw,
//  3. takes the lock of the location, and does 2 again,
//
// 4. writes the new generation next to the old one, reads it again and compares,
//  5. switches to it by one rename, and compares once more,
//  6. writes the receipt.
//
// For the plan of a clean, steps 4 and 5 delete the earlier generations that it names.
// Until the switch the host finds the old generation complete, whatever happens. Every
// error is an [install.Error]; the receipt is nil if the plan changes nothing.
func Apply(ctx context.Context, plan *preview.Plan, approved record.Approval, o Options) (*Receipt, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if approved.How == record.ApprovedByPlan {
		approved = approved.WithReviewed(plan.Findings)
	}
	if approved.Accepted == nil {
		approved.Accepted = []record.Acceptance{}
	}
	r := &applier{plan: plan, approval: approved, o: o}
	err := r.apply(ctx)
	if ctx.Err() != nil && err != nil && !r.switched && install.KindOf(err) == install.NotStarted {
		err = &install.Error{Kind: install.Declined, Operation: r.operation(), Cause: "stopped before anything was changed", Advice: "run the command again", Err: err}
	}
	return r.result(err)
}

// applier is the state of one call of Apply.
type applier struct {
	plan     *preview.Plan
	approval record.Approval
	o        Options
	place    *locationRoot
	receipt  *Receipt
	switched bool // the host finds something else than before
}

// isClean reports whether a plan comes from clean, which only deletes the files of
// earlier generations.
func isClean(plan *preview.Plan) bool { return len(plan.Packages) == 0 }

// location returns the directory that the host loads plugins from.
func location(plan *preview.Plan) string {
	if isClean(plan) {
		return strings.TrimSuffix(plan.Location.Path, generationsSuffix)
	}
	return plan.Location.Path
}

func (r *applier) operation() string { return r.plan.Request.Action + " " + r.plan.Release.Name }

func (r *applier) apply(ctx context.Context) error {
	if err := r.checkApproval(); err != nil {
		return err
	}
	if err := r.check(ctx); err != nil {
		return err
	}
	links := r.linksOf()
	unlinked, err := links.missing()
	if err != nil {
		return r.failed(err)
	}
	if !r.plan.SetChanges() && !hasLeftovers(location(r.plan)) && len(unlinked) == 0 {
		return nil
	}
	place, err := openLocation(location(r.plan), r.o.Step)
	if err != nil {
		return r.failed(err)
	}
	r.place = place
	defer func() { _ = place.close() }() // directories: written files are closed before
	release, err := place.acquireLock(r.o.Holder, r.o.Now())
	if err != nil {
		return r.failed(err)
	}
	defer release() //nolint:errcheck // the process's end unlocks too
	if err := r.check(ctx); err != nil {
		return err
	}
	if err := place.sweep(location(r.plan)); err != nil {
		return r.failed(fmt.Errorf("clearing away what an interrupted run left: %w", err))
	}
	switch {
	case !r.plan.SetChanges():
		return links.make(place.step)
	case isClean(r.plan):
		return r.removeGenerations(ctx)
	}
	if err := r.stage(ctx); err != nil {
		// The written files are of no use, and are not looked at.
		return r.failed(errors.Join(err, place.sweep(location(r.plan))))
	}
	if err := r.switchOver(ctx); err != nil {
		return err
	}
	if err := links.make(place.step); err != nil {
		return r.failed(err)
	}
	return nil
}

// checkApproval returns an error unless the plan hashes to its digest and the
// approval covers the plan.
func (r *applier) checkApproval() error {
	if err := engine.CheckPlanned(r.plan); err != nil {
		return &install.Error{Kind: install.Refused, Operation: "checking the plan of " + r.plan.Release.Name, Cause: err.Error(), Err: err}
	}
	doing := "checking the approval of " + r.plan.Release.Name
	if r.plan.Location == nil || !filepath.IsAbs(r.plan.Location.Path) {
		return &install.Error{Kind: install.Refused, Operation: doing, Cause: "the plan does not install files at one location", Advice: "preview again"}
	}
	if host := HostID(); r.plan.Location.Host != host {
		return &install.Error{Kind: install.Refused, Operation: doing,
			Cause: fmt.Sprintf("the plan is for host %s, and this is %s", r.plan.Location.Host, host), Advice: "preview again on this one"}
	}
	if why := r.plan.Expired(r.o.Now()); why != "" {
		return &install.Error{Kind: install.Refused, Operation: doing, Cause: why, Advice: "preview again; if the clock is wrong, set it"}
	}
	if r.o.Quorum != nil {
		if err := r.countSigned(); err != nil {
			return err
		}
	}
	return install.Gate(r.plan, r.approval)
}

// countSigned verifies the signed approvals that are required, and adds them to
// the run's approval.
func (r *applier) countSigned() error {
	doing := "counting the signed approvals of " + r.plan.Release.Name
	signed, accepted, err := r.o.Quorum.Check(r.plan, []string{r.approval.By}, r.o.Now())
	if err != nil {
		kind := install.NotStarted
		if _, refused := errors.AsType[*approval.QuorumError](err); refused {
			kind = install.Refused
		}
		return &install.Error{Kind: kind, Operation: doing, Cause: err.Error(), Advice: "have exactly this plan approved: approve PLAN --key FILE", Err: err}
	}
	r.approval.Signed = signed
	for _, a := range accepted {
		r.approval.Accepted = append(r.approval.Accepted, record.Acceptance{ID: a.ID, Fingerprint: a.Fingerprint})
	}
	return nil
}

// failed returns the [install.Error] for err. Before the switch its advice says
// that nothing was changed, after the switch that the new generation is installed.
func (r *applier) failed(err error) error {
	if known, ok := errors.AsType[*install.Error](err); ok {
		return known
	}
	e := &install.Error{Kind: install.NotStarted, Operation: r.operation(), Cause: err.Error(), Advice: advice(err) + "nothing was changed", Err: err}
	if r.switched {
		e.Kind, e.Advice = install.Failed, advice(err)+"the host has the new generation; plugin rollback goes back"
		if isClean(r.plan) {
			e.Advice = advice(err) + "part of it may be removed; the same plan or digest removes the rest"
		}
	}
	return e
}

// advice returns what to do about a disk error, followed by "; ". It is empty
// for other errors.
func advice(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "make room on that disk, then run the command again; "
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return "run it as a user who may write there, or name another place with --location; "
	case errors.Is(err, syscall.EBUSY):
		return "the location is a mount point, which cannot be switched: name a directory inside it with --location; "
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.EXDEV):
		return "this file system cannot switch from a plain directory at once: move it away, then preview again; "
	}
	return ""
}

// result makes the receipt of the run and sends it as the run's last event.
func (r *applier) result(err error) (*Receipt, error) {
	event := install.Event{Type: install.EventResult, Digest: r.plan.Digest, ContentDigest: r.plan.ContentDigest}
	receipt := r.receipt
	if !r.switched {
		receipt = nil
	}
	code := 0
	if err != nil {
		code = int(install.KindOf(err))
		r.emit(install.Event{Type: install.EventError, Message: err.Error()})
	}
	event.ExitCode = &code
	event.Revision = r.plan.Generation.From
	if receipt != nil {
		event.Revision, event.Receipt = receipt.Generation, receipt.Install()
	}
	r.emit(event)
	return receipt, err
}

func (r *applier) emit(e install.Event) {
	if r.o.Sink == nil {
		return
	}
	e.Time = r.o.Now().UTC()
	r.o.Sink(e)
}
