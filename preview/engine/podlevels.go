package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/risk"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// podLevelsKind is the kind of the reads that record which workloads of others a namespace
// no longer admits. No cluster serves it: it is this program's own.
const podLevelsKind = "PodLevels"

// podLevels is the check for pods of others in the namespaces whose Pod Security labels the
// plan changes: those that run go on, and none of them starts again.
type podLevels struct{}

// podLevelsRecord has the ids of workloads whose pods are admitted without warning now.
type podLevelsRecord struct {
	Refused []string `json:"refused"`
	Warned  []string `json:"warned"`
}

// read records the workloads by their ids: their other changes are no facts of the plan.
func (podLevels) read(ctx context.Context, to *recorder) error {
	for i := range to.plan.Objects {
		o := &to.plan.Objects[i]
		if !o.Is(preview.KindNamespace) || o.LiveBody == nil || o.Planned == nil ||
			o.Action == preview.ActionUnchanged || o.Action == preview.ActionBlocked {
			continue
		}
		workloads, err := workloadsIn(ctx, to, o.Name)
		if err != nil {
			return err
		}
		found := podLevelsRecord{}
		found.Refused, found.Warned = risk.NoLongerAdmitted(to.plan, o, workloads)
		if len(found.Refused)+len(found.Warned) == 0 {
			continue
		}
		if err := to.Note(podLevelsKind, o.Name, found); err != nil {
			return err
		}
	}
	return nil
}

// workloadsIn returns the objects that make pods in a namespace, and that neither the plan nor
// a controller makes. Kinds that the user may not list are left out.
func workloadsIn(ctx context.Context, to *recorder, namespace string) ([]map[string]any, error) {
	var out []map[string]any
	for _, kind := range []preview.Ref{
		{APIVersion: "v1", Kind: "Pod"}, {APIVersion: "v1", Kind: "ReplicationController"},
		{APIVersion: "apps/v1", Kind: "Deployment"}, {APIVersion: "apps/v1", Kind: "StatefulSet"},
		{APIVersion: "apps/v1", Kind: "DaemonSet"}, {APIVersion: "apps/v1", Kind: "ReplicaSet"},
		{APIVersion: "batch/v1", Kind: "Job"}, {APIVersion: "batch/v1", Kind: "CronJob"},
	} {
		found, err := to.cluster.List(ctx, kind.APIVersion, kind.Kind, namespace, "",
			"metadata.annotations", "metadata.ownerReferences", "metadata.deletionTimestamp", "spec")
		if err != nil && !preview.Answered(err) {
			return nil, fmt.Errorf("listing objects of kind %s of namespace %s: %w", kind.Kind, namespace, err)
		}
		out = append(out, slices.DeleteFunc(to.ExcludePlanned(found), isIncidental)...)
	}
	return out, nil
}

func (podLevels) findings(of *decidedPlan) []preview.Finding {
	var out []preview.Finding
	for i := range of.plan.Objects {
		o := &of.plan.Objects[i]
		var found podLevelsRecord
		if !o.Is(preview.KindNamespace) || !of.Record(podLevelsKind, o.Name, &found) {
			continue
		}
		for _, level := range []struct {
			rule rules.Rule
			does string
			ids  []string
		}{{rules.PodSecurityRefused, "refuses", found.Refused}, {rules.PodSecurityWarned, "warns of", found.Warned}} {
			if len(level.ids) > 0 {
				claim := preview.Claim{Predicate: "namespace " + o.Name + " " + level.does + " pods of " + countByKind(level.ids) + " of others"}
				out = append(out, level.rule.Finding(o.ID, claim, rules.Said(nameOrCount(level.ids)...)...))
			}
		}
	}
	return out
}

func (c podLevels) staleReads(ctx context.Context, again *rereader) ([]string, error) {
	now, err := again.currentReads(ctx, c.read)
	return again.changedReads(now), err
}
