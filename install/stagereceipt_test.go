package install_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

const inManyStages = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: worker}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: worker}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: worker}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: worker}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: worker}
subjects: [{kind: ServiceAccount, name: worker}]
---
apiVersion: v1
kind: Service
metadata: {name: worker}
spec: {ports: [{port: 80}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: worker}
spec:
  selector: {matchLabels: {app: worker}}
  template:
    metadata: {labels: {app: worker}, annotations: {kubectl-operator/sandbox-fault: image-pull}}
    spec: {serviceAccountName: worker, containers: [{name: worker, image: registry.example.com/worker:1}]}
`

// TestClusterFailedPlanIsTakenBackStageByStageInReverse: the object made last goes
// first, each object after the one before it was answered for, and the receipts tell
// both ways stage by stage.
func TestClusterFailedPlanIsTakenBackStageByStageInReverse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "reverse")
	w.edit(t, "create", "namespace", "reverse")
	plan := w.undoable(t, w.content(t, "1.0.0", inManyStages))
	var order []string // "sent ID" and "taken ID", of the undo
	undoing := false
	opts := w.withoutGrace(t, "apps/Deployment/reverse/worker")
	log := opts.Sink
	opts.Sink = func(e install.Event) {
		log(e)
		undoing = undoing || e.Stage == install.StageUndo
		switch {
		case !undoing || e.Type != install.EventObject:
		case e.State == record.StateSent:
			order = append(order, "sent "+e.Object)
		case len(order) > 0 && order[len(order)-1] == "sent "+e.Object:
			order = append(order, "taken "+e.Object)
		}
	}
	receipt, _ := w.failing(t, plan, opts)
	var made []string
	for _, stage := range plan.Stages {
		made = append(made, stage.Objects...)
	}
	slices.Reverse(made)
	var want []string
	for _, id := range made {
		want = append(want, "sent "+id, "taken "+id)
	}
	if !slices.Equal(order, want) {
		t.Errorf("taken back were\n%s\nwant\n%s", strings.Join(order, "\n"), strings.Join(want, "\n"))
	}
	if got := stageLine(receipt.Stages); got != "identity succeeded, configuration succeeded, roles succeeded, bindings succeeded, infrastructure succeeded, deploy failed" {
		t.Errorf("the stages of the plan: %s", got)
	}
	deploy := receipt.Stages[len(receipt.Stages)-1]
	if log := strings.Join(deploy.Log, "\n"); !strings.Contains(log, "Deployment/reverse/worker: image not found") || deploy.Timeout == "" || !slices.Equal(deploy.Requires, []string{"infrastructure"}) {
		t.Errorf("deploy is %+v", deploy)
	}
	if receipt.Undo == nil {
		t.Fatal("no receipt of the undo")
	}
	if got := stageLine(receipt.Undo.Stages); got != "prune succeeded rollback" {
		t.Errorf("the stages of the undo: %s", got)
	}
}

func stageLine(stages []record.StageReceipt) string {
	var out []string
	for _, s := range stages {
		text := s.ID + " " + string(s.Status)
		if s.Rollback {
			text += " rollback"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// TestClusterStagesOfARollbackSaySo: it is a plan, and sealed with it.
func TestClusterStagesOfARollbackSaySo(t *testing.T) {
	w := newWorld(t, "rollback-stages")
	w.apply(t, w.plan(t, w.content(t, "1.0.0", configMap("one", "x"))))
	receipt := w.apply(t, w.plan(t, w.content(t, "2.0.0", configMap("one", "y"))))
	if got := stageLine(receipt.Stages); got != "configuration succeeded" {
		t.Errorf("the stages of the upgrade: %s", got)
	}
	plan := w.rollback(t, 1)
	if len(plan.Stages) != 1 || !plan.Stages[0].Rollback {
		t.Errorf("the stages of the rollback are %+v", plan.Stages)
	}
	if got := stageLine(w.apply(t, plan).Stages); got != "configuration succeeded rollback" {
		t.Errorf("the stages of the rollback: %s", got)
	}
	if plan.Request.Action != preview.RequestRollback {
		t.Errorf("the plan is a %s", plan.Request.Action)
	}
}
