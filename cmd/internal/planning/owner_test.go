package planning_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/config"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
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

// startLogged starts a controller until the test ends. Its log is a file, which is copied to
// keep if that is not empty.
func startLogged(t *testing.T, c *exec.Cmd, log, keep string) {
	t.Helper()
	file, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	if c.Stderr = file; c.Stdout == nil {
		c.Stdout = file
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		_ = file.Close()
		if keep != "" {
			data, _ := os.ReadFile(log)
			_ = os.WriteFile(keep, data, 0o600)
		}
	})
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

// viewer returns the kubeconfig of a user with the ClusterRole view alone, and with the kinds
// that a tool adds to it.
func viewer(t *testing.T, box *sandbox.Sandbox, name string, kinds ...string) string {
	t.Helper()
	kubectl := func(args ...string) {
		cmd := exec.CommandContext(t.Context(), sandboxtest.Kubectl(t), append([]string{"create"}, args...)...)
		cmd.Env = append(os.Environ(), "KUBECONFIG="+box.Kubeconfig())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	kubectl("clusterrolebinding", name, "--clusterrole=view", "--user="+name)
	if len(kinds) > 0 {
		kubectl("clusterrole", name, "--verb=get,list,watch", "--resource="+strings.Join(kinds, ","))
		kubectl("clusterrolebinding", name+"-kinds", "--clusterrole="+name, "--user="+name)
	}
	return sandboxtest.User(t, box, name)
}

// visible leaves out of changes the objects that the ClusterRole view may not read.
func visible(changes []string) []string {
	return slices.DeleteFunc(changes, func(line string) bool {
		return strings.Contains(line, " core/Secret/") || strings.Contains(line, " rbac.authorization.k8s.io/")
	})
}

// By reads alone a viewer sees the changes that an administrator sees by dry runs, and nothing
// that is in their way.
func TestClusterViewersSeeWhatOwnersChange(t *testing.T) {
	box := sandboxtest.Start(t)
	by := viewer(t, box, "viewer-of-owners")
	sync := func(way int) func(*testing.T, string, appliedSet) *appliedWorld {
		return func(t *testing.T, namespace string, set appliedSet) *appliedWorld {
			w := newArgoWorld(t, namespace, argoWays[way].options, argoWays[way].engine)
			if out, err := w.sync(nil, set.v1); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			w.application(argoWays[way].options, w.resources(set.v1))
			return w.appliedWorld
		}
	}
	apply := func(way int) func(*testing.T, string, appliedSet) *appliedWorld {
		return func(t *testing.T, namespace string, set appliedSet) *appliedWorld {
			w := newAppliedWorld(t, namespace)
			w.kubectl(append(kubectlWays[way].args, "-f", w.write(set.v1))...)
			return w
		}
	}
	for i, tt := range []struct {
		name, tool string
		applies    func(*testing.T, string, appliedSet) *appliedWorld
	}{
		{"kubectl apply", preview.ApplierKubectl, apply(0)},
		{"kubectl apply --server-side", preview.ApplierKubectl, apply(1)},
		{"Argo CD", preview.ApplierArgoCD, sync(0)},
		{"Argo CD by server-side apply", preview.ApplierArgoCD, sync(1)},
		{"kapp", preview.ApplierKapp, func(t *testing.T, namespace string, set appliedSet) *appliedWorld {
			w := newKappWorld(t, namespace)
			w.mustDeploy(w.write(set.v1))
			return w.appliedWorld
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			set := writtenSets(t, "viewed")[0]
			w := tt.applies(t, fmt.Sprintf("viewed-%d", i), set)
			file := w.write(set.v2)
			plan, read := w.preview(file, preview.ReadDryRun), w.previewBy(by, file, preview.ReadGet)
			if read.AppliedBy == nil || read.AppliedBy.Tool != tt.tool {
				t.Fatalf("applied by %+v", read.AppliedBy)
			}
			if found := engine.Obstacles(read); len(found) > 0 {
				t.Errorf("obstacles %+v", found)
			}
			w.sameByReads(plan, read)
		})
	}
}

// rolledOut waits until the Deployments of a namespace are as they are to be: until then their
// controller keeps writing their status, and a preview finds them changed whenever it asks.
func rolledOut(t *testing.T, client *k8s.Client, namespace string) {
	t.Helper()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	deadline := time.Now().Add(time.Minute)
	for {
		all, err := client.List(t.Context(), "apps/v1", "Deployment", namespace, "")
		if err != nil {
			t.Fatal(err)
		}
		moves := slices.IndexFunc(all, func(body map[string]any) bool {
			count := func(path ...string) int64 {
				n, _ := preview.Map(body, path[:len(path)-1]...)[path[len(path)-1]].(int64)
				return n
			}
			want := count("spec", "replicas")
			return count("status", "observedGeneration") != count("metadata", "generation") ||
				count("status", "replicas") != want || count("status", "updatedReplicas") != want || count("status", "availableReplicas") != want
		})
		if moves < 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not rolled out: %v", all[moves])
		}
		<-tick.C
	}
}
