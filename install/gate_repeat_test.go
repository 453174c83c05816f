package install_test

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/install"
	"github.com/kubectl-operator/kubectl-operator/install/record"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

func TestWhatNoSecondRenderingGivesIsApprovedByNoDigest(t *testing.T) {
	plan := gatePlan(t, func(p *preview.Plan) {
		p.Packages[0].Notes = []preview.Note{{Rule: rules.Nondeterministic.Name, Object: "core/Secret/ns/x", Text: ".data.password"}}
	})
	for how, want := range map[string]bool{
		record.ApprovedOnScreen: true, record.ApprovedByYes: true, record.ApprovedByPlan: true,
		record.ApprovedByDigest: false, record.ApprovedByContent: false,
	} {
		approval := record.Approval{How: how, Digest: plan.Digest}
		if how == record.ApprovedByContent {
			approval.Digest = plan.ContentDigest
		}
		err := install.Gate(plan, approval)
		if (err == nil) != want {
			t.Errorf("approved by %s: %v", how, err)
		}
		if err != nil && (install.KindOf(err) != install.Refused || !strings.Contains(err.Error(), "values that another plan would not have (core/Secret/ns/x)")) {
			t.Errorf("approved by %s: %v", how, err)
		}
	}
	other := record.Approval{How: record.ApprovedByDigest, Digest: preview.HashBytes([]byte("an earlier rendering"))}
	if err := install.Gate(plan, other); err == nil || !strings.Contains(err.Error(), "values that another plan would not have") {
		t.Errorf("by the digest of an earlier rendering: %v", err)
	}
}

func TestContentThatDependsOnTheClusterIsNotApprovedByItsContentDigest(t *testing.T) {
	plan := gatePlan(t, func(p *preview.Plan) {
		p.Packages[0].Parameters.ClusterReads = []preview.ClusterRead{{Kind: preview.ReadKubeVersion, Value: "v1.37.1"}}
	})
	err := install.Gate(plan, record.Approval{How: record.ApprovedByContent, Digest: plan.ContentDigest})
	if install.KindOf(err) != install.Refused || !strings.Contains(err.Error(), "read this cluster, so its content digest holds for this cluster only") {
		t.Errorf("got %v", err)
	}
	if err := install.Gate(plan, record.Approval{How: record.ApprovedByDigest, Digest: plan.Digest}); err != nil {
		t.Errorf("by its review digest: %v", err)
	}
}
