package planning_test

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/config"
	"github.com/kubectl-operator/kubectl-operator/cmd/internal/planning"
	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

func TestMain(m *testing.M) {
	planning.RunFormatChild() // some formats render in a process of their own
	os.Exit(m.Run())
}

var schemas = sync.OnceValue(func() engine.Schemas { return k8s.NewSchemas() })

// offline is a planner that contacts no cluster, and keeps what it fetches below
// the directory of the test.
func offline(t *testing.T, configured config.Config) *planning.Planner {
	t.Helper()
	p := planning.NewPlanner(planning.Environment{
		Version: "v0.0.0-test", Getenv: func(string) string { return "" },
		Config:         func() (config.Config, error) { return configured, nil },
		Namespace:      func() string { return "" },
		RequestTimeout: func() (time.Duration, error) { return time.Minute, nil },
		Schemas:        schemas,
		Connect: func(context.Context, preview.ReadMode) (planning.Cluster, error) {
			t.Error("offline, and the cluster was contacted")
			return nil, context.Canceled
		},
	})
	p.Read.Offline = true
	p.Source.CacheDir = t.TempDir()
	return p
}

// planOf plans a reference.
func planOf(t *testing.T, p *planning.Planner, reference, name string) (*preview.Plan, error) {
	t.Helper()
	request, err := p.Request(reference, name)
	if err != nil {
		return nil, err
	}
	return p.Plan(t.Context(), request, nil)
}

// must is planOf for what can be planned.
func must(t *testing.T, p *planning.Planner, reference, name string) *preview.Plan {
	t.Helper()
	plan, err := planOf(t, p, reference, name)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// planFile plans what a request file asks for.
func planFile(t *testing.T, p *planning.Planner, file string) *preview.Plan {
	t.Helper()
	request, err := p.ReadRequest(t.Context(), file, "")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := p.Plan(t.Context(), request, nil)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// bundle is the directory of a bundle of the test data.
func bundle(t *testing.T, name, version string) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", "..", "..", "testdata", "bundles", name, version))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// files writes files into a new directory, which it returns.
func files(t *testing.T, list map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range list {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// push puts content into a registry, and returns HOST/REPO@DIGEST.
func push(t *testing.T, r sourcetest.Registry, image string, content fs.FS) string {
	t.Helper()
	digest, err := source.PushDir(t.Context(), r.Host+"/"+image, content, nil, source.Options{PlainHTTP: true})
	if err != nil {
		t.Fatal(err)
	}
	repository, _, _ := strings.Cut(image, ":")
	return r.Host + "/" + repository + "@" + digest
}

// published is a bundle that a catalog has.
type published struct {
	name, version string
	image         string // empty for that of the test data, pushed to the registry
	requires      string // NAME RANGE
}

// catalogOf pushes bundles and writes the catalog of them, as opm would: one
// channel for each package, in which every version replaces the one before.
func catalogOf(t *testing.T, r sourcetest.Registry, bundles ...published) string {
	t.Helper()
	var text strings.Builder
	write := json.NewEncoder(&text)
	entries, order := map[string][]map[string]any{}, []string{}
	for _, b := range bundles {
		entry := map[string]any{"name": b.name + ".v" + b.version}
		if before := entries[b.name]; len(before) > 0 {
			entry["replaces"] = before[len(before)-1]["name"]
		} else {
			order = append(order, b.name)
		}
		entries[b.name] = append(entries[b.name], entry)
		if b.image == "" {
			b.image = push(t, r, "published/"+b.name+":v"+b.version, os.DirFS(bundle(t, b.name, b.version)))
		}
		properties := []any{map[string]any{"type": "olm.package", "value": map[string]any{"packageName": b.name, "version": b.version}}}
		if name, versions, ok := strings.Cut(b.requires, " "); ok {
			properties = append(properties, map[string]any{"type": "olm.package.required", "value": map[string]any{"packageName": name, "versionRange": versions}})
		}
		if err := write.Encode(map[string]any{
			"schema": "olm.bundle", "package": b.name, "name": b.name + ".v" + b.version, "image": b.image, "properties": properties,
		}); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range order {
		for _, entry := range []map[string]any{
			{"schema": "olm.package", "name": name, "defaultChannel": "stable"},
			{"schema": "olm.channel", "package": name, "name": "stable", "entries": entries[name]},
		} {
			if err := write.Encode(entry); err != nil {
				t.Fatal(err)
			}
		}
	}
	return files(t, map[string]string{"catalog.jsonl": text.String()})
}

// names are the packages of a plan with their versions.
func names(plan *preview.Plan) string {
	var out []string
	for _, p := range plan.Packages {
		out = append(out, p.Name+" "+p.Version)
	}
	return strings.Join(out, ", ")
}

// notes returns the notes of a plan, by rule.
func notes(plan *preview.Plan) map[string]string {
	out := map[string]string{}
	for _, p := range plan.Packages {
		for _, n := range p.Notes {
			out[n.Rule] = n.Text
		}
	}
	return out
}
