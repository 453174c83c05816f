package cli

import (
	"context"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/tui/review"
)

// review asks on the screen and applies what was approved there. Where
// nothing of that was applied, it can be reviewed again.
func (r *releaseRun) review(ctx context.Context, title string, plan makePlan) error {
	open := r.app.reviews()
	options := review.Options{
		Terminal: r.app.terminal(), Title: title, Earlier: r.session.earlier,
		Resolve: func(ctx context.Context, progress func(string)) (*preview.Plan, error) {
			p, err := plan(ctx, progress)
			if err == nil {
				err = r.feasible(ctx, p)
			}
			return p, err
		},
		Recheck: r.session.Recheck,
		Watch:   r.session.watch,
	}
	for {
		outcome, err := open(ctx, options)
		switch {
		case err != nil:
			return err
		case outcome.Kind == review.Failed:
			return outcome.Err
		case outcome.Kind != review.Approved:
			return r.declined(outcome, "Nothing was applied.", options.Refusal)
		}
		again, err := r.carryOut(ctx, outcome)
		if !again {
			return err
		}
		options.Before, options.Refusal = &outcome, err
	}
}

// feasible ends an interactive review before it begins where no answer could
// lead to an apply.
func (r *releaseRun) feasible(ctx context.Context, p *preview.Plan) error {
	if err := r.health.match(p); err != nil {
		return err
	}
	if err := install.Barred(p); err != nil {
		return err
	}
	if p.Request.Action != preview.RequestUninstall {
		return nil
	}
	counts, err := install.LeftOperands(ctx, r.session.client, p)
	if err != nil {
		return err
	}
	return install.RefuseOperands(p.Release, counts)
}

// watch follows what a plan rests on, object by object, until ctx ends, and
// tells what moved or is as it was again. A plan without a cluster rests on
// none.
func (p *session) watch(ctx context.Context, plan *preview.Plan, moved func(review.Drift)) error {
	if p.client == nil {
		<-ctx.Done()
		return nil
	}
	drift, told := engine.NewDrift(plan, p.typer()), map[string]string{}
	return p.client.Observe(ctx, drift.Refs(), func(ref preview.Ref, body map[string]any, err error) {
		if err != nil {
			return // not known: CONFIRM reads it again
		}
		id := ref.ID()
		if what := drift.Of(ref, body); what != told[id] {
			told[id] = what
			moved(review.Drift{ID: id, What: what})
		}
	})
}

// carryOut applies what was approved, and shows it as it was reviewed. again says
// that nothing was applied, for the reason returned, and that the person wants to
// review it once more.
func (r *releaseRun) carryOut(ctx context.Context, outcome review.Outcome) (again bool, err error) {
	p := outcome.Plan
	cluster, err := r.session.writer(ctx)
	if err != nil {
		return false, err
	}
	approval := record.Approval{
		Digest: outcome.PlanDigest, How: record.ApprovedOnScreen, By: p.Target.User,
		Ruleset: preview.Ruleset, Accepted: outcome.Accepted,
	}
	file, err := r.receipt.open(p.Digest)
	if err != nil {
		return false, err
	}
	apply := func(ctx context.Context, opts install.Options) (*record.Receipt, error) {
		return file.apply(ctx, p, approval, cluster, opts)
	}
	f := &followedApply{releaseRun: r, plan: p, cluster: cluster, apply: apply}
	if r.app.streams.Lines() {
		return false, f.followLines(ctx)
	}
	return f.follow(ctx)
}
