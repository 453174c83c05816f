package cli

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/approval"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
)

// makePlan plans, telling a waiting person what is being done.
type makePlan func(ctx context.Context, progress func(string)) (*preview.Plan, error)

// runner takes a plan to an approval and through apply: the part that install,
// upgrade and uninstall share.
type runner struct {
	app     *app
	session *session
	approve approveFlags
	saved   savedFlags
	quorum  *approval.Quorum // of signed approvals, nil where none are required
	preview bool
	output  outputFlag
	health  healthFlags
	receipt receiptFlag
	out     outFlags
	rollout rolloutFlags
}

func (r *runner) add(flags *pflag.FlagSet) {
	r.addApply(flags)
	r.output.add(flags, outputOfApply)
}

// addWithPreview is add for commands on a release, which may stop after the
// plan. To plan an install is what preview is for.
func (r *runner) addWithPreview(flags *pflag.FlagSet) {
	r.addApply(flags)
	r.output.add(flags, outputOfChange)
	r.out.add(flags)
	flags.BoolVar(&r.preview, "preview", false, "stop after the plan and print it; --out saves it for --plan")
}

func (r *runner) addApply(flags *pflag.FlagSet) {
	r.approve.add(flags)
	r.saved.add(flags)
	if flags.Lookup("registry-config") == nil { // commands that fetch no content still fetch plans
		addRegistryFlags(flags, &r.session.Source)
	}
	r.rollout.add(flags)
	r.session.judged.add(flags, &r.session.Policy)
	r.receipt.add(flags)
}

// check refuses flags that make no sense, and a run that could not ask, before
// anything is contacted.
func (r *runner) check(p *session) error {
	if err := firstError(r.approve.check(), p.Read.Check(), r.rollout.check(), r.health.check(), p.owners.check(r.approve.plan != "", p.Read.Offline), r.output.check(), r.out.check(), p.loadPolicy()); err != nil {
		return err
	}
	p.Expires = r.out.expires
	switch {
	case r.out.To != "" && !r.preview:
		return usagef("--out saves the plan that --preview stops after; add --preview, or leave out --out")
	case r.approve.plan != "" && p.Signatures != (planning.SignatureOptions{}):
		return usagef("--plan applies what was checked when the plan was made; give --verify and who must have signed to preview")
	case r.preview && r.receipt.path != "":
		return usagef("--preview writes nothing; leave out --receipt")
	case r.preview && r.approve.yes:
		return usagef("--preview writes nothing; leave out --yes")
	case r.preview:
		return nil
	}
	return r.app.mayAsk(r.output.format, r.approve.yes, `"preview -o markdown", then "install --yes --approve sha256:..."`)
}

// mayAsk refuses a form of output that a run does not have, and a run that has
// to ask where nobody answers: instead names the commands for that.
func (a *app) mayAsk(format string, yes bool, instead string) error {
	switch {
	case format != "text" && format != "json":
		return usagef("-o %s is a form of plans; use preview, or text or json here", format)
	case yes:
		return nil
	case format == "json":
		return usagef("-o json never asks and never approves; add --yes")
	case !a.streams.CanAsk():
		return fmt.Errorf("not a terminal: review with %s", instead)
	}
	return nil
}

func (r *runner) run(ctx context.Context, title string, plan makePlan) error {
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
		if r.output.format == outputInstallerRole {
			return writeInstallerRole(r.app.streams.Out, p, r.session.plural(ctx))
		}
		return r.app.print(ctx, p, r.output.format)
	case r.approve.yes:
		return r.scripted(ctx, plan)
	}
	return r.interactive(ctx, title, plan)
}

// scripted plans and applies without asking.
func (r *runner) scripted(ctx context.Context, plan makePlan) error {
	p, err := plan(ctx, r.app.progress())
	if err != nil {
		return r.failed(err)
	}
	approval := install.Approval{
		Digest: r.approve.approve, How: install.ApprovedByDigest, By: p.Target.User, Ruleset: r.approve.ruleset,
	}
	switch r.approve.approve {
	case "":
		approval.How, approval.Digest = install.ApprovedByYes, p.Digest
	case p.ContentDigest:
		approval.How = install.ApprovedByContent
	case p.Digest:
	default:
		resumed, err := r.unfinished(ctx, p)
		if err == nil && resumed == nil {
			resumed, err = r.restarted(ctx, p)
		}
		if err != nil {
			return r.failed(err)
		}
		if resumed != nil {
			p = resumed
		}
	}
	return r.approved(ctx, p, approval)
}

// unfinished returns the plan that an interrupted run of the approved digest
// recorded, nil when there is none: the same command resumes it, or its undo.
func (r *runner) unfinished(ctx context.Context, fresh *preview.Plan) (*preview.Plan, error) {
	record, err := install.LoadRecord(ctx, r.session.client, fresh.Release)
	if err != nil || record == nil || !record.State.Unfinished() {
		return nil, err
	}
	if record.Undoes != nil {
		record, err = install.LoadRevision(ctx, r.session.client, fresh.Release, record.Undoes.Revision)
	}
	if err != nil || record == nil || record.Digest != r.approve.approve {
		return nil, err
	}
	sealed := map[string]map[string]any{}
	for i := range fresh.Objects {
		sealed[fresh.Objects[i].ID] = fresh.Objects[i].Sealed
	}
	plan, err := install.LoadPlan(ctx, r.session.client, record, sealed)
	if err != nil {
		return nil, err
	}
	// Judged as when it was recorded; what counts is today's policy.
	plan.Findings, plan.Policy = preview.Unjudged(plan.Findings), nil
	return plan, nil
}

// restarted returns the approved plan when an interrupted run of it made the
// release Namespace and came no further, nil otherwise.
func (r *runner) restarted(ctx context.Context, fresh *preview.Plan) (*preview.Plan, error) {
	before, err := install.BeforeNamespace(ctx, r.session.client, fresh.Release)
	if err != nil || before == nil {
		return nil, err
	}
	p, err := r.session.Judge(engine.Recheck(ctx, fresh, before, r.session.typer()))
	if err != nil || p.Digest != r.approve.approve {
		return nil, err
	}
	return p, nil
}

// runPlanFile applies a saved plan. It must be one for the release that the
// command names, if it names one, and do what the command is called; install
// and upgrade are one.
func (r *runner) runPlanFile(ctx context.Context, name, action string) error {
	p, err := r.session.loadPlan(ctx, r.approve.plan, r.saved)
	if err != nil {
		return r.failed(err)
	}
	namespace := r.app.kube.Namespace()
	switch {
	case p.OnMachine():
		return r.failed(usagef("the plan is to %s the plugin set %s; apply it with plugin %s", p.Request.Action, p.Release.Name, p.Request.Action))
	case name != "" && name != p.Release.Name:
		return r.failed(usagef("the plan is for release %s, not %s", p.Release.Name, name))
	case namespace != "" && namespace != p.Release.Namespace:
		return r.failed(usagef("the plan is for namespace %s, not %s", p.Release.Namespace, namespace))
	case called(p.Request.Action) != called(action):
		return r.failed(usagef("the plan is to %s %s; apply it with that command", p.Request.Action, p.Release.Name))
	}
	if why := p.Expired(time.Now()); why != "" {
		return r.failed(refuse(why, "preview again; if the clock is wrong, set it"))
	}
	if p.ReadMode == preview.ReadOffline {
		return r.failed(refuse("the plan was made offline and has seen no cluster",
			"make it again without --offline, or approve its content: install REF --yes --approve "+p.ContentDigest))
	}
	cluster, err := r.session.connect(ctx)
	if err != nil {
		return r.failed(err)
	}
	target, err := cluster.Target(ctx)
	if err != nil {
		return r.failed(err)
	}
	if target.Identity != p.Target.Identity {
		return r.failed(refuse(fmt.Sprintf("the plan is for the cluster %s, and this is %s", p.Target.Identity, target.Identity),
			"choose the right one with --context, or preview again for this one"))
	}
	p.Target = target
	if finished, err := r.finishRemoval(ctx, p.Release.Name, p.Digest); finished {
		return err
	}
	approval := install.Approval{Digest: p.Digest, How: install.ApprovedByPlan, By: target.User, Ruleset: r.approve.ruleset}
	if r.quorum, err = r.session.Saved().Quorum(ctx, p, r.approve.quorum, r.approve.signers); err != nil {
		return r.failed(err)
	}
	return r.approved(ctx, p.Plan, approval)
}

// called is the command that applies plans of an action.
func called(action string) string {
	if action == preview.RequestUpgrade {
		return preview.RequestInstall
	}
	return action
}

// approved passes the gate of flags, then applies with progress as lines.
func (r *runner) approved(ctx context.Context, p *preview.Plan, approval install.Approval) error {
	judged, err := r.judged(p)
	if err != nil {
		return r.failed(err)
	}
	accepted, err := install.ParseAccept(r.approve.accept, judged, r.approve.plan != "" || r.approve.approve != "")
	if err != nil {
		return r.failed(err)
	}
	approval.Accepted = accepted
	if err := r.health.match(p); err != nil {
		return r.failed(err)
	}
	if err := install.Barred(p); err != nil {
		return r.failed(err)
	}
	cluster, err := r.session.writer(ctx)
	if err != nil {
		return r.failed(err)
	}
	file, err := r.receipt.open(p.Digest)
	if err != nil {
		return r.failed(err)
	}
	printer := r.printer()
	printer.plan(p)
	defer r.app.announceStop(ctx)()
	receipt, err := file.apply(ctx, p, approval, cluster, r.options(printer.event))
	printer.done(p, receipt, err)
	return err
}

// judged are the findings of a plan as today's policy judges them: those of a
// plan file are as the built-in rules made them, which is what the file approves.
func (r *runner) judged(p *preview.Plan) ([]preview.Finding, error) {
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

func (r *runner) options(sink install.Sink) install.Options {
	host, _ := os.Hostname() // only a name in the lock
	return install.Options{
		Schemas: r.session.typer(), Sink: r.app.watched(sink), Holder: fmt.Sprintf("%s/%d", host, os.Getpid()),
		StageTimeout: r.rollout.stageTimeout, RolloutTimeout: r.rollout.rolloutTimeout,
		NoWait: r.rollout.noWait, Checks: r.health.rolloutChecks(), ToolVersion: r.app.version, Judge: r.session.JudgeAgain, Quorum: r.quorum,
		HistoryMax: r.rollout.keep(),
	}
}

// failed reports an error before apply began, as the last event where events
// were asked for.
func (r *runner) failed(err error) error {
	if r.output.format == "json" {
		r.printer().failed(err)
	}
	return err
}
