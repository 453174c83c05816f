package main

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/pipe-cd/pipecd/pkg/model"
	"github.com/pipe-cd/pipecd/pkg/plugin/api/v1alpha1/common"
	"github.com/pipe-cd/pipecd/pkg/plugin/api/v1alpha1/deployment"
	"github.com/pipe-cd/pipecd/pkg/plugin/api/v1alpha1/planpreview"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview/pipecd"
)

// quickSync runs the stages that the plugin has for a deployment without a pipeline.
func quickSync(t *testing.T, r *running, p *piped, d *model.Deployment, source *common.DeploymentSource) {
	t.Helper()
	for _, want := range []struct {
		rollback bool
		stages   string
	}{
		{false, "OPERATOR_PLAN false, OPERATOR_APPLY false"},
		{true, "OPERATOR_PLAN false, OPERATOR_APPLY false, OPERATOR_ROLLBACK true"},
	} {
		built, err := r.BuildQuickSyncStages(t.Context(), &deployment.BuildQuickSyncStagesRequest{Rollback: want.rollback})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, stage := range built.Stages {
			got = append(got, fmt.Sprint(stage.Name, " ", stage.Rollback))
			if !want.rollback {
				r.must(t, p, d, stage.Name, source)
			}
		}
		if strings.Join(got, ", ") != want.stages {
			t.Errorf("stages %s, want %s", strings.Join(got, ", "), want.stages)
		}
	}
}

// previewed returns the plan preview of a commit.
func previewed(t *testing.T, r *running, app application, source *common.DeploymentSource, targets ...string) []*planpreview.PlanPreviewResult {
	t.Helper()
	shown, err := r.previews.GetPlanPreview(t.Context(), &planpreview.GetPlanPreviewRequest{
		ApplicationId: app.name, ApplicationName: app.name, PipedId: "piped", DeployTargets: targets, RunningDeploymentSource: source, TargetDeploymentSource: source,
	})
	if err != nil || len(shown.Results) != len(targets) {
		t.Fatalf("%v, %v", shown, err)
	}
	return shown.Results
}

// The same content is a quick sync, which brings back what is gone, and takes over no value
// of another manager; a plan without changes says so, and may end the deployment.
func TestClusterAQuickSyncBringsBackWhatIsGone(t *testing.T) {
	t.Parallel()
	box := sandboxtest.Start(t)
	p := newPiped(t)
	plugin := startPlugin(t, p, "{}", box.Kubeconfig())
	app := application{t, "drifting"}
	source := app.commit(strings.Replace(settingsApplication, "settings", "drifting", 1), nil, map[string]string{"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: drifting}\ndata: {colour: red}\n"})
	strategy, err := plugin.DetermineStrategy(t.Context(), &deployment.DetermineStrategyRequest{Input: &deployment.PlanPluginInput{Deployment: app.deployment("q1"), RunningDeploymentSource: source, TargetDeploymentSource: source}})
	if err != nil || strategy.SyncStrategy != model.SyncStrategy_QUICK_SYNC || !strings.Contains(strategy.Summary, "as before") {
		t.Errorf("strategy %v, %v", strategy, err)
	}
	if shown := previewed(t, plugin, app, source, "sandbox"); shown[0].NoChange {
		t.Errorf("before it is applied: %v", shown)
	}
	const exits = `{"exitOnNoChanges": true}`
	first := app.deployment("first")
	if got, err := plugin.runWith(t.Context(), first, "first/exits", pipecd.StagePlan, exits, source); err != nil || got != model.StageStatus_STAGE_SUCCESS {
		t.Errorf("with changes: %s, %v", got, err)
	}
	quickSync(t, plugin, p, app.deployment("q1"), source)
	if shown := previewed(t, plugin, app, source, "sandbox"); !shown[0].NoChange {
		t.Errorf("after it is applied: %v", shown)
	}
	if got, err := plugin.runWith(t.Context(), app.deployment("again"), "again/exits", pipecd.StagePlan, exits, source); err != nil || got != model.StageStatus_STAGE_EXITED {
		t.Errorf("without changes: %s, %v\n%s", got, err, p.said(t, "again/exits"))
	}
	if got, err := plugin.run(t.Context(), app.deployment("on"), pipecd.StagePlan, source); err != nil || got != model.StageStatus_STAGE_SUCCESS {
		t.Errorf("without changes, and nothing is said of it: %s, %v", got, err)
	}

	raw := sandboxtest.NewRawClient(t, box.Kubeconfig())
	edit := func(colour string) {
		t.Helper()
		status, answer, err := raw.Do(t.Context(), http.MethodPatch, "/api/v1/namespaces/default/configmaps/drifting", "application/merge-patch+json", map[string]any{"data": map[string]any{"colour": colour}})
		if err != nil || status != http.StatusOK {
			t.Fatalf("%d %v %v", status, answer, err)
		}
	}
	edit("blue")
	state := live(t, plugin, app, source).SyncState
	if state.Status != model.ApplicationSyncStatus_OUT_OF_SYNC || !strings.Contains(state.ShortReason, "ConfigMap/default/drifting") || !strings.Contains(state.ShortReason, "data.colour") {
		t.Errorf("after an edit: %v", state)
	}
	if got, err := plugin.runWith(t.Context(), app.deployment("drifted"), "drifted/exits", pipecd.StagePlan, exits, source); err != nil || got != model.StageStatus_STAGE_SUCCESS {
		t.Errorf("after an edit: %s, %v", got, err)
	}
	// Another manager's value is not taken over without a review.
	if got, err := plugin.run(t.Context(), app.deployment("drifted"), pipecd.StageApply, source); err != nil || got != model.StageStatus_STAGE_FAILURE || !strings.Contains(p.said(t, "drifted/"+pipecd.StageApply), `owns .data.colour; plan with --conflicts take`) {
		t.Errorf("after an edit: %s, %v\n%s", got, err, p.said(t, "drifted/"+pipecd.StageApply))
	}
	if status, answer, err := raw.Do(t.Context(), http.MethodDelete, "/api/v1/namespaces/default/configmaps/drifting", "", nil); err != nil || status != http.StatusOK {
		t.Fatalf("%d %v %v", status, answer, err)
	}
	if state := live(t, plugin, app, source).SyncState; state.Status != model.ApplicationSyncStatus_OUT_OF_SYNC || !strings.Contains(state.ShortReason, "ConfigMap/default/drifting") {
		t.Errorf("after a deletion: %v", state)
	}
	quickSync(t, plugin, p, app.deployment("q2"), source)
	if state := live(t, plugin, app, source).SyncState; state.Status != model.ApplicationSyncStatus_SYNCED {
		t.Errorf("after a quick sync: %v", state)
	}
}

// A stage is run for each deploy target, and what each has is shown by its name.
func TestClusterADeploymentHasSeveralTargets(t *testing.T) {
	t.Parallel()
	box := sandboxtest.Start(t)
	p := newPiped(t)
	one := map[string]any{"name": "one", "config": map[string]any{"kubeconfig": box.Kubeconfig(), "namespace": "one"}}
	two := map[string]any{"name": "two", "config": map[string]any{"kubeconfig": box.Kubeconfig(), "namespace": "two"}}
	lost := map[string]any{"name": "lost", "config": map[string]any{"kubeconfig": box.Kubeconfig(), "context": "missing"}}
	plugin := startPluginFor(t, p, "{}", one, two, lost)
	app := application{t, "spread"}
	source := app.commit("apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: spread\n  plugins: {operator: {reference: ./objects}}\n", nil, map[string]string{"objects/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: spread}\n"})
	at := func(id string, targets ...string) *model.Deployment {
		d := app.deployment(id)
		d.DeployTargetsByPlugin["operator"].DeployTargets = targets
		return d
	}
	d := at("both", "one", "two")
	for _, stage := range []string{pipecd.StagePlan, pipecd.StageWaitApproval, pipecd.StageApply} {
		if stage == pipecd.StageWaitApproval {
			p.approve()
		}
		plugin.must(t, p, d, stage, source)
	}
	state := liveAt(t, plugin, app, source, "one", "two")
	var found []string
	for _, resource := range state.ApplicationLiveState.Resources {
		found = append(found, resource.DeployTarget+": "+resource.Name+" in "+resource.ResourceMetadata["Namespace"])
	}
	if got := strings.Join(found, ", "); got != "one: spread in one, two: spread in two" || state.SyncState.Status != model.ApplicationSyncStatus_SYNCED {
		t.Errorf("live state %s, %v", got, state.SyncState)
	}
	for i, shown := range previewed(t, plugin, app, source, "one", "two") {
		if want := []string{"one", "two"}[i]; shown.DeployTarget != want || !shown.NoChange {
			t.Errorf("plan preview of %s: %v", want, shown)
		}
	}

	// One that cannot be reached is named, and fails the stage.
	if got, err := plugin.run(t.Context(), at("lost", "one", "lost"), pipecd.StagePlan, source); err != nil || got != model.StageStatus_STAGE_FAILURE || !strings.Contains(p.said(t, "lost/"+pipecd.StagePlan), "deploy target lost: ") {
		t.Errorf("%s, %v\n%s", got, err, p.said(t, "lost/"+pipecd.StagePlan))
	}
	plugin.must(t, p, d, pipecd.StageRollback, source)
	if state := liveAt(t, plugin, app, source, "one", "two"); len(state.ApplicationLiveState.Resources) != 0 || !strings.Contains(state.SyncState.Reason, "one: it is not installed") || !strings.Contains(state.SyncState.Reason, "two: it is not installed") {
		t.Errorf("taken back: %v", state)
	}
}

// piped alone is killed in the midst of an apply. The plugin lives on, ends what is under
// way, and goes on with it once piped is there again and asks.
func TestClusterPipedAloneIsKilled(t *testing.T) {
	t.Parallel()
	box := sandboxtest.Start(t)
	p := newPiped(t)
	h := &hurdle{}
	proxy := sandboxtest.NewProxy(t, box.Kubeconfig(), sandboxtest.ProxyOptions{Fault: h.fault})
	plugin := startPlugin(t, p, "{}", proxy.Kubeconfig)
	app := application{t, "orphan"}
	source, d := app.commit(strings.Replace(settingsApplication, "settings", "orphan", 1), nil, settings("orphan", "red")), app.deployment("orphan")
	plugin.must(t, p, d, pipecd.StagePlan, source)
	client, server := plugin.PluginClient, p.server
	h.raise("/orphan-05", func() {
		server.Stop()
		_ = client.Close()
	})
	if got, err := plugin.run(t.Context(), d, pipecd.StageApply, source); err == nil {
		t.Fatalf("piped was killed: %s", got)
	}
	h.clear()
	p.serve(t, p.address)
	if said := p.saidAtLast(t, d.Id+"/"+pipecd.StageApply, resumeAdvice); !strings.Contains(said, "stopped as asked: ") {
		t.Errorf("what was under way:\n%s", said)
	}
	if err := plugin.cmd.Process.Signal(syscall.Signal(0)); err != nil {
		t.Fatalf("the plugin has ended: %v", err)
	}
	plugin.connect(t)
	if got, err := plugin.runAs(t.Context(), d, d.Id+"/retried", pipecd.StageApply, source); err != nil || got != model.StageStatus_STAGE_SUCCESS || !strings.Contains(p.said(t, d.Id+"/retried"), "going on with the interrupted run") {
		t.Errorf("retried: %s, %v\n%s", got, err, p.said(t, d.Id+"/retried"))
	}
	if state := live(t, plugin, app, source); len(state.ApplicationLiveState.Resources) != 20 || state.SyncState.Status != model.ApplicationSyncStatus_SYNCED {
		t.Errorf("after it: %v", state)
	}
}
