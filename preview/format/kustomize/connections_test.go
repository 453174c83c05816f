package kustomize

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"sync/atomic"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/format/child"
)

// listener counts the TCP connections made to it, whatever they speak.
func listener(t *testing.T) (address string, connections *atomic.Int32) {
	connections = new(atomic.Int32)
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	return server.Listener.Addr().String(), connections
}

// Every field of a kustomization that takes a reference, with HOST for a
// server. fetches: kustomize, left alone, connects without any program's help.
var urlFields = []struct {
	name, text string
	fetches    bool
}{
	{"resources", "resources: ['http://HOST/a.yaml']", true},
	{"bases", "bases: ['http://HOST/org/repo']", true},
	{"resources by git", "resources: ['git::http://HOST/org/repo?ref=main']", false},
	{"resources by git, with a suffix", "resources: ['http://HOST/org/repo.git//sub?ref=main']", true},
	{"resources by ssh", "resources: ['ssh://git@HOST/org/repo']", false},
	{"resources by scp", "resources: ['git@HOST/org/repo.git']", false},
	{"components", "components: ['http://HOST/org/repo']", false},
	{"configMapGenerator files", "configMapGenerator: [{name: x, files: ['k=http://HOST/x']}]", true},
	{"configMapGenerator envs", "configMapGenerator: [{name: x, envs: ['http://HOST/x']}]", true},
	{"configMapGenerator env", "configMapGenerator: [{name: x, env: 'http://HOST/x'}]", true},
	{"secretGenerator files", "secretGenerator: [{name: x, files: ['http://HOST/x']}]", true},
	{"secretGenerator envs", "secretGenerator: [{name: x, envs: ['http://HOST/x']}]", true},
	{"patches path", "resources: [a.yaml]\npatches: [{path: 'http://HOST/x'}]", true},
	{"patchesStrategicMerge", "resources: [a.yaml]\npatchesStrategicMerge: ['http://HOST/x']", true},
	{"patchesJson6902 path", "resources: [a.yaml]\npatchesJson6902: [{target: {version: v1, kind: ConfigMap, name: a}, path: 'http://HOST/x'}]", true},
	{"openapi path", "resources: [a.yaml]\nopenapi: {path: 'http://HOST/x'}", true},
	{"crds", "resources: [a.yaml]\ncrds: ['http://HOST/x']", true},
	{"configurations", "resources: [a.yaml]\nconfigurations: ['http://HOST/x']", true},
	{"replacements path", "resources: [a.yaml]\nreplacements: [{path: 'http://HOST/x'}]", true},
	{"generators", "generators: ['http://HOST/x']", true},
	{"transformers", "resources: [a.yaml]\ntransformers: ['http://HOST/x']", true},
	{"validators", "resources: [a.yaml]\nvalidators: ['http://HOST/x']", true},
	{"a built-in transformer's path", "resources: [a.yaml]\ntransformers:\n- |-\n  apiVersion: builtin\n  kind: PatchTransformer\n  metadata: {name: x}\n  path: http://HOST/x\n", true},
	{"helmCharts", "helmCharts: [{name: x, repo: 'http://HOST/charts', version: 1.0.0}]", false},
	{"helmChartInflationGenerator", "helmChartInflationGenerator: [{chartName: x, chartRepoUrl: 'http://HOST/charts'}]", false},
}

// Each is refused twice over: by the plan of the build, and, with that out of
// the way, by the process the build runs in. Left alone, kustomize connects.
func TestNoFieldLeadsToAConnection(t *testing.T) {
	t.Setenv("PATH", "")
	address, connections := listener(t)
	for _, c := range urlFields {
		t.Run(c.name, func(t *testing.T) {
			text := strings.ReplaceAll(c.text, "HOST", address)
			files := map[string]string{"kustomization.yaml": text, "a.yaml": configMap}

			before := connections.Load()
			if _, err := New().Render(t.Context(), format.Input{Content: tree(files)}); err == nil {
				t.Error("it was built")
			}
			input, err := json.Marshal(build{Root: ".", Files: raw(files)})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := child.Run(t.Context(), child.Request{Task: Name, Input: input}); err == nil {
				t.Error("unplanned, it was built")
			}
			if n := connections.Load() - before; n != 0 {
				t.Errorf("%d connections", n)
			}

			before = connections.Load()
			_, _ = alone(t, files) // it may fail; the question is where it connects to
			if connected := connections.Load() > before; connected != c.fetches {
				t.Errorf("kustomize, left alone, connects: %v; this table says %v", connected, c.fetches)
			}
		})
	}
}

func raw(files map[string]string) map[string][]byte {
	out := map[string][]byte{}
	for name, text := range files {
		out[name] = []byte(text)
	}
	return out
}

// alone is kustomize in this process, as it comes.
func alone(t testing.TB, files map[string]string) (string, error) {
	t.Helper()
	all := filesys.MakeFsInMemory()
	for name, text := range files {
		if err := all.WriteFile(path.Join(mount, name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	return aloneAt(all, mount)
}

func aloneAt(files filesys.FileSystem, root string) (string, error) {
	made, err := krusty.MakeKustomizer(&krusty.Options{
		Reorder: krusty.ReorderOptionNone, LoadRestrictions: types.LoadRestrictionsRootOnly, PluginConfig: types.DisabledPluginConfig(),
	}).Run(files, root)
	if err != nil {
		return "", err
	}
	text, err := made.AsYaml()
	return string(text), err
}
