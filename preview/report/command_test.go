package report

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/verdict"
)

// Values are asked for again only where the command that writes roles renders
// with them.
func TestTheRoleCommandThatRendersTakesValues(t *testing.T) {
	for name, tt := range map[string]struct {
		request preview.Request
		savedAs string
		command string
		renders bool
	}{
		"an install":            {preview.Request{Action: preview.RequestInstall, Reference: "./chart"}, "", " preview ./chart ", true},
		"an upgrade":            {preview.Request{Action: preview.RequestUpgrade, Reference: "./chart"}, "", " upgrade web ./chart ", true},
		"a rollback":            {preview.Request{Action: preview.RequestRollback, Revision: 2}, "", " rollback web ", false},
		"a saved plan":          {preview.Request{Action: preview.RequestInstall, Reference: "./chart"}, "plan.tgz", " show plan.tgz ", false},
		"an install of a file":  {preview.Request{Action: preview.RequestInstall, Reference: "web", File: "request.yaml"}, "", " preview -f request.yaml ", false},
		"an uninstall, of none": {preview.Request{Action: preview.RequestUninstall}, "", " uninstall web ", false},
	} {
		plan := &preview.Plan{Request: tt.request, SavedAs: tt.savedAs, Release: preview.Release{Name: "web", Namespace: "shop"}}
		plan.Packages = []preview.Package{{Name: "web"}}
		plan.Packages[0].Parameters.Values = "sha256:00"
		if got := RoleCommand(plan); !strings.Contains(got, tt.command) {
			t.Errorf("%s: %q, want %q", name, got, tt.command)
		}
		if RoleCommandRenders(plan) != tt.renders {
			t.Errorf("%s: renders = %v", name, !tt.renders)
		}
		plan.Packages[0].Parameters.Values = ""
		if RoleCommandRenders(plan) {
			t.Errorf("%s without values takes values", name)
		}
	}
}

// What keeps a plan from being applied is no finding to accept; others of the plan are.
func TestAnObstacleIsNotOfferedToBeAccepted(t *testing.T) {
	const served, unserved = "core/ConfigMap/databases/settings", "cert-manager.io/Issuer/databases/issuer"
	p := base(preview.RequestInstall)
	p.Findings = []preview.Finding{
		finding(preview.NotKnown, rules.Unknown.Name, served, "ConfigMap settings: could not be read", "", "forbidden"),
		finding(preview.NotKnown, rules.Unknown.Name, unserved, "Issuer issuer: could not be read", "", "not served"),
	}
	for name, obstacles := range map[string][]preview.Obstacle{
		"both are open":      nil,
		"one is an obstacle": {{Object: unserved, Cause: "is of a kind that is not served"}},
	} {
		p.Verdict = verdict.Of(p, obstacles)
		list := strings.Join(acceptSection(p).lines, "\n")
		if !strings.Contains(list, served) || strings.Contains(list, unserved) != (obstacles == nil) {
			t.Errorf("%s: to be accepted are\n%s", name, list)
		}
	}
}
