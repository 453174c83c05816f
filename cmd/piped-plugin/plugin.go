package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	sdk "github.com/pipe-cd/piped-plugin-sdk-go"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/pipecd"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// plugin implements what piped asks of a plugin. It keeps nothing between two calls but
// who is at work: a stage's data for the next one is in the deployment's metadata, and
// the release's record names the written objects.
type plugin struct {
	version string
	targets map[string]*deployTarget // by name, of piped's configuration
	busy    *keyedLocks
}

func newPlugin(version string) *plugin {
	return &plugin{version: version, busy: newKeyedLocks()}
}

// Initialize notes the deploy targets, which piped does not name where it asks for
// versions and strategies. It gives back what starting took, as after each longer call:
// the plugin waits most of its life.
func (p *plugin) Initialize(_ context.Context, in *sdk.InitializeInput[pluginConfig, targetConfig]) error { //nolint:unparam // the SDK asks for an error
	p.targets = in.DeployTargets
	giveBack()
	return nil
}

// FetchDefinedStages returns the names of the stages.
func (p *plugin) FetchDefinedStages() []string { return pipecd.OwnStages() }

// BuildPipelineSyncStages returns the stages of an application's pipeline, and the one
// that takes them back where something is applied.
func (p *plugin) BuildPipelineSyncStages(_ context.Context, _ *pluginConfig, in *sdk.BuildPipelineSyncStagesInput) (*sdk.BuildPipelineSyncStagesResponse, error) {
	out := &sdk.BuildPipelineSyncStagesResponse{}
	for _, stage := range in.Request.Stages {
		built := sdk.PipelineStage{Index: stage.Index, Name: stage.Name}
		switch stage.Name {
		case pipecd.StageWaitApproval:
			config, err := readApproval(stage.Config)
			if err != nil {
				return nil, err
			}
			built.AvailableOperation, built.AuthorizedOperators = sdk.ManualOperationApprove, config.Approvers
		case pipecd.StagePlan:
			if _, err := readPlan(stage.Config); err != nil {
				return nil, err
			}
		case pipecd.StageRollback:
			return nil, fmt.Errorf("%s is added by the plugin itself; take it out of the pipeline", stage.Name)
		default:
			if err := strict(stage.Config, &struct{}{}); err != nil {
				return nil, fmt.Errorf("the field with of the stage %s: %w", textsafe.Line(stage.Name), err)
			}
		}
		out.Stages = append(out.Stages, built)
	}
	applies := slices.ContainsFunc(out.Stages, func(s sdk.PipelineStage) bool { return s.Name == pipecd.StageApply })
	if in.Request.Rollback && applies {
		first := slices.MinFunc(out.Stages, func(a, b sdk.PipelineStage) int { return cmp.Compare(a.Index, b.Index) })
		out.Stages = append(out.Stages, sdk.PipelineStage{Index: first.Index, Name: pipecd.StageRollback, Rollback: true})
	}
	return out, nil
}

// BuildQuickSyncStages returns the stages of a deployment without a pipeline: they
// refuse a plan that needs an approval.
func (p *plugin) BuildQuickSyncStages(_ context.Context, _ *pluginConfig, in *sdk.BuildQuickSyncStagesInput) (*sdk.BuildQuickSyncStagesResponse, error) {
	out := &sdk.BuildQuickSyncStagesResponse{Stages: []sdk.QuickSyncStage{
		{Name: pipecd.StagePlan, Description: "Plan exactly what would be applied"},
		{Name: pipecd.StageApply, Description: "Apply exactly what was planned"},
	}}
	if in.Request.Rollback {
		out.Stages = append(out.Stages, sdk.QuickSyncStage{Name: pipecd.StageRollback, Description: "Take back what was applied", Rollback: true})
	}
	return out, nil
}

// offline plans a source without a cluster, for what follows from the content alone. piped
// names no deploy target where it asks for that.
func (p *plugin) offline(ctx context.Context, from source) (*preview.Plan, error) {
	names := slices.Sorted(maps.Keys(p.targets))
	return p.offlineAt(ctx, p.targets[names[0]], from)
}

// offlineAt plans a source for a deploy target, whose namespace its release may have.
func (p *plugin) offlineAt(ctx context.Context, target *deployTarget, from source) (*preview.Plan, error) {
	s, err := p.newSession(target)
	if err != nil {
		return nil, err
	}
	s.Read.Offline, s.LooksOnly = true, true
	return s.planOf(ctx, from, nil)
}

// DetermineVersions returns the packages of the plan.
func (p *plugin) DetermineVersions(ctx context.Context, _ *pluginConfig, in *sdk.DetermineVersionsInput[applicationSpec]) (*sdk.DetermineVersionsResponse, error) {
	plan, err := p.offline(ctx, in.Request.DeploymentSource)
	if err != nil {
		return nil, err
	}
	out := &sdk.DetermineVersionsResponse{}
	for i := range plan.Packages {
		pkg := &plan.Packages[i]
		v := sdk.ArtifactVersion{Name: textsafe.Line(pkg.Name), Version: textsafe.Line(pkg.Version)}
		if len(pkg.Sources) > 0 {
			v.URL = textsafe.Line(pkg.Sources[0].Reference)
			v.Version = cmp.Or(v.Version, pkg.Sources[0].Digest)
		}
		out.Versions = append(out.Versions, v)
	}
	return out, nil
}

// DetermineStrategy compares the content of the two sources: without a change there is
// nothing to review, and quick sync brings back what has drifted.
func (p *plugin) DetermineStrategy(ctx context.Context, _ *pluginConfig, in *sdk.DetermineStrategyInput[applicationSpec]) (*sdk.DetermineStrategyResponse, error) {
	target, err := p.offline(ctx, in.Request.TargetDeploymentSource)
	if err != nil {
		return nil, err
	}
	running, err := p.offline(ctx, in.Request.RunningDeploymentSource)
	switch {
	case err != nil:
		return &sdk.DetermineStrategyResponse{Strategy: sdk.SyncStrategyPipelineSync, Summary: "Pipeline: what runs cannot be planned any more to compare with"}, nil
	case running.ContentDigest == target.ContentDigest && running.Release == target.Release:
		return &sdk.DetermineStrategyResponse{Strategy: sdk.SyncStrategyQuickSync, Summary: "Quick sync: the content is " + target.ContentDigest + " as before"}, nil
	}
	return &sdk.DetermineStrategyResponse{Strategy: sdk.SyncStrategyPipelineSync, Summary: fmt.Sprintf("Pipeline: the content changes from %s to %s", running.ContentDigest, target.ContentDigest)}, nil
}
