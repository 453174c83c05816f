package cli

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/install"
	installed "github.com/kubectl-operator/kubectl-operator/install/plugins"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/approval"
	"github.com/kubectl-operator/kubectl-operator/preview/report"
	"github.com/kubectl-operator/kubectl-operator/tui"
	"github.com/kubectl-operator/kubectl-operator/tui/review"
)

// makeSet plans a plugin set, with choices of the reviewer where they are known
// already, telling a waiting person what is being done.
type makeSet func(ctx context.Context, options *preview.Options, progress func(string)) (*planning.SetPlan, error)

// setRunner takes the plan of a plugin set to an approval and through apply: the
// part that install, rollback and clean share.
type setRunner struct {
	app     *app
	review  string // the commands that do without asking what this one asks
	session *session
	approve approveFlags
	saved   savedFlags
	output  outputFlag
	out     outFlags
	receipt receiptFlag
	preview bool

	loaded *planning.SavedPlan // of --plan, nil without it
	quorum *approval.Quorum
}

func newSetRunner(a *app, review string) *setRunner {
	p := a.newSession()
	p.Read.Offline = true
	return &setRunner{app: a, review: review, session: p}
}

func (r *setRunner) addApply(cmd *cobra.Command) {
	flags := cmd.Flags()
	r.approve.add(flags)
	r.saved.add(flags)
	if flags.Lookup("registry-config") == nil { // commands that fetch no content still fetch plans
		addRegistryFlags(flags, &r.session.Source)
	}
	r.session.judged.add(flags, &r.session.Policy)
	r.receipt.add(flags)
}

// addWithPreview is addApply for commands that may stop after the plan.
func (r *setRunner) addWithPreview(cmd *cobra.Command) {
	r.addApply(cmd)
	flags := cmd.Flags()
	r.output.add(flags, outputOfEither)
	r.out.add(flags)
	flags.Lookup("out").Usage = "save the plan, for --plan: to this file, or to a registry as oci://HOST/REPO[:TAG]"
	flags.BoolVar(&r.preview, "preview", false, "stop after the plan and print it; --out saves it for --plan")
}

// check refuses flags that make no sense, and a run that could not ask, before
// anything is read.
func (r *setRunner) check() error {
	if err := firstError(r.approve.check(), r.output.check(), r.out.check(), r.session.loadPolicy()); err != nil {
		return err
	}
	r.session.Expires = r.out.expires
	switch {
	case r.out.To != "" && !r.preview:
		return usagef("--out saves the plan that --preview stops after; add --preview, or leave out --out")
	case r.preview && r.receipt.path != "":
		return usagef("--preview writes nothing; leave out --receipt")
	case r.preview && r.approve.yes:
		return usagef("--preview writes nothing; leave out --yes")
	case r.preview:
		return nil
	}
	return r.app.mayAsk(r.output.format, r.approve.yes, r.review)
}

// place is the location that flags or a saved plan name.
func (r *setRunner) place(ctx context.Context, f pluginFlags) (string, error) {
	if r.loaded != nil && f.Location == "" && f.Config == "" {
		return r.loaded.Location.Path, f.checkMode()
	}
	return f.place(ctx, r.session)
}

func (r *setRunner) run(ctx context.Context, title, action string, plan makeSet) error {
	if r.approve.plan != "" {
		if err := r.load(ctx, action); err != nil {
			return r.failed(err)
		}
	}
	switch {
	case r.preview:
		p, err := plan(ctx, nil, r.app.progress())
		if err == nil && r.out.To != "" {
			err = r.out.save(ctx, r.session, p.Plan)
		}
		if err != nil {
			return err
		}
		return r.app.print(ctx, p.Plan, r.output.format)
	case r.approve.yes:
		return r.scripted(ctx, plan)
	}
	return r.interactive(ctx, title, plan)
}

// load reads the saved plan, which must be one that the command carries out.
func (r *setRunner) load(ctx context.Context, action string) error {
	p, err := r.session.loadPlan(ctx, r.approve.plan, r.saved)
	if err != nil {
		return err
	}
	switch {
	case p.Platform == "":
		return usagef("the plan is to %s release %s; apply it with that command", p.Request.Action, p.Release.Name)
	case p.Against != nil:
		return usagef("the plan compares set %s with another config as if that were installed: it is for reading, and says nothing of what is at the location; preview without --against, and apply that plan", p.Release.Name)
	case p.Request.Action != action:
		return usagef("the plan is to %s %s; apply it with plugin %s", p.Request.Action, p.Release.Name, p.Request.Action)
	}
	if why := p.Expired(time.Now()); why != "" {
		return refuse(why, "preview again; if the clock is wrong, set it")
	}
	r.loaded = p
	r.quorum, err = r.session.Saved().Quorum(ctx, p, r.approve.quorum, r.approve.signers)
	return err
}

// scripted plans and applies without asking.
func (r *setRunner) scripted(ctx context.Context, plan makeSet) error {
	approval := install.Approval{How: install.ApprovedByDigest, By: localUser(), Ruleset: r.approve.ruleset}
	var options *preview.Options
	if r.loaded != nil {
		approval.Digest, approval.How, options = r.loaded.Digest, install.ApprovedByPlan, &r.loaded.Options
	}
	p, err := plan(ctx, options, r.app.progress())
	if err == nil && r.loaded == nil {
		approval.Digest, err = r.approve.approved(p.Plan)
	}
	if err != nil {
		return r.failed(err)
	}
	switch approval.Digest {
	case "":
		approval.How, approval.Digest = install.ApprovedByYes, p.Digest
	case p.Digest:
	case p.ContentDigest:
		approval.How = install.ApprovedByContent
	default:
		if done, err := r.interrupted(ctx, p.Plan, approval.Digest); done || err != nil {
			return r.failed(err)
		}
		if r.loaded != nil {
			return r.failed(refuse("what is there, or the artifacts, are not what the plan was made for: it would be "+p.Digest+" now, and the plan is "+approval.Digest,
				"preview again, and approve that"))
		}
	}
	if approval.Accepted, err = install.ParseAccept(r.approve.accept, p.Findings, r.loaded != nil || r.approve.approve != ""); err != nil {
		return r.failed(err)
	}
	return r.carryOut(ctx, p, approval)
}

// interrupted ends a run whose plan is the installed generation already: one
// that was interrupted after the switch is finished, any other refused.
func (r *setRunner) interrupted(ctx context.Context, p *preview.Plan, digest string) (bool, error) {
	writing(ctx)
	receipt, err := installed.Resume(ctx, p, digest, r.options(nil))
	if receipt == nil || err != nil {
		return false, err
	}
	file, err := r.receipt.open(digest)
	if err != nil {
		return true, err
	}
	if _, err := file.end(receipt.Install(), nil); err != nil {
		return true, err
	}
	printer := r.printer()
	printer.result(receipt)
	return true, nil
}

// interactive reviews and applies what was approved there.
func (r *setRunner) interactive(ctx context.Context, title string, plan makeSet) error {
	made := map[string]*planning.SetPlan{}
	again := func(ctx context.Context, progress func(string)) (*preview.Plan, error) {
		p, err := plan(ctx, nil, progress)
		if err != nil {
			return nil, err
		}
		made[p.Digest] = p
		return p.Plan, nil
	}
	open := tui.Review
	if r.app.streams.Lines() {
		open = tui.PlainReview
	}
	outcome, err := open(ctx, review.Options{
		Terminal: r.app.terminal(), Title: title,
		Resolve: again,
		Recheck: func(ctx context.Context, _ *preview.Plan, progress func(string)) (*preview.Plan, error) {
			return again(ctx, progress)
		},
	})
	switch {
	case err != nil:
		return err
	case outcome.Kind == review.Failed:
		return outcome.Err
	case outcome.Kind == review.Approved:
		return r.carryOut(ctx, made[outcome.PlanDigest], install.Approval{
			Digest: outcome.PlanDigest, How: install.ApprovedOnScreen, By: localUser(), Ruleset: preview.Ruleset, Accepted: outcome.Accepted,
		})
	}
	r.app.streams.Printf("Nothing was installed.\n")
	if outcome.Plan != nil && outcome.Plan.SetChanges() {
		r.app.streams.Printf("  plan    %s\n  resume  %s\n", outcome.Plan.Digest, report.Command(outcome.Plan))
	}
	return &silentExit{exitDeclined}
}

// carryOut applies what was approved, with progress as lines.
func (r *setRunner) carryOut(ctx context.Context, p *planning.SetPlan, approval install.Approval) error {
	printer := r.printer()
	o := r.options(printer.event)
	o.Beside = p.Beside
	if p.Files != nil {
		files, err := p.Files()
		if err != nil {
			return r.failed(err)
		}
		o.Files = files
	}
	file, err := r.receipt.open(p.Digest)
	if err != nil {
		return r.failed(err)
	}
	printer.begin(p.Plan)
	writing(ctx)
	receipt, err := installed.Apply(ctx, p.Plan, approval, o)
	var kept *install.Receipt
	if receipt != nil {
		kept = receipt.Install()
	}
	_, err = file.end(kept, err)
	printer.end(p.Plan, receipt, err)
	return err
}

func (r *setRunner) options(sink install.Sink) installed.Options {
	return installed.Options{
		Holder: r.holder(), Tool: r.app.version, Quorum: r.quorum, Sink: sink,
		Step: func(what string) { r.app.log.Debug("plugins", "step", what) },
	}
}

func (r *setRunner) printer() *setPrinter {
	return &setPrinter{printer{app: r.app, json: r.output.format == "json", last: map[string]install.ObjectState{}}}
}

func (r *setRunner) holder() string {
	host, _ := os.Hostname() // only words for a person
	return fmt.Sprintf("process %d of %s on %s", os.Getpid(), localUser(), host)
}

// failed reports an error before apply began, as the last event where events
// were asked for.
func (r *setRunner) failed(err error) error {
	if err != nil && r.output.format == "json" {
		r.printer().failed(err)
	}
	return err
}

// localUser is who runs this program, by the machine's account.
func localUser() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return fmt.Sprintf("uid %d", os.Getuid())
}
