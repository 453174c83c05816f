package planning_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/config"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// previewAgent names previews to the API server, among the clients of one user.
const previewAgent = "preview"

// ownerPlanner returns a planner for previews by the user of a kubeconfig, as the owner of
// what is planned.
func ownerPlanner(t *testing.T, kubeconfig, namespace string, mode preview.ReadMode) *planning.Planner {
	t.Helper()
	p := planning.NewPlanner(planning.Environment{
		Version: "v0.0.0-test", Getenv: func(string) string { return "" },
		Config:         func() (config.Config, error) { return config.Config{}, nil },
		Namespace:      func() string { return namespace },
		RequestTimeout: func() (time.Duration, error) { return time.Minute, nil },
		Schemas:        schemas,
		Connect: func(ctx context.Context, mode preview.ReadMode) (planning.Cluster, error) {
			return k8s.Connect(ctx, k8s.Options{Kubeconfig: kubeconfig, ReadOnly: mode, UserAgent: previewAgent})
		},
	})
	p.LooksOnly, p.Read.Mode, p.Owners.AppliedBy = true, string(mode), planning.AppliedByOwner
	p.Source.CacheDir = t.TempDir()
	return p
}

// onlyReads fails unless what a preview does is in the audit log as reads and dry runs alone.
func onlyReads(t *testing.T, box *sandbox.Sandbox, plan func() (*preview.Plan, error)) (*preview.Plan, error) {
	t.Helper()
	if err := box.Forget(); err != nil {
		t.Fatal(err)
	}
	out, planErr := plan()
	requests, err := box.Requests()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, r := range requests {
		if r.UserAgent != previewAgent {
			continue
		}
		seen++
		if r.Persisted() || r.Verb == "watch" || r.Verb != "get" && r.Verb != "list" && !asks(r.ObjectRef.APIGroup) && !strings.Contains(r.RequestURI, "dryRun=All") {
			t.Errorf("a preview sends %s %s", r.Verb, r.RequestURI)
		}
	}
	if seen == 0 {
		t.Error("the audit log has no request of a preview")
	}
	return out, planErr
}

// asks reports whether a group has reviews alone, which are asked by a create.
func asks(group string) bool {
	return group == "authorization.k8s.io" || group == "authentication.k8s.io"
}
