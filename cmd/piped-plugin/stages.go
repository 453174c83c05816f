package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	sdk "github.com/pipe-cd/piped-plugin-sdk-go"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/approval"
	"github.com/kubectl-operator/kubectl-operator/preview/commandline"
	"github.com/kubectl-operator/kubectl-operator/preview/pipecd"
	"github.com/kubectl-operator/kubectl-operator/preview/planfile"
	"github.com/kubectl-operator/kubectl-operator/preview/report"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// stageRun is one call for one stage.
type stageRun struct {
	*plugin
	config *pluginConfig
	in     *stageInput
	log    *stageLog
	// changes counts the deploy targets where an apply would change something.
	changes int
}

// ExecuteStage runs a stage, for one deploy target after the other. Asked again, also
// after piped or the plugin was killed, it goes on where the cluster is.
func (p *plugin) ExecuteStage(ctx context.Context, config *pluginConfig, targets []*deployTarget, in *stageInput) (*sdk.ExecuteStageResponse, error) {
	persister, err := in.Client.StageLogPersister()
	if err != nil {
		return nil, err
	}
	defer giveBack()
	run := &stageRun{plugin: p, config: config, in: in, log: newStageLog(persister)}
	err = run.stage(ctx, targets)
	exits := false
	if err == nil {
		exits, err = run.exits()
	}
	switch {
	case err != nil:
		run.log.errorf("%s", err)
		return &sdk.ExecuteStageResponse{Status: sdk.StageStatusFailure}, nil
	case exits:
		return &sdk.ExecuteStageResponse{Status: sdk.StageStatusExited}, nil
	}
	return &sdk.ExecuteStageResponse{Status: sdk.StageStatusSuccess}, nil
}

// applied reports whether the newest revision is of the sources of a plan, and as it was
// wanted: else an apply would write at least its record.
func applied(stored *record.Record, plan *preview.Plan) bool {
	return stored != nil && stored.State == record.Applied && slices.Equal(sourcesOf(stored.Packages), sourcesOf(plan.Packages))
}

// exits reports whether the stage ends the deployment: nothing would change, and that is
// what it is to do then.
func (r *stageRun) exits() (bool, error) {
	if r.in.Request.StageName != pipecd.StagePlan {
		return false, nil
	}
	config, err := readPlan(r.in.Request.StageConfig)
	if err != nil || !config.ExitOnNoChanges || r.changes > 0 {
		return false, err
	}
	r.log.successf("nothing would change, and the deployment ends here (exitOnNoChanges)")
	return true, nil
}

func (r *stageRun) stage(ctx context.Context, targets []*deployTarget) error {
	var each func(context.Context, *session, notes) error
	switch name := r.in.Request.StageName; name {
	case pipecd.StagePlan:
		each = r.plan
	case pipecd.StageWaitApproval:
		return r.waitApproval(ctx, targets)
	case pipecd.StageApply:
		each = r.apply
	case pipecd.StageRollback:
		each = r.rollback
	default:
		return fmt.Errorf("%s is not a stage of this plugin", textsafe.Line(name))
	}
	for _, target := range targets {
		end, err := r.busy.take(ctx, r.in.Request.Deployment.ApplicationID+" "+target.Name)
		if err != nil {
			return err
		}
		err = r.at(ctx, target, each)
		end()
		if err != nil {
			return fmt.Errorf("deploy target %s: %w", target.Name, err)
		}
	}
	return nil
}

// at calls a stage for one deploy target.
func (r *stageRun) at(ctx context.Context, target *deployTarget, each func(context.Context, *session, notes) error) error {
	s, err := r.newSession(target)
	if err != nil {
		return err
	}
	noted, err := readNotes(ctx, r.in.Client, target.Name)
	if err != nil {
		return err
	}
	return each(ctx, s, noted)
}

// plan makes the plan, logs it, and notes its digest for the stages that follow.
func (r *stageRun) plan(ctx context.Context, s *session, before notes) error {
	plan, err := s.planOf(ctx, r.in.Request.TargetDeploymentSource, func(text string) { r.log.infof("%s", text) })
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := report.Write(&text, plan, report.Options{Format: report.Text, Width: 120}); err != nil {
		return err
	}
	r.log.infof("%s", text.String())
	noted := notesOf(plan)
	stored, err := r.newest(ctx, s, noted)
	if err != nil {
		return err
	}
	if plan.Changes() || !applied(stored, plan) {
		r.changes++
	}
	if before.Digest == noted.Digest {
		noted.Approved, noted.By = before.Approved, before.By
	}
	if noted.Kept, err = r.keep(ctx, s, before, plan); err != nil {
		return err
	}
	if r.config.RequireApprovals > 0 {
		if noted.Saved, err = r.save(ctx, s, plan, planning.SaveOptions{To: r.placeOf(r.config.Plans, s.target, plan)}); err != nil {
			return err
		}
		r.log.infof("%d signed approvals are needed: kubectl operator approve %s", r.config.RequireApprovals, commandline.Join(noted.Saved))
	}
	if err := noted.put(ctx, r.in.Client, s.target); err != nil {
		return err
	}
	r.log.successf("%s: %s", plan.Digest, plan.Verdict.Sentence)
	return r.in.Client.PutStageMetadata(ctx, sdk.MetadataKeyStageDisplay, textsafe.Line(plan.Verdict.Sentence))
}

// save saves a plan and returns where. One that is there already is the same, as its name
// has the digest.
func (r *stageRun) save(ctx context.Context, s *session, plan *preview.Plan, o planning.SaveOptions) (string, error) {
	err := s.Saved().Save(ctx, plan, o)
	if _, exists := errors.AsType[*planfile.ExistsError](err); exists {
		return o.To, nil
	}
	if err != nil {
		return "", err
	}
	return plan.SavedAs, nil
}

// placeOf returns where the plan of a deploy target is saved: below a directory, or in a
// repository of a registry.
func (r *stageRun) placeOf(in, target string, plan *preview.Plan) string {
	name := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' {
			return c
		}
		return '-'
	}, r.in.Request.Deployment.ID+"-"+target+"-"+strings.TrimPrefix(plan.Digest, "sha256:"))
	if strings.HasPrefix(in, planning.RegistryPrefix) {
		return in + ":" + name[max(0, len(name)-128):] // the longest tag
	}
	return filepath.Join(in, name[max(0, len(name)-200):]+".tgz")
}

var errNoPlan = errors.New("there is no plan to go by; the stage " + pipecd.StagePlan + " comes before this one")

// apply applies the plan that was noted, and no other. An applied plan is done; a begun
// one goes on.
func (r *stageRun) apply(ctx context.Context, s *session, noted notes) error {
	if noted.Digest == "" {
		return errNoPlan
	}
	stored, err := r.newest(ctx, s, noted)
	if err != nil {
		return err
	}
	if stored != nil && stored.Digest == noted.Digest && stored.State == record.Applied {
		noted.dropKept()
		r.log.successf("%s was applied already, as revision %d", noted.Digest, stored.Revision)
		return nil
	}
	plan, how, err := r.planned(ctx, s, noted)
	if err != nil {
		return err
	}
	if stored != nil && stored.Digest == noted.Digest && stored.State.Unfinished() {
		r.log.infof("going on with the interrupted run of %s", noted.Digest)
	}
	approved := record.Approval{Digest: noted.Digest, How: record.ApprovedByYes, By: "piped"}
	if noted.Approved == noted.Digest {
		approved.How, approved.By, approved.Ruleset = how, noted.By, noted.Ruleset
	}
	quorum, err := r.quorum(ctx, s, noted)
	if err != nil {
		return err
	}
	if quorum != nil {
		approved.How = record.ApprovedByPlan
	}
	if err := s.apply(ctx, plan, approved, quorum, r.log); err != nil {
		return err
	}
	noted.dropKept() // nothing needs it any more
	r.log.successf("applied %s", noted.Digest)
	return nil
}

// planned returns the plan that was noted, and how an approval of it counts: the one that
// was kept, else one that is made again, as after piped moved to another machine.
func (r *stageRun) planned(ctx context.Context, s *session, noted notes) (*preview.Plan, string, error) {
	kept, err := s.Saved().Load(ctx, noted.Kept, planfile.Keys{})
	switch {
	case err == nil && kept.Digest != noted.Digest:
		return nil, "", planning.Refuse("the plan "+noted.Kept+" is not the one that was planned", "deploy again")
	case err == nil:
		target, err := s.client.Target(ctx)
		if err == nil && target.Identity != kept.Target.Identity {
			err = planning.Refuse(fmt.Sprintf("the plan is for the cluster %s, and this is %s", kept.Target.Identity, target.Identity), "deploy again")
		}
		kept.Target = target
		return kept.Plan, record.ApprovedByPlan, err
	case !errors.Is(err, fs.ErrNotExist):
		return nil, "", err
	}
	s.Approved = noted.Digest
	fresh, err := s.planOf(ctx, r.in.Request.TargetDeploymentSource, nil)
	if err != nil {
		return nil, "", err
	}
	plan, err := r.resumed(ctx, s, fresh, noted.Digest)
	return plan, record.ApprovedByDigest, err
}

// resumed returns the plan that goes on with an interrupted run of the digest, else the
// fresh one.
func (r *stageRun) resumed(ctx context.Context, s *session, fresh *preview.Plan, digest string) (*preview.Plan, error) {
	if fresh.Digest == digest {
		return fresh, nil
	}
	plan, err := s.interrupted().Plan(ctx, fresh, digest)
	if err != nil || plan == nil {
		return fresh, err
	}
	return plan, nil
}

// newest returns the newest record of the release that was planned, nil if there is none.
func (r *stageRun) newest(ctx context.Context, s *session, noted notes) (*record.Record, error) {
	client, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	s.namespace = noted.Release.Namespace
	stored, err := record.Load(ctx, client, noted.Release)
	return s.Verified(ctx, stored, err)
}

// quorum returns the signed approvals of the plan that was saved, nil where none are
// required.
func (r *stageRun) quorum(ctx context.Context, s *session, noted notes) (*approval.Quorum, error) {
	if r.config.RequireApprovals == 0 {
		return nil, nil
	}
	saved, err := r.saved(ctx, s, noted)
	if err != nil {
		return nil, err
	}
	return s.Saved().Quorum(ctx, saved, r.config.RequireApprovals, r.config.Approvers)
}

// saved reads the plan that was saved to be signed.
func (r *stageRun) saved(ctx context.Context, s *session, noted notes) (*planning.SavedPlan, error) {
	if noted.Saved == "" {
		return nil, errNoPlan
	}
	saved, err := s.Saved().Load(ctx, noted.Saved, planfile.Keys{})
	if err == nil && saved.Digest != noted.Digest {
		return nil, planning.Refuse("the plan "+noted.Saved+" is not the one that was planned", "deploy again")
	}
	return saved, err
}

// rollback takes back what the deployment applied: it goes back to the revision that was
// there before, or removes what the first revision made. The work of an earlier call
// goes on.
func (r *stageRun) rollback(ctx context.Context, s *session, noted notes) error {
	if noted.Digest == "" {
		r.log.successf("nothing was planned, so there is nothing to take back")
		return nil
	}
	defer noted.dropKept() // the deployment has ended
	stored, err := r.newest(ctx, s, noted)
	switch {
	case err != nil:
		return err
	case stored == nil || stored.Digest != noted.Digest && (noted.Undo == "" || stored.Digest != noted.Undo):
		r.log.successf("nothing of %s was applied, so there is nothing to take back", noted.Digest)
		return nil
	case stored.Digest == noted.Undo && !stored.State.Unfinished():
		r.log.successf("it was taken back already, as revision %d", stored.Revision)
		return nil
	}
	s.Approved = noted.Undo
	var plan *preview.Plan
	if noted.Base == 0 {
		plan, err = s.Uninstall(ctx, noted.Release.Name, planning.Removal{})
	} else {
		plan, err = s.Rollback(ctx, noted.Release.Name, noted.Base)
	}
	if err != nil {
		return err
	}
	if noted.Undo != "" && stored.Digest == noted.Undo {
		if plan, err = r.resumed(ctx, s, plan, noted.Undo); err != nil {
			return err
		}
	} else {
		noted.Undo = plan.Digest
		if err := noted.put(ctx, r.in.Client, s.target); err != nil {
			return err
		}
	}
	// The restored revision was approved when it was applied.
	approved := record.Approval{Digest: noted.Undo, How: record.ApprovedByDigest, By: "piped", Ruleset: preview.Ruleset}
	if err := s.apply(ctx, plan, approved, nil, r.log); err != nil {
		return err
	}
	r.log.successf("taken back: %s", plan.Verdict.Sentence)
	return nil
}
