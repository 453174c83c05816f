package pipecd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/fields"
)

// The stages of this program's own plugin.
const (
	StagePlan         = "OPERATOR_PLAN"
	StageWaitApproval = "OPERATOR_WAIT_APPROVAL"
	StageApply        = "OPERATOR_APPLY"
	StageRollback     = "OPERATOR_ROLLBACK"
)

// OwnStages returns the stages of this program's own plugin, in the order that they run.
func OwnStages() []string {
	return []string{StagePlan, StageWaitApproval, StageApply, StageRollback}
}

// steering are stages of PipeCD that change nothing of what is applied in the end.
var steering = []string{"WAIT", "WAIT_APPROVAL", "ANALYSIS", "SCRIPT_RUN"}

// stages reads the pipeline. The intermediate stages are not run here, and noted; a
// pipeline that ends with something else than the manifests as they are is not supported.
func (a *Application) stages(v fields.Field) {
	p := pipeline{open: map[string]fields.Field{}}
	for _, item := range v.Maps() {
		name := item.At("name").Need()
		item.At("desc").Know()
		item.At("timeout").Know()
		item.At("skipOn").Know()
		p.stage(item, name)
		if !slices.Contains(OwnStages(), name) {
			a.Stages = append(a.Stages, name)
		}
	}
	p.check(v)
}

// pipeline is what the stages so far leave in the cluster.
type pipeline struct {
	rolled, theirs bool                    // to the manifests as they are; by stages of Kubernetes
	open           map[string]fields.Field // variants that stay, by their name, and the stage that made them
	routed         fields.Field            // the last stage that routed traffic
}

func (p *pipeline) stage(item fields.Field, name string) {
	with := item.At("with")
	variant, action, _ := strings.Cut(strings.TrimPrefix(name, "K8S_"), "_")
	p.theirs = p.theirs || strings.HasPrefix(name, "K8S_")
	switch {
	case name == "K8S_SYNC" || name == "K8S_PRIMARY_ROLLOUT":
		p.rolled = true
		with.At("prune").Flag()
		with.At("suffix").Text()
		noSelectors(with)
		if service := with.At("createService"); service.Flag() {
			service.Fail("a Service of the primary variant is not supported")
		}
	case name == "K8S_TRAFFIC_ROUTING":
		with.Know()
		p.routed = item
	case action == "ROLLOUT" && (variant == "CANARY" || variant == "BASELINE"):
		with.Know()
		p.open[variant] = item
	case action == "CLEAN" && (variant == "CANARY" || variant == "BASELINE"):
		with.Know()
		delete(p.open, variant)
	case slices.Contains(steering, name) || slices.Contains(OwnStages(), name):
		with.Know()
	default:
		item.At("name").Fail("the stage %s is not supported; it may change what is applied", shorten(name))
	}
}

// check records an error for a pipeline that does not end with the manifests as they are.
func (p *pipeline) check(v fields.Field) {
	switch {
	case v.Document().Failed():
	case p.theirs && !p.rolled:
		v.Fail("no stage is K8S_SYNC or K8S_PRIMARY_ROLLOUT, so what is applied in the end is variants alone, which are not supported")
	case p.routed.Set() && !onPrimary(p.routed.At("with")):
		p.routed.At("with").Fail("the last routing leaves traffic on a variant, which is not supported")
	case p.open["CANARY"].Set():
		p.open["CANARY"].At("name").Fail("no K8S_CANARY_CLEAN follows, and a variant that stays is not supported")
	case p.open["BASELINE"].Set():
		p.open["BASELINE"].At("name").Fail("no K8S_BASELINE_CLEAN follows, and a variant that stays is not supported")
	}
}

// onPrimary reports whether a stage routes all traffic to the primary variant.
func onPrimary(with fields.Field) bool {
	return with.At("all").Value == "primary" || strings.TrimSuffix(fmt.Sprint(with.At("primary").Value), "%") == "100"
}

// noSelectors records an error if a stage changes the selectors of workloads.
func noSelectors(v fields.Field) {
	if add := v.At("addVariantLabelToSelector"); add.Flag() {
		add.Fail("it changes the selectors of workloads; write the label into the manifests")
	}
}
