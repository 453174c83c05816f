package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/streams"
	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
	"github.com/kubectl-operator/kubectl-operator/tui"
	"github.com/kubectl-operator/kubectl-operator/tui/follow"
	"github.com/kubectl-operator/kubectl-operator/tui/frame"
	"github.com/kubectl-operator/kubectl-operator/tui/review"
	"github.com/kubectl-operator/kubectl-operator/tui/theme"
)

// screenFlag is the flag --tui of commands that show a plan and apply none.
type screenFlag struct{ on bool }

func (f *screenFlag) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.on, "tui", false, "show the review on the screen instead of printing it; nothing can be approved there")
}

// check returns an error for --tui together with flags about printing or
// judging the plan.
func (f *screenFlag) check(a *app, flags *pflag.FlagSet) error {
	if !f.on {
		return nil
	}
	for _, name := range []string{"output", "out", "report", "detailed-exitcode", "fail-on"} {
		if flags.Changed(name) {
			return usagef("--tui only shows the plan on the screen; leave out --tui or --%s", name)
		}
	}
	if flags.Changed("plain") {
		return usagef("--plain draws no screen; leave out --tui")
	}
	if !a.streams.CanDraw() {
		return fmt.Errorf("not a terminal: --tui draws on one; leave it out to print the review")
	}
	return nil
}

// browse shows a plan on the screen, where it cannot be approved, until the user quits.
func (a *app) browse(ctx context.Context, o review.Options) error {
	o.Terminal, o.Marks, o.ReadOnly = a.terminal(), newMarkStore(a.getenv), true
	outcome, err := tui.Review(ctx, o)
	if outcome.MarksErr != nil {
		a.log.Warn("marks were not kept", "error", outcome.MarksErr)
	}
	if err != nil {
		return err
	}
	return outcome.Err
}

// reviewIn returns the function that asks for approval: on the screen, or in
// lines of text.
func reviewIn(s *streams.Streams) func(context.Context, review.Options) (review.Outcome, error) {
	if s.Lines() {
		return tui.PlainReview
	}
	return tui.Review
}

// terminal returns the terminal for screens, with the same colours and characters as all
// output. Without a screen, its output is [streams.Streams.Human].
func (a *app) terminal() frame.Terminal {
	if a.streams.Lines() {
		return frame.Terminal{Input: a.streams.In, Output: a.streams.Human(), ASCII: a.streams.ASCII(), Width: a.streams.Width()}
	}
	return frame.Terminal{
		Input: a.streams.In, Output: os.Stdout, Color: a.streams.Color(), Scheme: theme.Scheme(a.global.scheme), ASCII: a.streams.ASCII(), NoMotion: a.global.noMotion,
		Pager: findPager(a.getenv),
	}
}

// findPager returns the command that shows a file: the one in PAGER, else one that most
// systems have. cat is not taken, because the screen would cover its output at once.
func findPager(getenv func(string) string) []string {
	if words := strings.Fields(getenv("PAGER")); len(words) > 0 && words[0] != "cat" {
		return words
	}
	for _, name := range []string{"less", "more"} {
		if path, err := exec.LookPath(name); err == nil {
			return []string{path}
		}
	}
	return nil
}

// review asks for approval on the screen, and applies the approved plan. If the
// apply changed nothing, the user can review again.
func (r *releaseRun) review(ctx context.Context, title string, plan planFunc) error {
	open := reviewIn(r.app.streams)
	options := review.Options{
		Terminal: r.app.terminal(), Marks: newMarkStore(r.app.getenv), Title: title, PriorAcceptance: r.session.priorAcceptance,
		Resolve: r.session.onScreen(func(ctx context.Context, progress func(string)) (*preview.Plan, error) {
			p, err := plan(ctx, progress)
			if err == nil {
				err = r.feasible(ctx, p)
			}
			return p, err
		}),
		Settle: r.session.Settle,
		Choose: r.session.chooser(),
		Recheck: func(ctx context.Context, p *preview.Plan, progress func(string)) (*preview.Plan, error) {
			if p.Against != nil { // OLM carries it out, and its objects are not read
				return plan(ctx, progress)
			}
			return r.session.Recheck(ctx, p, progress)
		},
		Watch: r.session.watch,
	}
	for {
		outcome, err := open(ctx, options)
		if outcome.MarksErr != nil {
			r.app.log.Warn("marks were not kept", "error", outcome.MarksErr)
		}
		switch {
		case err != nil:
			return err
		case outcome.Kind == review.Failed:
			return outcome.Err
		case outcome.Kind != review.Approved:
			return r.declineError(outcome, "Nothing was applied.", options.Refusal)
		}
		again, err := r.carryOut(ctx, outcome)
		if !again {
			return err
		}
		options.Before, options.Refusal = &outcome, err
	}
}

// chooser returns the function that chooses a setting in the review. A request file says
// itself what counts.
func (p *session) chooser() func([]string) {
	if len(p.requests.files) > 0 {
		return nil
	}
	return p.Choose
}

// feasible returns an error, before a review, for a plan that could not be
// applied even if it is approved.
func (r *releaseRun) feasible(ctx context.Context, p *preview.Plan) error {
	if err := r.health.match(p); err != nil {
		return err
	}
	if err := install.DeniedError(p); err != nil {
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

// watch watches the live objects of a plan until ctx ends, and calls moved for
// each one that changes, or that becomes again as it was when the plan was
// made. A plan made without a cluster has none, and one of an upgrade by OLM reads none.
func (p *session) watch(ctx context.Context, plan *preview.Plan, moved func(review.Drift)) error {
	if p.client == nil || plan.Against != nil {
		<-ctx.Done()
		return nil
	}
	drift, reported := engine.NewDrift(plan, p.typer()), map[string]string{}
	return p.client.Observe(ctx, drift.Refs(), func(ref preview.Ref, body map[string]any, err error) {
		if err != nil {
			return // not known: CONFIRM reads it again
		}
		id := ref.ID()
		if what := drift.Describe(ref, body); what != reported[id] {
			reported[id] = what
			moved(review.Drift{ID: id, What: what})
		}
	})
}

// carryOut applies the approved plan and shows its progress. If nothing was
// applied and the user wants to review once more, again is true, and the error
// says why nothing was applied.
func (r *releaseRun) carryOut(ctx context.Context, outcome review.Outcome) (again bool, err error) {
	p := outcome.Plan
	approval := record.Approval{
		Digest: outcome.PlanDigest, How: record.ApprovedOnScreen, By: p.Target.User,
		Ruleset: preview.Ruleset, Accepted: outcome.Accepted,
	}
	if r.session.via != "" {
		return false, r.installVia(ctx, p, approval)
	}
	cluster, err := r.session.writer(ctx)
	if err != nil {
		return false, err
	}
	file, err := r.receipt.Open(p.Digest)
	if err != nil {
		return false, err
	}
	apply := func(ctx context.Context, opts install.Options) (*record.Receipt, error) {
		return file.Apply(ctx, p, approval, cluster, opts)
	}
	f := &applyDisplay{releaseRun: r, plan: p, cluster: cluster, apply: apply}
	if r.app.streams.Lines() {
		return false, f.followLines(ctx)
	}
	return f.follow(ctx)
}

// applyDisplay shows the progress of an apply, on the screen or in lines. The
// screen does not run the apply: it can only ask it to stop or to wait longer.
type applyDisplay struct {
	*releaseRun
	plan    *preview.Plan
	cluster *k8s.Client
	apply   func(context.Context, install.Options) (*record.Receipt, error)
}

// applyResult is the receipt and the error of one run of an apply.
type applyResult struct {
	receipt *record.Receipt
	err     error
}

// follow applies a plan and shows its progress. If it times out, the user can
// wait longer, which resumes the plan with the same approval. review is true if
// nothing was applied and the user wants to review again.
func (f *applyDisplay) follow(ctx context.Context) (review bool, err error) {
	var before applyResult // of the run that is gone on with
	for {
		shown, end, err := f.once(ctx, before.receipt != nil)
		if before.receipt != nil && end.receipt == nil {
			end = applyResult{before.receipt, resumeError(end.err)}
		}
		if shown.Continue && ctx.Err() == nil {
			before = end
			continue
		}
		if shown.Review && ctx.Err() == nil {
			return true, end.err
		}
		f.app.streams.Printf("%s", follow.Summary(f.plan, shown, end.receipt, end.err))
		// How the apply ended is what the exit code says: a screen that a signal
		// ended, or that broke, takes back nothing.
		if err != nil && ctx.Err() == nil {
			f.app.streams.Errorf("the screen ended early: %s\n", textsafe.Line(err.Error()))
		}
		return false, end.err
	}
}

// resumeError returns the error of a run that could not resume an earlier one. Its
// kind is [install.Interrupted], because the earlier run has changed the cluster.
func resumeError(err error) error {
	if err == nil {
		return nil
	}
	return &install.Error{
		Kind: install.Interrupted, Operation: "resuming the apply", Cause: err.Error(),
		Advice: "what was applied before stays as it is", Err: err,
	}
}

// once runs the apply once, on one screen. resumes says that it resumes an
// earlier run. When the screen is closed, further events are dropped.
func (f *applyDisplay) once(ctx context.Context, resumes bool) (follow.Outcome, applyResult, error) {
	applying, stopNow := context.WithCancel(ctx)
	defer stopNow()
	stop, left := make(chan struct{}), make(chan struct{})
	events, waits, more := make(chan install.Event, 1024), make(chan install.WaitState, 16), make(chan time.Duration, 1)
	opts := f.optionsFor(f.plan, func(e install.Event) {
		select {
		case events <- e:
		case <-left:
		}
	})
	opts.Waiting = func(w install.WaitState) {
		select {
		case waits <- w:
		case <-left:
		}
	}
	opts.Stop, opts.More = stop, more
	var end applyResult
	applied := tasks.Async(func() (err error) {
		defer close(waits)
		defer close(events)
		end.receipt, err = f.apply(applying, opts)
		return err
	})
	askToStop := sync.OnceFunc(func() { close(stop) })
	shown, err := tui.Follow(ctx, follow.Options{
		Terminal: f.app.terminal(), Plan: f.plan, Events: events, Waits: waits,
		Limit: f.rollout.rolloutTimeout, Resumable: true, Resumes: resumes, Reviewable: !resumes,
		ReadEvents: func(ctx context.Context, object preview.Ref) (rollout.Diagnostics, error) {
			return rollout.Events(ctx, f.cluster, f.cluster, object)
		},
		ReadLogs: func(ctx context.Context, object preview.Ref) (rollout.Diagnostics, error) {
			return rollout.Logs(ctx, f.cluster, f.cluster, object)
		},
		Extend: func(d time.Duration) {
			select {
			case more <- d:
			default: // asked for already
			}
		},
		Interrupt: func(i follow.Interrupt) {
			switch i {
			case follow.StopNow:
				stopNow()
			case follow.StopAfterObject, follow.Detach:
				askToStop()
			}
		},
	})
	close(left)
	if err != nil {
		stopNow() // a screen that broke approves nothing more
	}
	end.err = <-applied
	return shown, end, err
}

const (
	// maxBehind is how many objects are diagnosed after an apply that did not succeed.
	maxBehind = 5
	// behindTime is the time limit for reading the events and logs of all of them.
	behindTime = 20 * time.Second
)

// followLines is follow without a screen: it prints a line for each change,
// then the causes of unhealthy objects, and after a timeout asks whether to
// wait longer. The end of the input counts as no.
func (f *applyDisplay) followLines(ctx context.Context) error {
	var before applyResult // of the run that is gone on with
	for {
		printer := f.printer()
		end := applyResult{}
		printer.printWhile(ctx, f.plan, func() { end.receipt, end.err = f.apply(ctx, f.optionsFor(f.plan, printer.event)) })
		if before.receipt != nil && end.receipt == nil {
			end = applyResult{before.receipt, resumeError(end.err)}
		}
		if end.err != nil && end.receipt != nil && ctx.Err() == nil {
			f.printDiagnostics(ctx, end.receipt)
		}
		if canResume(end) && f.wantsMore(ctx, end) {
			before = end
			continue
		}
		printer.printDone(f.plan, end.receipt, end.err)
		return end.err
	}
}

// canResume reports whether an apply timed out and was not rolled back, so that
// it can be resumed.
func canResume(end applyResult) bool {
	e, ok := errors.AsType[*install.Error](end.err)
	return ok && e.TimedOut() && e.Kind == install.Interrupted && end.receipt != nil && end.receipt.Undo == nil
}

// wantsMore asks the user whether to wait longer.
func (f *applyDisplay) wantsMore(ctx context.Context, end applyResult) bool {
	more := f.rollout.rolloutTimeout
	if more <= 0 {
		more = install.DefaultRolloutTimeout
	}
	f.app.streams.Printf("TIMED OUT: %s not ready. The cluster keeps trying meanwhile.\n", preview.Plural(len(unhealthyObjects(end.receipt)), "object"))
	prompter := frame.NewPrompter(f.app.streams.In, f.app.streams.Human())
	for {
		answer, ok, err := prompter.Ask(ctx, fmt.Sprintf("r wait %s more, q quit: ", more))
		if err != nil || !ok {
			return false
		}
		switch strings.TrimSpace(answer) {
		case "r":
			return true
		case "q":
			return false
		}
		f.app.streams.Printf("There is no such choice.\n")
	}
}

// unhealthyObjects returns the objects of a receipt that failed or are not
// ready, failed ones first.
func unhealthyObjects(r *record.Receipt) []record.ObjectReceipt {
	var failed, waiting []record.ObjectReceipt
	for _, o := range r.Objects {
		switch o.State {
		case record.StateFailed, record.StateDiverged:
			failed = append(failed, o)
		case record.StateWaiting, record.StateRemoving, record.StateSent:
			waiting = append(waiting, o)
		}
	}
	return slices.Concat(failed, waiting)
}

// printDiagnostics prints the last events and pod logs of each unhealthy object.
func (f *applyDisplay) printDiagnostics(ctx context.Context, r *record.Receipt) {
	ctx, cancel := context.WithTimeout(ctx, behindTime)
	defer cancel()
	list := unhealthyObjects(r)
	for i, o := range list {
		if i == maxBehind {
			f.app.streams.Printf("… and %d more that are not ready\n", len(list)-i)
			return
		}
		f.app.streams.Printf("%-9s %s  %s\n", o.State, textsafe.Line(o.ID), textsafe.Line(o.Message))
		object := f.plan.Object(o.ID)
		if object == nil {
			continue
		}
		ref := object.Ref()
		events, err := rollout.Events(ctx, f.cluster, f.cluster, ref)
		logs, logErr := rollout.Logs(ctx, f.cluster, f.cluster, ref)
		for _, line := range follow.DiagnosticLines(ref, events, logs, time.Local) {
			f.app.streams.Printf("%s\n", textsafe.Line(line))
		}
		if err := errors.Join(err, logErr); err != nil {
			f.app.streams.Printf("  reading what happened to it: %s\n", textsafe.Line(err.Error()))
		}
	}
}
