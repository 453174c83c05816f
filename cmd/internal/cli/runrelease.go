package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/atomicfile"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/resuming"
	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/report"
	"github.com/kubectl-operator/kubectl-operator/preview/source/diskcache"
)

// releaseRun is the run of a command on a release: install, upgrade, rollback
// and uninstall.
type releaseRun struct {
	*runner
	rollout rolloutFlags
	health  healthFlags
}

func newReleaseRun(s *session) *releaseRun {
	r := &releaseRun{runner: &runner{app: s.app, session: s, instead: `"preview -o markdown", then "install --yes --approve sha256:..."`}}
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
	return r.app.print(ctx, p, r.session.reportOptions(ctx, r.output.format, nil))
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

// runPlanFile applies a saved plan. If the command names a release, it must be
// the plan's. The plan's action must be that of the command, where install and
// upgrade count as the same.
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
	receipt, err := file.Apply(ctx, p, approval, cluster, r.options(printer.event))
	printer.printDone(p, receipt, err)
	if err == nil && approval.How == record.ApprovedByPlan {
		r.noteApplied(p)
	}
	return err
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

// The bounds of the list of applied plans. What is older is forgotten.
const (
	maxAppliedBytes = 1 << 20
	keptApplied     = 4096
)

// appliedPlans lists the saved plans that this machine has applied, by digest and
// cluster, in the user's state directory. Normally the record in the cluster keeps
// a plan from being applied twice. If the record was deleted and the cluster is
// again as it was reviewed, a deploy job with an old plan file would restore what
// was removed, with approvals that are still valid: this list refuses that. On
// other machines only the expiry in the plan (--expires) does.
type appliedPlans struct{ path string }

// newAppliedPlans returns the list of this user: the file applied-plans in
// [source.StateDir].
func newAppliedPlans(getenv func(string) string) (appliedPlans, error) {
	dir, err := diskcache.StateDir(getenv)
	if err != nil {
		return appliedPlans{}, err
	}
	return appliedPlans{filepath.Join(dir, "applied-plans")}, nil
}

// appliedAt returns when a plan was applied on this machine, empty if the list
// does not have it or cannot be read.
func (l appliedPlans) appliedAt(p *preview.Plan) string {
	lines, err := l.read()
	if err != nil {
		return ""
	}
	for _, line := range slices.Backward(lines) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == p.Digest && fields[1] == p.Target.Identity {
			if at, err := time.Parse(time.RFC3339, fields[2]); err == nil {
				return at.UTC().Format(time.RFC3339)
			}
		}
	}
	return ""
}

func (l appliedPlans) read() ([]string, error) {
	if info, err := os.Lstat(l.path); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, os.ErrInvalid)
	}
	file, err := os.Open(l.path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxAppliedBytes))
	if err != nil {
		return nil, err
	}
	return strings.Split(string(bytes.TrimSpace(data)), "\n"), nil
}

// add adds a plan that was applied at a time to the list.
func (l appliedPlans) add(p *preview.Plan, at time.Time) error {
	if err := os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
		return err
	}
	lines, err := l.read()
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	lines = lines[max(0, len(lines)-keptApplied+1):]
	lines = append(lines, fmt.Sprintf("%s %s %s", p.Digest, p.Target.Identity, at.UTC().Format(time.RFC3339)))
	return atomicfile.Write(l.path, []byte(strings.TrimSpace(strings.Join(lines, "\n"))+"\n"), 0o600)
}

// refuseApplied refuses a saved plan that this machine has applied if the cluster
// has no record of it. If the cluster has one, that record decides: the run is
// resumed, or refused as applied.
func (r *releaseRun) refuseApplied(ctx context.Context, p *preview.Plan) error {
	list, err := newAppliedPlans(r.app.getenv)
	if err != nil {
		return nil // no home, no list
	}
	when := list.appliedAt(p)
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
		err = list.add(p, time.Now())
	}
	if err != nil {
		fmt.Fprintf(r.app.streams.HumanErr(), "this machine could not record that the plan was applied: %v; only its record in the cluster keeps it from being applied again\n", err)
	}
}
