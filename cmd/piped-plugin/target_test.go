package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pipe-cd/pipecd/pkg/model"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview/pipecd"
)

// A plan that nothing asks for any more goes with its age.
func TestPlansAreKeptForAWhile(t *testing.T) {
	dir := t.TempDir()
	now := time.Now()
	for name, age := range map[string]time.Duration{"new.tgz": time.Hour, "waiting.tgz": keptFor - time.Hour, "forgotten.tgz": keptFor + time.Hour, "other.txt": 2 * keptFor} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, now, now.Add(-age))); err != nil {
			t.Fatal(err)
		}
	}
	cleanKept(dir, now)
	entries, err := os.ReadDir(dir)
	var left []string
	for _, entry := range entries {
		left = append(left, entry.Name())
	}
	if want := []string{"new.tgz", "other.txt", "waiting.tgz"}; err != nil || !slices.Equal(left, want) {
		t.Errorf("left are %q, %v, want %q", left, err, want)
	}
}

// contexts returns a kubeconfig with two contexts: the current one leads nowhere, and
// sandbox to the cluster of another kubeconfig.
func contexts(t *testing.T, kubeconfig string) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.Contexts["sandbox"] = config.Contexts[config.CurrentContext]
	config.Clusters["nowhere"] = &clientcmdapi.Cluster{Server: "https://127.0.0.1:1"}
	config.Contexts["nowhere"] = &clientcmdapi.Context{Cluster: "nowhere"}
	config.CurrentContext = "nowhere"
	out := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// A deploy target is a context of a kubeconfig, by its name. A stage whose time is up ends,
// nothing is applied by it, and the plugin goes on with the next call.
func TestClusterTargetsAreContextsAndStagesEndInTime(t *testing.T) {
	t.Parallel() // the SDK waits seconds for the log of each stage
	box := sandboxtest.Start(t)
	p := newPiped(t)
	app := application{t, "timed"}
	source := app.commit(strings.Replace(settingsApplication, "settings", "timed", 1), nil, map[string]string{"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: timed-of-piped}\n"})
	plugin := startPluginAt(t, p, "{}", map[string]any{"kubeconfig": contexts(t, box.Kubeconfig()), "context": "sandbox"})
	d := app.deployment("timed")
	plugin.must(t, p, d, pipecd.StagePlan, source)
	ctx, stop := context.WithTimeout(t.Context(), time.Second)
	defer stop()
	if got, err := plugin.run(ctx, d, pipecd.StageWaitApproval, source); status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("without an approval: %s, %v", got, err)
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	if got, err := plugin.run(ended, d, pipecd.StageApply, source); status.Code(err) != codes.Canceled {
		t.Errorf("cancelled: %s, %v", got, err)
	}
	p.approve()
	plugin.must(t, p, d, pipecd.StageWaitApproval, source)
	if said := plugin.must(t, p, d, pipecd.StageApply, source); !strings.Contains(said, "applied sha256:") {
		t.Errorf("applied: %s", said)
	}

	other := startPluginAt(t, p, "{}", map[string]any{"kubeconfig": contexts(t, box.Kubeconfig()), "context": "missing"})
	lost := app.deployment("lost")
	if got, err := other.run(t.Context(), lost, pipecd.StagePlan, source); err != nil || got != model.StageStatus_STAGE_FAILURE || !strings.Contains(p.said(t, "lost/"+pipecd.StagePlan), "missing") {
		t.Errorf("a context that is not there: %s, %v\n%s", got, err, p.said(t, "lost/"+pipecd.StagePlan))
	}
}

// A plugin that waits, as it does most of its life, takes little, its own file included.
func TestTheIdlePluginIsSmall(t *testing.T) {
	all, own := startPlugin(t, newPiped(t), "{}", filepath.Join(t.TempDir(), "kubeconfig")).memory(t)
	t.Logf("resident memory: %d MiB, %d of them its own", all, own)
	if runtime.GOOS == "linux" && all >= 60 {
		t.Errorf("idle, the plugin takes %d MiB", all)
	}
}
