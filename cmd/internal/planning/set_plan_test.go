package planning_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/config"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	installed "github.com/kubectl-operator/kubectl-operator/install/plugins"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

const configOfSet = `apiVersion: kubectl-operator/v1alpha1
kind: PluginSet
metadata: {name: host}
spec:
  version: 1.0.0
  plugins: [{output: run, reference: ./run-old}]
`

// set writes a config of plugins with its artifacts, for a place beside it.
func set(t *testing.T) planning.SetOptions {
	t.Helper()
	dir := files(t, map[string]string{"set.yaml": configOfSet, "run-old": "#!/bin/sh\nold\n", "run-new": "#!/bin/sh\nnew\n"})
	return planning.SetOptions{Config: filepath.Join(dir, "set.yaml"), Mode: planning.ModeServer, Location: filepath.Join(dir, "plugins")}
}

func TestAPluginSetBecomesAPlanOfFiles(t *testing.T) {
	p, o := offline(t, config.Config{}), set(t)
	made, err := p.Sets().PlanSet(t.Context(), o, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !made.OnMachine() || made.Location.Path != o.Location || len(made.Plan.Files) != 1 || made.Plan.Files[0].Action != preview.ActionCreate {
		t.Errorf("the plan is for %+v, with files %+v", made.Location, made.Plan.Files)
	}
	bytes, err := made.Files()
	if err != nil || len(bytes) != 1 || made.Beside[installed.LockFile] == nil || made.Beside[installed.ConfigFile] == nil {
		t.Errorf("its bytes are %+v, beside them %v, %v", bytes, made.Beside, err)
	}
	if _, err := os.Stat(o.Config + ".lock"); err == nil {
		t.Error("a lock was written that was not asked for")
	}
}

// A lock holds artifacts to their bytes, from the plan on that wrote it.
func TestALockHoldsThePlansAfterIt(t *testing.T) {
	p, o := offline(t, config.Config{}), set(t)
	o.UpdateLock = true
	if _, err := p.Sets().PlanSet(t.Context(), o, nil, nil); err != nil {
		t.Fatal(err)
	}
	o.UpdateLock = false
	if _, err := p.Sets().PlanSet(t.Context(), o, nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(o.Config), "run-old"), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Sets().PlanSet(t.Context(), o, nil, nil); !isRefused(err, "the lock file has sha256:") {
		t.Errorf("error = %v", err)
	}
	o.Lock = filepath.Join(t.TempDir(), "none.lock")
	if _, err := p.Sets().PlanSet(t.Context(), o, nil, nil); err == nil || !strings.Contains(err.Error(), "lock file "+o.Lock) {
		t.Errorf("of a lock that is not there: error = %v", err)
	}
}

func TestASetIsComparedWithAnother(t *testing.T) {
	p, o := offline(t, config.Config{}), set(t)
	newer := strings.Replace(strings.Replace(configOfSet, "1.0.0", "1.1.0", 1), "run-old", "run-new", 1)
	o.Against = o.Config
	o.Config = filepath.Join(filepath.Dir(o.Config), "new.yaml")
	if err := os.WriteFile(o.Config, []byte(newer), 0o600); err != nil {
		t.Fatal(err)
	}
	made, err := p.Sets().PlanSet(t.Context(), o, nil, nil)
	if err != nil || made.Plan.Against == nil || made.Plan.Against.Version != "1.0.0" || made.Plan.Files[0].Action != preview.ActionUpdate {
		t.Fatalf("the plan is %+v, %v", made, err)
	}
	if err := os.WriteFile(o.Config, []byte(strings.Replace(newer, "name: host", "name: other", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Sets().PlanSet(t.Context(), o, nil, nil); !isUsage(err, "compare configs of one set") {
		t.Errorf("error = %v", err)
	}
}

// A set that a host in the cluster loads is planned like a bundle.
func TestTheSetOfAHostIsTheReleaseOfIt(t *testing.T) {
	p, o := offline(t, config.Config{}), set(t)
	hosted := strings.Replace(configOfSet, "spec:", "spec:\n  host: {deployment: {namespace: hosts, name: server}, configMap: {name: plugins}}\n  installLocation: /opt/plugins", 1)
	if err := os.WriteFile(o.Config, []byte(hosted), 0o600); err != nil {
		t.Fatal(err)
	}
	request, err := p.ReadRequest(t.Context(), o.Config, "")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := p.Plan(t.Context(), request, nil)
	if err != nil {
		t.Fatal(err)
	}
	if plan.Release != (preview.Release{Name: "host", Namespace: "hosts"}) || plan.OnMachine() || plan.Object("core/ConfigMap/hosts/plugins") == nil {
		t.Errorf("release %+v with %d objects", plan.Release, len(plan.Objects))
	}
	if _, err := request.Pinned(plan); !isUsage(err, "a PluginSet is pinned by its lock file") {
		t.Errorf("error = %v", err)
	}
	o.Against = o.Config
	if _, err := p.Sets().PlanSet(t.Context(), o, nil, nil); !isUsage(err, "leave out --against") {
		t.Errorf("error = %v", err)
	}
}

func TestTheConfigOfAClientIsOfAServer(t *testing.T) {
	p, o := offline(t, config.Config{}), set(t)
	o.Mode = planning.ModeClient
	if _, err := p.Sets().PlanSet(t.Context(), o, nil, nil); !isUsage(err, "--mode client fetches the config from the server") {
		t.Errorf("error = %v", err)
	}
}
