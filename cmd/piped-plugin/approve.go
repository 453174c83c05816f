package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	sdk "github.com/pipe-cd/piped-plugin-sdk-go"

	"github.com/kubectl-operator/kubectl-operator/preview/approval"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// lookAgain is the time between two looks for approvals.
const lookAgain = 2 * time.Second

// waitApproval waits for what approves the plans: signed approvals of their digests where
// the configuration of the plugin requires some, else piped's own users.
func (r *stageRun) waitApproval(ctx context.Context, targets []*deployTarget) error {
	all := map[string]notes{}
	for _, target := range targets {
		noted, err := readNotes(ctx, r.in.Client, target.Name)
		if err != nil {
			return err
		}
		if noted.Digest == "" {
			return errNoPlan
		}
		all[target.Name] = noted
		r.log.infof("%s: an approval of %s is waited for", target.Name, noted.Digest)
	}
	giveBack() // an approval may take days
	if r.config.RequireApprovals > 0 {
		for _, target := range targets {
			if err := r.waitSigned(ctx, target, all[target.Name]); err != nil {
				return err
			}
		}
		return nil
	}
	by, err := r.waitPiped(ctx)
	if err != nil {
		return err
	}
	for name, noted := range all {
		noted.Approved, noted.By = noted.Digest, by
		if err := noted.put(ctx, r.in.Client, name); err != nil {
			return err
		}
	}
	r.log.successf("approved by %s", by)
	return r.in.Client.PutStageMetadata(ctx, sdk.MetadataKeyStageApprovedUsers, by)
}

// waitPiped waits until as many of piped's users as are needed have approved the stage,
// and returns their names.
func (r *stageRun) waitPiped(ctx context.Context) (string, error) {
	config, err := readApproval(r.in.Request.StageConfig)
	if err != nil {
		return "", err
	}
	var by []string
	for command, err := range r.in.Client.ListStageCommands(ctx, sdk.CommandTypeApproveStage) {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if err != nil {
			r.log.infof("piped does not say who approved: %s", err)
			if err := pause(ctx); err != nil { // the iterator asks again at once
				return "", err
			}
			continue
		}
		name := textsafe.Line(command.Commander)
		switch {
		case len(config.Approvers) > 0 && !slices.Contains(config.Approvers, command.Commander):
			r.log.infof("%s is none of the approvers", name)
		case !slices.Contains(by, name):
			by = append(by, name)
			r.log.infof("%s approves: %d of %d", name, len(by), config.MinApproverNum)
		}
		if len(by) >= config.MinApproverNum {
			return strings.Join(by, ","), nil
		}
	}
	return "", errors.New("piped says nothing more")
}

// waitSigned waits until enough valid signed approvals lie next to the plan of a target.
func (r *stageRun) waitSigned(ctx context.Context, target *deployTarget, noted notes) error {
	s, err := r.newSession(target)
	if err != nil {
		return err
	}
	saved, err := r.saved(ctx, s, noted)
	if err != nil {
		return err
	}
	client, err := s.connect(ctx)
	if err != nil {
		return err
	}
	who, err := client.Target(ctx)
	if err != nil {
		return err
	}
	last := ""
	for {
		quorum, err := s.Saved().Quorum(ctx, saved, r.config.RequireApprovals, r.config.Approvers)
		if err != nil {
			return err
		}
		signed, _, err := quorum.Check(saved.Plan, []string{who.User}, time.Now())
		if err == nil {
			for _, one := range signed {
				r.log.successf("%s: signed by %s", target.Name, one.Approver)
			}
			return nil
		}
		var missing *approval.QuorumError
		if !errors.As(err, &missing) {
			return err
		}
		if text := err.Error(); text != last {
			r.log.infof("%s: %s", target.Name, text)
			last = text
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// pause waits until it is time to look again.
func pause(ctx context.Context) error {
	timer := time.NewTimer(lookAgain)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
