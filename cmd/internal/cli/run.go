package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/olmcluster"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/resuming"
	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/history"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/approval"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/report"
	document "github.com/kubectl-operator/kubectl-operator/preview/review"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
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
	receipt receiptFlag
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
	if p := outcome.Plan; p != nil && (p.OnMachine() && p.SetChanges() || p.Changes()) {
		r.app.streams.Printf("  plan                        %s\n  review again                %s\n", p.Digest, document.RepeatCommand(p))
		if outcome.Reviewed {
			r.app.streams.Printf("  approve without the screen  %s\n", document.Command(p))
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

// releaseRun is the run of a command on a release: install, upgrade, rollback
// and uninstall.
type releaseRun struct {
	*runner
	rollout rolloutFlags
	health  healthFlags
}

// newReleaseRun returns the run of a command, whose review without a terminal is printed
// by the other one.
func newReleaseRun(s *session, command, review string) *releaseRun {
	r := &releaseRun{runner: &runner{app: s.app, session: s, instead: fmt.Sprintf(`"%s -o markdown", then "%s --yes --approve sha256:..."`, review, command)}}
	r.to = r
	return r
}

// addWithPreview adds the flags of a command on a release that can also stop
// after printing the plan.
func (r *releaseRun) addWithPreview(flags *pflag.FlagSet) {
	r.addApply(flags)
	r.rollout.add(flags)
	addRecordFlags(flags, &r.session.Records)
	r.addPreview(flags, report.OfRelease)
}

// check returns an error for wrong flags, and for a run that would have to ask
// without a terminal, before any server is contacted.
func (r *releaseRun) check() error {
	p := r.session
	own := firstError(p.Read.Check(), r.rollout.check(), r.health.check(), p.owners.check(r.approve.plan != "", p.Read.Offline))
	if own == nil && r.approve.plan != "" && p.Signatures != (planning.SignatureOptions{}) {
		own = usagef("--plan applies what was checked when the plan was made; give --verify and who must have signed to preview")
	}
	p.StageTimeout = r.rollout.stageTimeout
	return r.checkWith(own)
}

func (r *releaseRun) approver(p *preview.Plan) string { return p.Target.User }

func (r *releaseRun) print(ctx context.Context, p *preview.Plan) error {
	err := r.app.print(ctx, p, r.session.reportOptions(ctx, r.output.format, nil))
	if err != nil || r.session.via == "" || r.output.format != report.Text {
		return err
	}
	return r.installVia(ctx, p, record.Approval{})
}

// resume returns the plan that resumes an interrupted run of the approved digest.
// If there is none, the fresh plan is compared with the digest as usual.
func (r *releaseRun) resume(ctx context.Context, fresh *preview.Plan, digest string) (*preview.Plan, bool, error) {
	resumed, err := r.interrupted().Plan(ctx, fresh, digest)
	return resumed, false, err
}

// interrupted finds interrupted runs in the cluster that was contacted.
func (r *releaseRun) interrupted() resuming.Finder {
	return resuming.Finder{Cluster: r.session.client, Schemas: r.session.typer(), Judge: r.session.Judge, DropLease: r.dropLease}
}

// dropLease deletes the Lease that a run left behind when it was killed after
// it had recorded how it ended.
func (r *releaseRun) dropLease(ctx context.Context, release preview.Release) {
	if cluster, err := r.session.writer(ctx); err == nil {
		install.DropLease(ctx, cluster, release)
	}
}

// runPlanFile applies a saved plan. If the command names a release, it must be the
// plan's. The plan's action must match the command; install and upgrade count as the
// same.
func (r *releaseRun) runPlanFile(ctx context.Context, name, action string) error {
	p, err := r.session.loadPlan(ctx, r.approve.plan, r.saved)
	if err != nil {
		return r.reportFailure(err)
	}
	namespace := r.app.kube.Namespace()
	switch {
	case p.OnMachine():
		return r.reportFailure(usagef("the plan is to %s the plugin set %s; apply it with plugin %s", p.Request.Action, p.Release.Name, p.Request.Action))
	case name != "" && name != p.Release.Name:
		return r.reportFailure(usagef("the plan is for release %s, not %s", p.Release.Name, name))
	case namespace != "" && namespace != p.Release.Namespace:
		return r.reportFailure(usagef("the plan is for namespace %s, not %s", p.Release.Namespace, namespace))
	case commandOf(p.Request.Action) != commandOf(action):
		return r.reportFailure(usagef("the plan is to %s %s; apply it with that command", p.Request.Action, p.Release.Name))
	}
	if why := p.Expired(time.Now()); why != "" {
		return r.reportFailure(refuse(why, "preview again; if the clock is wrong, set it"))
	}
	if p.ReadMode == preview.ReadOffline {
		return r.reportFailure(refuse("the plan was made offline and has seen no cluster",
			"make it again without --offline, or approve its content: install REF --yes --approve "+p.ContentDigest))
	}
	cluster, err := r.session.connect(ctx)
	if err != nil {
		return r.reportFailure(err)
	}
	target, err := cluster.Target(ctx)
	if err != nil {
		return r.reportFailure(err)
	}
	if target.Identity != p.Target.Identity {
		return r.reportFailure(refuse(fmt.Sprintf("the plan is for the cluster %s, and this is %s", p.Target.Identity, target.Identity),
			"choose the right one with --context, or preview again for this one"))
	}
	p.Target = target
	if finished, err := r.finishRemoval(ctx, p.Release.Name, p.Digest); finished {
		return err
	}
	if err := r.refuseApplied(ctx, p.Plan); err != nil {
		return r.reportFailure(err)
	}
	approval := record.Approval{Digest: p.Digest, How: record.ApprovedByPlan, By: target.User, Ruleset: r.approve.ruleset}
	if _, err := r.session.RecordKeys(ctx); err != nil {
		return r.reportFailure(err)
	}
	planning.Repeat(r.session.Planner, p.Plan)
	if r.quorum, err = r.session.Saved().Quorum(ctx, p, r.approve.quorum, r.approve.signers); err != nil {
		return r.reportFailure(err)
	}
	return r.applyApproved(ctx, p.Plan, approval)
}

// commandOf returns the name of the command that applies plans with that action.
func commandOf(action string) string {
	if action == preview.RequestUpgrade {
		return preview.RequestInstall
	}
	return action
}

// findings returns the findings of a plan as the user's policy judges them now. A
// plan file has them as the built-in rules made them, which its approval covers.
func (r *releaseRun) findings(p *preview.Plan) ([]preview.Finding, error) {
	if p.Policy != nil {
		return p.Findings, nil
	}
	plan := *p
	judged, err := r.session.Judge(&plan, nil)
	if err != nil {
		return nil, err
	}
	return judged.Findings, nil
}

// apply applies a plan to the cluster, and prints its progress as lines.
func (r *releaseRun) apply(ctx context.Context, p *preview.Plan, approval record.Approval) error {
	if r.session.via != "" {
		return r.installVia(ctx, p, approval)
	}
	if err := r.health.match(p); err != nil {
		return r.reportFailure(err)
	}
	if err := install.DeniedError(p); err != nil {
		return r.reportFailure(err)
	}
	cluster, err := r.session.writer(ctx)
	if err != nil {
		return r.reportFailure(err)
	}
	file, err := r.receipt.Open(p.Digest)
	if err != nil {
		return r.reportFailure(err)
	}
	printer := r.printer()
	printer.plan(p)
	defer r.app.announceStop(ctx)()
	receipt, err := file.Apply(ctx, p, approval, cluster, r.optionsFor(p, printer.event))
	printer.printDone(p, receipt, err)
	if err == nil && approval.How == record.ApprovedByPlan {
		r.noteApplied(p)
	}
	return err
}

// installVia has OLM install an approved plan, or only shows what for with --preview.
func (r *releaseRun) installVia(ctx context.Context, p *preview.Plan, approval record.Approval) error {
	if !r.preview {
		if err := install.Gate(p, approval); err != nil {
			return r.reportFailure(err)
		}
	}
	manifests := func(pkg *preview.Package) ([]map[string]any, error) {
		return planning.Manifests(ctx, r.session.Planner, pkg, r.app.progress())
	}
	say := func(line string) { r.app.streams.Printf("%s\n", textsafe.Line(line)) }
	if w := r.session.pending; w != nil {
		return r.reportFailure(w.Approve(ctx, r.session.olm(), p, r.rollout.rolloutTimeout, r.preview, manifests, say))
	}
	asked, err := olmcluster.NewInstall(p, r.rollout.rolloutTimeout, manifests)
	if err != nil {
		return r.reportFailure(err)
	}
	consent := olmcluster.Consent{Yes: r.approve.yes, Preview: r.preview}
	return r.reportFailure(r.app.declined(asked.Ask(ctx, r.session.olm(), consent, say)))
}

// ofOLM returns the error of a command on a release, which where there is none has the
// commands for the Subscription of that name.
func (p *session) ofOLM(ctx context.Context, name string, err error, commands func(map[string]any) []string) error {
	if !errors.Is(err, history.ErrNone) {
		return err
	}
	return olmcluster.OfOLM(ctx, p.client, p.olm().Namespace, name, err, commands)
}

// upgradeVia plans what the pending InstallPlan of a Subscription holds.
func (p *session) upgradeVia(ctx context.Context, name, text string, progress func(string)) (*preview.Plan, error) {
	cluster, err := p.connect(ctx)
	if err != nil {
		return nil, err
	}
	w, err := olmcluster.FindPending(ctx, cluster, p.olm().Namespace, name, p.Selection.Channel)
	if err != nil {
		return nil, err
	}
	asked, err := ref.Parse(cmp.Or(text, w.Upgrades[0].Package))
	if err != nil || asked.Package != w.Upgrades[0].Package {
		return nil, usagef("OLM upgrades along a channel: %q is no version of %s; leave it out, or --via", text, w.Upgrades[0].Package)
	}
	version := cmp.Or(p.Selection.Version, asked.Version)
	p.pending, p.Selection.Version = w, version
	p.Render.InstallMode, p.Render.WatchNamespaces = w.Mode()
	plan, err := planning.CompareBundles(ctx, p.Planner, w.Release, w.Upgrades, olmcluster.V0, progress)
	if err != nil {
		return nil, err
	}
	return plan, w.Check(plan, version)
}

// optionsFor returns how a plan is applied.
func (r *releaseRun) optionsFor(p *preview.Plan, sink install.Sink) install.Options {
	o := r.options(sink)
	o.Resume = func(digest string) string { return document.ResumeCommand(p, digest) }
	return o
}

func (r *releaseRun) options(sink install.Sink) install.Options {
	host, _ := os.Hostname() // only a name in the lock
	return install.Options{
		Schemas: r.session.typer(), Sink: r.app.watchedSink(sink), Holder: fmt.Sprintf("%s/%d", host, os.Getpid()),
		StageTimeout: r.rollout.stageTimeout, RolloutTimeout: r.rollout.rolloutTimeout,
		NoWait: r.rollout.noWait, Checks: r.health.rolloutChecks(), ToolVersion: r.app.version, Judge: r.session.JudgeAgain, Quorum: r.quorum,
		HistoryMax: r.rollout.keep(), RecordKeys: r.session.SigningKeys(),
	}
}

// refuseApplied refuses a saved plan that this machine has applied if the cluster
// has no record of it. If the cluster has one, that record decides: the run is
// resumed, or refused as applied.
func (r *releaseRun) refuseApplied(ctx context.Context, p *preview.Plan) error {
	list, err := newAppliedPlans(r.app.getenv)
	if err != nil {
		return nil // no home, no list
	}
	when := list.AppliedAt(p)
	if when == "" {
		return nil
	}
	record, err := record.Load(ctx, r.session.client, p.Release)
	if err != nil || record != nil && record.Digest == p.Digest {
		return nil // to be said by the checks of the apply itself
	}
	return refuse("the plan was applied from this machine at "+when+", and the cluster has no record of that any more",
		"preview again; approvals of the old plan do not count for a new one")
}

// noteApplied adds a plan that was applied to the list.
func (r *releaseRun) noteApplied(p *preview.Plan) {
	list, err := newAppliedPlans(r.app.getenv)
	if err == nil {
		err = list.Add(p, time.Now())
	}
	if err != nil {
		fmt.Fprintf(r.app.streams.HumanErr(), "this machine could not record that the plan was applied: %v; only its record in the cluster keeps it from being applied again\n", err)
	}
}
