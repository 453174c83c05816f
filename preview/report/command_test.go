package report

import (
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
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
