package review

import (
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

// uninstallPlan deletes a release and some of its definitions; others stay.
func uninstallPlan(t *testing.T) *preview.Plan {
	b := tuitest.NewPlan(t, preview.RequestUninstall)
	b.Plan.Packages, b.Plan.Images = nil, nil
	b.Plan.Request = preview.Request{Action: preview.RequestUninstall}
	b.Plan.Base = preview.Base{Revision: 3, Digest: tuitest.DigestOf("base")}
	b.Object(preview.ActionDelete, nil, tuitest.Deployment("quay.io/mongodb/mongodb-kubernetes:1.10.0", 1), nil)
	b.Object(preview.ActionDelete, nil, tuitest.Manifest("v1", "ConfigMap", "mongodb", "settings", nil), nil)
	for _, name := range []string{"ops-manager", "tls"} {
		b.Object(preview.ActionDelete, nil, tuitest.Manifest("v1", "Secret", "mongodb", name, nil), nil)
	}
	gone := b.Object(preview.ActionDelete, nil, tuitest.Manifest("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "mongodb.mongodb.com", nil), nil).ID
	b.Object(preview.ActionKeep, nil, tuitest.Manifest("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "opsmanagers.mongodb.com", nil), nil)
	b.Object(preview.ActionKeep, nil, tuitest.Manifest("v1", "Namespace", "", "mongodb", nil), nil)
	b.Finding(preview.Critical, rules.CRDDeleted.Name, "", gone, "CustomResourceDefinition mongodb.mongodb.com: is deleted, and with it 3 MongoDB objects",
		"Deleting a CRD deletes every custom resource of its kind in all namespaces, at once and for good.", "the CRD is deleted, and with it 3 MongoDB objects")
	b.Plan.Findings[len(b.Plan.Findings)-1].AlsoDeleted = "3 MongoDB objects"
	b.Grant(preview.GrantRemoved, preview.ScopeCluster, "", []string{"get"}, []string{""}, []string{"secrets"},
		[]string{"ClusterRole/mongodb-operator", "ClusterRoleBinding/mongodb-operator"}, nil)
	return b.Seal()
}

// rollbackPlan goes back to the second revision.
func rollbackPlan(t *testing.T) *preview.Plan {
	p := tuitest.UpgradePlan(t)
	p.Request = preview.Request{Action: preview.RequestRollback, Revision: 2}
	p.Packages[0].Version = "1.8.1"
	return p
}

func TestPlansThatTakeAwayLookAsRecorded(t *testing.T) {
	for name, p := range map[string]*preview.Plan{"uninstall": uninstallPlan(t), "rollback": rollbackPlan(t)} {
		for screen, keys := range map[string][]any{
			"removal-summary": nil, "removal-findings": {"2"}, "removal-objects": {"4", "down"}, "removal-access": {"3", "F"}, "removal-source": {"6"},
		} {
			for _, size := range tuitest.Sizes {
				m, c := reviewOf(t, p, size[0], size[1])
				tuitest.Drive(m, c, keys...)
				golden(t, screen+"/"+tuitest.SizeName(size)+"/"+name, m, size[0], size[1])
			}
		}
	}
}

func TestARemovalSaysFirstWhatIsLost(t *testing.T) {
	for _, size := range tuitest.Sizes[:2] {
		m, _ := reviewOf(t, uninstallPlan(t), size[0], size[1])
		for _, want := range []string{"lost  1 ConfigMap, 1 CRD, 2 Secrets; with them 3 MongoDB objects", "CRD opsmanagers.mongodb.com, with its custom resources", "1 grant of 1 subject"} {
			if !tuitest.Shows(m, want) {
				t.Errorf("%v: the summary does not say %q", size, want)
			}
		}
	}
}
