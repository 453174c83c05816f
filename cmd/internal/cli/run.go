package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/receiptfile"
	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/approval"
	"github.com/kubectl-operator/kubectl-operator/preview/report"
	"github.com/kubectl-operator/kubectl-operator/tui/review"
)

// planFunc makes a plan, and reports its progress.
type planFunc func(ctx context.Context, progress func(string)) (*preview.Plan, error)

// runner takes a plan through review, approval and apply, for every command
// that changes the cluster or files.
type runner struct {
	app     *app
	session *session
	to      destination
	instead string // the commands that do without asking what this one asks
	approve approveFlags
	saved   savedFlags
	loaded  *planning.SavedPlan // of --plan, where it is made anew from its sources
	quorum  *approval.Quorum    // of signed approvals, nil where none are required
	preview bool
	output  outputFlag
	receipt receiptfile.Flag
	out     outFlags
}

// destination is what a plan is applied to: a release in the cluster, or the
// files of a plugin set on this machine.
type destination interface {
	// approver names the approver where no screen asks.
	approver(p *preview.Plan) string
	// resume looks for the interrupted run of an approved digest that a new
	// plan does not have: the plan that goes on with it, or done when the run
	// has been ended.
	resume(ctx context.Context, fresh *preview.Plan, digest string) (plan *preview.Plan, done bool, err error)
	// findings are those that can be accepted.
	findings(p *preview.Plan) ([]preview.Finding, error)
	// apply carries out what was approved, with progress as lines.
	apply(ctx context.Context, p *preview.Plan, approval record.Approval) error
	// review asks on a screen or by lines, and applies what is approved there.
	review(ctx context.Context, title string, plan planFunc) error
	// print prints the plan that the command stops after.
	print(ctx context.Context, p *preview.Plan) error
}

// addApply adds the flags of a command that applies a plan.
func (r *runner) addApply(flags *pflag.FlagSet) {
	r.approve.add(flags)
	r.saved.add(flags)
	if flags.Lookup("registry-config") == nil { // commands that fetch no content still fetch plans
		addRegistryFlags(flags, &r.session.Source)
	}
	r.session.judged.add(flags, &r.session.Policy)
	r.receipt.Add(flags)
}

// addPreview adds the flags of a command that can stop after printing the plan.
func (r *runner) addPreview(flags *pflag.FlagSet, scope report.Scope) {
	r.output.addEither(flags, scope)
	r.out.add(flags)
	flags.BoolVar(&r.preview, "preview", false, "stop after the plan and print it; --out saves it for --plan")
}

// checkWith returns an error for wrong flags, and for a run that would have to
// ask without a terminal, before any server is contacted. own is an error that
// the command itself found.
func (r *runner) checkWith(own error) error {
	if err := firstError(r.approve.check(), own, r.output.check(), r.out.check(), r.session.loadPolicy()); err != nil {
		return err
	}
	r.session.Expires, r.session.Approved, r.session.Records.Signs = r.out.expires, r.approve.approve, !r.preview
	switch {
	case r.out.To != "" && !r.preview:
		return usagef("--out saves the plan that --preview stops after; add --preview, or leave out --out")
	case r.preview && r.receipt.Path != "":
		return usagef("--preview writes nothing; leave out --receipt")
	case r.preview && r.approve.yes:
		return usagef("--preview writes nothing; leave out --yes")
	case r.preview:
		return nil
	}
	return r.app.checkCanPrompt(r.output.format, r.approve.yes, r.instead)
}

// errNoTerminal is the error for a run that must ask and cannot, and errInCI for one on a
// terminal of a CI system.
var errNoTerminal, errInCI = errors.New("not a terminal"), errors.New("CI is set, so that nothing is asked")

// checkCanPrompt returns an error for an output form that the command does not
// have, and for a run that must ask but has no terminal; that error names the
// command lines in instead.
func (c console) checkCanPrompt(format string, yes bool, instead string) error {
	switch {
	case !slices.Contains(report.ProgressNames(), format):
		return usagef("-o %s is a form of plans; use preview, or %s here", format, report.OneOf(report.ProgressNames()))
	case yes:
		return nil
	case format == "json":
		return usagef("-o json never asks and never approves; add --yes")
	case !c.streams.CanAsk() && c.streams.OnlyCI():
		return fmt.Errorf("%w: review with %s", errInCI, instead)
	case !c.streams.CanAsk():
		return fmt.Errorf("%w: review with %s", errNoTerminal, instead)
	}
	return nil
}

// run makes the plan and then, as the flags say, prints it, applies it without
// asking, or asks for approval.
func (r *runner) run(ctx context.Context, title string, plan planFunc) error {
	plan = plan.interruptible()
	switch {
	case r.preview:
		p, err := plan(ctx, r.app.progress())
		if err == nil && r.out.To != "" {
			err = r.out.save(ctx, r.session, p)
		}
		if err != nil {
			return err
		}
		return r.to.print(ctx, p)
	case r.approve.yes:
		p, err := plan(ctx, r.app.progress())
		if err != nil {
			return r.reportFailure(err)
		}
		return r.applyScripted(ctx, p)
	}
	return r.to.review(ctx, title, plan)
}

// applyScripted applies a plan without asking. It is approved by the saved
// plan, by the digest of --approve or, without these, by --yes alone.
func (r *runner) applyScripted(ctx context.Context, p *preview.Plan) error {
	approval := record.Approval{How: record.ApprovedByDigest, By: r.to.approver(p), Ruleset: r.approve.ruleset}
	var err error
	if r.loaded != nil {
		approval.Digest, approval.How = r.loaded.Digest, record.ApprovedByPlan
	} else if approval.Digest, err = r.approve.approvedDigest(p); err != nil {
		return r.reportFailure(err)
	}
	switch approval.Digest {
	case "":
		approval.How, approval.Digest = record.ApprovedByYes, p.Digest
	case p.Digest:
	case p.ContentDigest:
		approval.How = record.ApprovedByContent
	default:
		resumed, done, err := r.to.resume(ctx, p, approval.Digest)
		if done || err != nil {
			return r.reportFailure(err)
		}
		if resumed != nil {
			p = resumed
		}
	}
	return r.applyApproved(ctx, p, approval)
}

// applyApproved checks the approval that the flags give, then applies the plan and
// prints progress as lines.
func (r *runner) applyApproved(ctx context.Context, p *preview.Plan, approval record.Approval) error {
	findings, err := r.to.findings(p)
	if err != nil {
		return r.reportFailure(err)
	}
	approval.Accepted, err = install.ParseAccept(r.approve.accept, findings, r.approve.plan != "" || r.approve.approve != "")
	if err != nil {
		return r.reportFailure(err)
	}
	return r.to.apply(ctx, p, approval)
}

// declineError returns the error of a review that ended without an approval, and
// prints nothing (the text that says so) and the command lines to continue. If an
// approval was refused, that refusal is returned and decides the exit code.
func (r *runner) declineError(outcome review.Outcome, nothing string, refusal error) error {
	r.app.streams.Printf("%s\n", nothing)
	if p := outcome.Plan; p != nil && (p.OnMachine() && p.SetChanges() || p.Summary.Changes()) {
		r.app.streams.Printf("  plan                        %s\n  review again                %s\n", p.Digest, report.ReviewCommand(p))
		if outcome.Reviewed {
			r.app.streams.Printf("  approve without the screen  %s\n", report.Command(p))
		}
	}
	if refusal != nil {
		return refusal
	}
	return &silentExit{exitDeclined}
}

func (r *runner) printer() *printer {
	return &printer{app: r.app, json: r.output.format == "json", last: map[string]record.ObjectState{}}
}

// reportFailure returns an error that happened before the apply began. With -o
// json it also prints the error as the last event.
func (r *runner) reportFailure(err error) error {
	if err != nil && r.output.format == "json" {
		r.printer().printFailed(err)
	}
	return err
}
