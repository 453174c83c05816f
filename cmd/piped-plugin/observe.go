package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/pipe-cd/piped-plugin-sdk-go"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/install/rollout"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/reads"
	"github.com/kubectl-operator/kubectl-operator/preview/report"
	"github.com/kubectl-operator/kubectl-operator/preview/textsafe"
)

// GetPlanPreview returns the plan for each deploy target as Markdown. Nothing is written.
func (p *plugin) GetPlanPreview(ctx context.Context, _ *pluginConfig, targets []*deployTarget, in *sdk.GetPlanPreviewInput[applicationSpec]) (*sdk.GetPlanPreviewResponse, error) {
	defer giveBack()
	out := &sdk.GetPlanPreviewResponse{}
	for _, target := range targets {
		s, err := p.newSession(target)
		if err != nil {
			return nil, err
		}
		s.LooksOnly = true
		plan, err := s.planOf(ctx, in.Request.TargetDeploymentSource, nil)
		if err != nil {
			return nil, fmt.Errorf("deploy target %s: %w", target.Name, err)
		}
		var text bytes.Buffer
		if err := report.Write(&text, plan, report.Options{Format: report.Markdown}); err != nil {
			return nil, err
		}
		out.Results = append(out.Results, sdk.PlanPreviewResult{
			DeployTarget: target.Name, Summary: textsafe.Line(plan.Verdict.Sentence), NoChange: !plan.Changes(),
			// piped puts it between its own fences.
			Details: []byte(strings.ReplaceAll(text.String(), "```", "~~~")), DiffLanguage: "markdown",
		})
	}
	return out, nil
}

// GetLivestate returns what status shows: whether each object of the release is ready,
// and whether it is still what was applied.
func (p *plugin) GetLivestate(ctx context.Context, _ *pluginConfig, targets []*deployTarget, in *sdk.GetLivestateInput[applicationSpec]) (*sdk.GetLivestateResponse, error) {
	defer giveBack()
	out := &sdk.GetLivestateResponse{SyncState: sdk.ApplicationSyncState{Status: sdk.ApplicationSyncStateSynced}}
	var differ []string
	for _, target := range targets {
		plan, err := p.offlineAt(ctx, target, in.Request.DeploymentSource)
		if err != nil {
			return &sdk.GetLivestateResponse{SyncState: sdk.ApplicationSyncState{
				Status: sdk.ApplicationSyncStateInvalidConfig, ShortReason: "the application cannot be planned", Reason: escaped(err.Error()),
			}}, nil
		}
		s, err := p.newSession(target)
		if err != nil {
			return nil, err
		}
		more, err := s.live(ctx, plan, out)
		if err != nil {
			return nil, fmt.Errorf("deploy target %s: %w", target.Name, err)
		}
		differ = append(differ, more...)
	}
	if len(differ) > 0 {
		out.SyncState = sdk.ApplicationSyncState{
			Status: sdk.ApplicationSyncStateOutOfSync, ShortReason: differ[0], Reason: escaped(strings.Join(differ, "\n")),
		}
	}
	return out, nil
}

// readObjects returns objects that were read before.
type readObjects []preview.ReadResult

func (r readObjects) Read(context.Context, []preview.Ref) []preview.ReadResult { return r }

// live adds the objects of a release in one deploy target, and returns what differs from
// the plan of its content, a sentence each.
func (s *session) live(ctx context.Context, plan *preview.Plan, out *sdk.GetLivestateResponse) ([]string, error) {
	client, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	stored, err := record.Load(ctx, client, plan.Release)
	if stored, err = s.Verified(ctx, stored, err); err != nil {
		return nil, err
	}
	if stored == nil || !stored.Installed() {
		return []string{s.target + ": it is not installed"}, nil
	}
	var differ []string
	if stored.State != record.Applied {
		differ = append(differ, fmt.Sprintf("%s: revision %d is %s", s.target, stored.Revision, stored.State))
	}
	if was, is := sourcesOf(stored.Packages), sourcesOf(plan.Packages); !slices.Equal(was, is) {
		differ = append(differ, fmt.Sprintf("%s: it is of %s, and the commit has %s", s.target, textsafe.Line(strings.Join(was, ", ")), textsafe.Line(strings.Join(is, ", "))))
	}
	var refs []preview.Ref
	for _, item := range stored.Items() {
		refs = append(refs, item.Ref())
	}
	live := reads.Recorded(ctx, client, refs)
	for i, r := range live {
		refs[i] = r.Ref // in the version that is served
	}
	drifts, err := install.Drifts(ctx, client, s.schemas, stored, live)
	if err != nil {
		differ = append(differ, s.target+": "+textsafe.Line(err.Error()))
	}
	for _, d := range drifts {
		if d.Drift.Drifted() {
			differ = append(differ, fmt.Sprintf("%s: %s is %s %s", s.target, textsafe.Line(d.ID), d.Drift, textsafe.Line(strings.Join(d.Paths, ", "))))
		}
	}
	for _, o := range rollout.Status(ctx, readObjects(live), client, refs).Objects {
		out.LiveState.Resources = append(out.LiveState.Resources, sdk.ResourceState{
			ID: s.target + " " + o.Ref.ID(), Name: o.Ref.Name, ResourceType: o.Ref.Kind, DeployTarget: s.target,
			ResourceMetadata: map[string]string{"Namespace": o.Ref.Namespace, "API version": o.Ref.APIVersion},
			HealthStatus:     healthOf(o.State), HealthDescription: textsafe.Line(o.Message),
		})
	}
	return differ, nil
}

// sourcesOf returns what packages were rendered from. The digest of their content may
// depend on the cluster, as where certificates are generated.
func sourcesOf(packages []preview.Package) []string {
	var out []string
	for i := range packages {
		for _, source := range packages[i].Sources {
			out = append(out, packages[i].Name+" "+packages[i].Version+" "+source.Digest)
		}
	}
	return out
}

func healthOf(state rollout.State) sdk.ResourceHealthStatus {
	switch state {
	case rollout.Ready:
		return sdk.ResourceHealthStateHealthy
	case rollout.Unknown:
		return sdk.ResourceHealthStateUnknown
	}
	return sdk.ResourceHealthStateUnhealthy
}
