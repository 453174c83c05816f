package review

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/tui/tabs"
	"github.com/kubectl-operator/kubectl-operator/tui/tuitest"
)

// twoPackages is a plan of mongodb and of what it requires, each with something
// that must be looked at, and a finding about the cluster.
func twoPackages(t *testing.T) *preview.Plan {
	b := tuitest.NewPlan(t, preview.RequestInstall)
	required := b.Plan.Packages[0]
	required.Name, required.Version = "cert-manager", "1.18.2"
	b.Plan.Packages = append(b.Plan.Packages, required)
	b.Object(preview.ActionCreate, tuitest.Deployment("quay.io/mongodb/agent:1", 1), nil, nil).Package = "mongodb"
	b.Object(preview.ActionCreate, tuitest.Manifest("v1", "ConfigMap", "mongodb", "settings", nil), nil, nil).Package = "mongodb"
	b.Object(preview.ActionCreate, tuitest.Manifest("v1", "ConfigMap", "mongodb", "issuers", nil), nil, nil).Package = "cert-manager"
	b.Object(preview.ActionCreate, tuitest.Manifest("v1", "Namespace", "", "mongodb", nil), nil, nil).Package = ""
	b.Finding(preview.Critical, "pod-privileged", "POD-01", tuitest.DeployObject, "Deployment operator: runs privileged", "It can do what the node can.", "container operator")
	b.Finding(preview.Critical, "webhook-fail-closed", "", "core/ConfigMap/mongodb/issuers", "ConfigMap issuers: fails closed", "It stops writes.", "issuers")
	b.Finding(preview.Warning, "catalog-deprecated", "", "package/cert-manager", "is deprecated", "Nobody maintains it.", "use another")
	b.Finding(preview.Warning, "nodes-unread", "", "cluster/nodes", "the nodes may not be listed", "Nobody knows.", "nodes")
	return b.Seal()
}

// listed are the ids of the rows of the open tab that are no headings.
func listed(m *review) []string {
	var out []string
	for _, r := range m.activeTab().rows {
		if r.ID != "" && r.ID != tabs.QuestionsID && !strings.HasPrefix(r.ID, tabs.BranchPrefix) {
			out = append(out, r.ID)
		}
	}
	return out
}

func TestListsOfOnePackage(t *testing.T) {
	const settings, issuers, namespace = "core/ConfigMap/mongodb/settings", "core/ConfigMap/mongodb/issuers", "core/Namespace/-/mongodb"
	for _, tt := range []struct {
		name string
		keys []any
		want []string
	}{
		{"findings of all packages", []any{"2"}, []string{"C1", "C2", "W1", "W2"}},
		{"findings of the first, and those of no package", []any{"2", "P"}, []string{"C1", "W2"}},
		{"findings of the second, its notes among them", []any{"2", "P", "P"}, []string{"C2", "W1", "W2"}},
		{"all again", []any{"2", "P", "P", "P"}, []string{"C1", "C2", "W1", "W2"}},
		{"f goes through packages where there is nothing else to go through", []any{"2", "f"}, []string{"C1", "W2"}},
		{"F shows all", []any{"2", "P", "F"}, []string{"C1", "C2", "W1", "W2"}},
		{"objects of the second", []any{"4", "P", "P"}, []string{issuers}},
		{"objects, first with findings and then of a package", []any{"4", "f", "f", "f", "P"}, []string{tuitest.DeployObject}},
		{"the package stays from tab to tab", []any{"2", "P", "4"}, []string{tuitest.DeployObject, settings}},
		{"differences of the first", []any{"5", "P"}, []string{tuitest.DeployObject, settings}},
		{"what must be looked at is found in another package", []any{"2", "P", "n"}, []string{"C1", "C2", "W1", "W2"}},
		{"objects of all packages, and of none", []any{"4"}, []string{tuitest.DeployObject, settings, issuers, namespace}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, c := reviewOf(t, twoPackages(t), 120, 36)
			tuitest.Drive(m, c, tt.keys...)
			got, want := listed(m), slices.Clone(tt.want)
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("lists %q, want %q:\n%s", got, want, strings.Join(tuitest.ScreenOf(m), "\n"))
			}
			if m.Checklist.Remaining() == 0 {
				t.Error("a filter counts what must be looked at as looked at")
			}
		})
	}
}

func TestFramesOfOnePackage(t *testing.T) {
	for _, size := range tuitest.Sizes {
		for name, keys := range map[string][]any{"findings": {"2", "P", "P"}, "objects": {"4", "P"}} {
			m, c := reviewOf(t, twoPackages(t), size[0], size[1])
			tuitest.Drive(m, c, keys...)
			golden(t, "package/"+tuitest.SizeName(size)+"/"+name, m, size[0], size[1])
		}
	}
}

func TestAPlanOfOnePackageHasNothingToChooseBetween(t *testing.T) {
	m, c := reviewOf(t, tuitest.FreshPlan(t), 120, 36)
	before := len(listed(m))
	tuitest.Drive(m, c, "2", "P")
	if m.Filter.Package != "" || m.notice == "" || len(listed(m)) < before/2 {
		t.Errorf("filter %q, notice %q", m.Filter.Package, m.notice)
	}
}
