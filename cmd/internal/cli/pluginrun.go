package cli

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/shutdown"
	"github.com/kubectl-operator/kubectl-operator/install"
	installed "github.com/kubectl-operator/kubectl-operator/install/plugins"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/report"
	"github.com/kubectl-operator/kubectl-operator/tui/review"
)

// setFunc makes the plan of a plugin set, and reports its progress.
type setFunc func(ctx context.Context, progress func(string)) (*planning.SetPlan, error)

// setRun is the run of a command on a plugin set: plugin install, rollback and
// clean.
type setRun struct {
	*runner
	made map[string]*planning.SetPlan // by the digest of the plan
}

func newSetRun(a *app, instead string) *setRun {
	p := a.newSession()
	p.Read.Offline = true
	r := &setRun{runner: &runner{app: a, session: p, instead: instead}, made: map[string]*planning.SetPlan{}}
	r.to = r
	return r
}

// addWithPreview adds the flags of [runner.addApply], and those for stopping
// after the plan.
func (r *setRun) addWithPreview(flags *pflag.FlagSet) {
	r.addApply(flags)
	r.addPreview(flags, report.AnyPlan)
	flags.Lookup("out").Usage = "save the plan, for --plan: to this file, or to a registry as oci://HOST/REPO[:TAG]"
}

// check returns an error for wrong flags, and for a run that would have to ask
// without a terminal, before anything is read.
func (r *setRun) check() error { return r.checkWith(nil) }

// place returns the location of the plugins, from the flags or the saved plan.
func (r *setRun) place(ctx context.Context, f pluginFlags) (string, error) {
	if r.loaded != nil && f.Location == "" && f.Config == "" {
		return r.loaded.Location.Path, f.checkMode()
	}
	return f.place(ctx, r.session)
}

// choices returns the reviewer's decisions in the saved plan; nil without a
// saved plan, because they are made in this run then.
func (r *setRun) choices() *preview.Options {
	if r.loaded == nil {
		return nil
	}
	return &r.loaded.Options
}

func (r *setRun) run(ctx context.Context, title, action string, plan setFunc) error {
	if r.approve.plan != "" {
		if err := r.load(ctx, action); err != nil {
			return r.reportFailure(err)
		}
	}
	return r.runner.run(ctx, title, func(ctx context.Context, progress func(string)) (*preview.Plan, error) {
		p, err := plan(ctx, progress)
		if err != nil {
			return nil, err
		}
		r.made[p.Digest] = p
		return p.Plan, nil
	})
}

// load reads the saved plan. A plan for another command is an error.
func (r *setRun) load(ctx context.Context, action string) error {
	p, err := r.session.loadPlan(ctx, r.approve.plan, r.saved)
	if err != nil {
		return err
	}
	switch {
	case p.Platform == "":
		return usagef("the plan is to %s release %s; apply it with that command", p.Request.Action, p.Release.Name)
	case p.Against != nil:
		return usagef("the plan compares set %s with another config as if that were installed: it is read-only, and does not describe what is at the location; preview without --against, and apply that plan", p.Release.Name)
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

func (r *setRun) approver(*preview.Plan) string { return localUser() }

func (r *setRun) findings(p *preview.Plan) ([]preview.Finding, error) { return p.Findings, nil }

func (r *setRun) print(ctx context.Context, p *preview.Plan) error {
	return r.app.print(ctx, p, report.Options{Format: r.output.format})
}

// resume completes an interrupted run of the approved digest, if its generation
// is installed already, and then returns true. A completed run is an error, and
// so is a saved plan whose files or artifacts have changed.
func (r *setRun) resume(ctx context.Context, fresh *preview.Plan, digest string) (*preview.Plan, bool, error) {
	done, err := r.finishInterrupted(ctx, fresh, digest)
	if !done && err == nil && r.loaded != nil {
		err = refuse("the files or the artifacts changed since the plan: it would be "+fresh.Digest+" now, and the plan is "+digest,
			"preview again, and approve that")
	}
	return nil, done, err
}

// finishInterrupted completes the run of an approved digest that was
// interrupted after the switch to its generation; false if there is none.
func (r *setRun) finishInterrupted(ctx context.Context, p *preview.Plan, digest string) (bool, error) {
	shutdown.NoteWrite(ctx)
	receipt, err := installed.Resume(ctx, p, digest, r.options(nil))
	if receipt == nil || err != nil {
		return false, err
	}
	file, err := r.receipt.Open(digest)
	if err != nil {
		return true, err
	}
	if _, err := file.End(receipt.Install(), nil); err != nil {
		return true, err
	}
	r.printer().setResumed(receipt)
	return true, nil
}

// review asks for approval of the plan, and applies it if it is approved.
func (r *setRun) review(ctx context.Context, title string, plan planFunc) error {
	outcome, err := reviewIn(r.app.streams)(ctx, review.Options{
		Marks:    newMarkStore(r.app.getenv),
		Terminal: r.app.terminal(), Title: title, Resolve: plan,
		Recheck: func(ctx context.Context, _ *preview.Plan, progress func(string)) (*preview.Plan, error) {
			return plan(ctx, progress)
		},
	})
	switch {
	case err != nil:
		return err
	case outcome.Kind == review.Failed:
		return outcome.Err
	case outcome.Kind != review.Approved:
		return r.declineError(outcome, "Nothing was installed.", nil)
	}
	return r.apply(ctx, r.made[outcome.PlanDigest].Plan, record.Approval{
		Digest: outcome.PlanDigest, How: record.ApprovedOnScreen, By: localUser(), Ruleset: preview.Ruleset, Accepted: outcome.Accepted,
	})
}

func (r *setRun) apply(ctx context.Context, p *preview.Plan, approval record.Approval) error {
	printer, set := r.printer(), r.made[p.Digest]
	o := r.options(printer.event)
	o.Beside = set.Beside
	if set.Files != nil {
		files, err := set.Files()
		if err != nil {
			return r.reportFailure(err)
		}
		o.Files = files
	}
	file, err := r.receipt.Open(p.Digest)
	if err != nil {
		return r.reportFailure(err)
	}
	printer.plan(p)
	shutdown.NoteWrite(ctx)
	receipt, err := installed.Apply(ctx, p, approval, o)
	var kept *record.Receipt
	if receipt != nil {
		kept = receipt.Install()
	}
	_, err = file.End(kept, err)
	printer.setDone(p, receipt, err)
	return err
}

func (r *setRun) options(sink install.Sink) installed.Options {
	return installed.Options{
		Holder: r.holder(), Tool: r.app.version, Quorum: r.quorum, Sink: sink,
		Step: func(what string) { r.app.log.Debug("plugins", "step", what) },
	}
}

func (r *setRun) holder() string {
	host, _ := os.Hostname() // only words for a person
	return fmt.Sprintf("process %d of %s on %s", os.Getpid(), localUser(), host)
}

// localUser returns the name of the operating system user that runs this program.
func localUser() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return fmt.Sprintf("uid %d", os.Getuid())
}
