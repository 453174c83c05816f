package planning_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/config"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
)

// app.pipecd.yaml is a kind of its own.
func isPipeCD(name string) bool { return strings.HasPrefix(name, "pipecd-") }

// The files and directories in which projects publish requests, each as -f takes it:
// what it asks for, or the one sentence that it is refused with.
func TestRequestsAsProjectsPublishThem(t *testing.T) {
	file, err := filepath.Abs("testdata/requests-upstream.golden")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(corpustest.Dir(t, "requests-upstream"))
	var names []string
	err = filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || isPipeCD(name) || name == "." {
			return err
		}
		if entry.IsDir() {
			if found, _ := filepath.Glob(filepath.Join(name, "*.yaml")); len(found) > 0 {
				names = append(names, name+"/")
			}
		} else if filepath.Ext(name) == ".yaml" {
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	p := offline(t, config.Config{})
	var got strings.Builder
	works, refused := 0, 0
	for _, name := range names {
		all, err := p.ReadRequests(t.Context(), strings.TrimSuffix(name, "/"), "")
		if err != nil {
			refused++
			fmt.Fprintf(&got, "%s\n    refused: %s\n", name, strings.TrimPrefix(err.Error(), "request file "+strings.TrimSuffix(name, "/")+": "))
			continue
		}
		works++
		fmt.Fprintf(&got, "%s\n", name)
		for _, want := range all {
			fmt.Fprintf(&got, "    %s asks for %s\n", want.File.Object, want.Text)
			for _, n := range want.File.Notes {
				fmt.Fprintf(&got, "        %s: %s\n", n.Rule.Name, n.Text)
			}
		}
	}
	fmt.Fprintf(&got, "%d work, %d are refused\n", works, refused)
	golden(t, file, got.String())
}

// OLM's samples have a kustomization of the ClusterExtension, and the catalog beside it.
func TestTheCatalogBesideAKustomizationIsFound(t *testing.T) {
	p := offline(t, config.Config{})
	want, err := p.ReadRequest(t.Context(), filepath.Join(corpustest.Dir(t, "requests-upstream"), "olm-samples"), "")
	if err != nil {
		t.Fatal(err)
	}
	if got := want.File.Package.Catalogs; !slices.Equal(got, []string{"oci://quay.io/operatorhubio/catalog:latest"}) {
		t.Errorf("catalogs %q", got)
	}
	extension := "apiVersion: olm.operatorframework.io/v1\nkind: ClusterExtension\nmetadata: {name: a}\nspec: {namespace: a, source: {sourceType: Catalog, catalog: {packageName: a}}}\n"
	catalogOf := func(image string) string {
		return "apiVersion: olm.operatorframework.io/v1\nkind: ClusterCatalog\nmetadata: {name: c}\nspec: {source: {type: Image, image: {ref: " + image + "}}}\n"
	}
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{"one that the kustomization makes is the only one", map[string]string{"kustomization.yaml": "resources: [a.yaml, b.yaml]", "b.yaml": catalogOf("example.com/made:v1"), "c.yaml": catalogOf("example.com/beside:v1")}, []string{"oci://example.com/made:v1"}},
		{"what is no manifest is left alone", map[string]string{"kustomization.yaml": "resources: [a.yaml]", "b.yaml": "{", "c.yaml": catalogOf("example.com/beside:v1")}, []string{"oci://example.com/beside:v1"}},
		{"none", map[string]string{"kustomization.yaml": "resources: [a.yaml]"}, nil},
	} {
		tt.files["a.yaml"] = extension
		want, err := p.ReadRequest(t.Context(), files(t, tt.files), "")
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		} else if got := want.File.Package.Catalogs; !slices.Equal(got, tt.want) {
			t.Errorf("%s: catalogs %q, want %q", tt.name, got, tt.want)
		}
	}
}

// What an overlay makes of a base, as Flux applies it, and what cannot be written back.
func TestAnOverlayOfRequestsIsBuilt(t *testing.T) {
	const release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: podinfo, namespace: podinfo}\nspec:\n"
	dir := files(t, map[string]string{
		"base/kustomization.yaml":    "resources: [release.yaml, repository.yaml, namespace.yaml]\n",
		"base/namespace.yaml":        "apiVersion: v1\nkind: Namespace\nmetadata: {name: podinfo, labels: {team: a}}\n",
		"base/repository.yaml":       "apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: charts, namespace: podinfo}\nspec: {url: 'https://charts.example.com'}\n",
		"base/release.yaml":          release + "  chart: {spec: {chart: podinfo, sourceRef: {kind: HelmRepository, name: charts}}}\n  values: {replicas: 1}\n",
		"staging/kustomization.yaml": "resources: [../base]\npatches: [{path: values.yaml}]\n",
		"staging/values.yaml":        release + "  chart: {spec: {version: '>=1.0.0'}}\n  values: {replicas: 3}\n",
		"flat/release.yaml":          release + "  chart: {spec: {chart: podinfo, sourceRef: {kind: HelmRepository, name: charts}}}\n",
		"flat/repository.yaml":       "apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: charts, namespace: podinfo}\nspec: {url: 'https://charts.example.com'}\n",
		"flat/notes.txt":             "not a manifest\n",
		"values/values.yaml":         "replicas: 3\n",
		"empty/notes.txt":            "not a manifest\n",
		"remote/kustomization.yaml":  "resources: ['https://example.com/base.yaml']\n",
		"out/kustomization.yaml":     "resources: [../../../../etc]\n",
	})
	p := offline(t, config.Config{})
	for _, tc := range []struct{ at, want string }{
		{"staging", "HelmRelease podinfo/podinfo: chart+https://charts.example.com/podinfo?version=>=1.0.0"},
		{"staging/kustomization.yaml", "HelmRelease podinfo/podinfo: chart+https://charts.example.com/podinfo?version=>=1.0.0"},
		{"flat", "HelmRelease podinfo/podinfo: chart+https://charts.example.com/podinfo"},
		{"staging/values.yaml", "spec.chart.spec.chart: it is missing; the directory has a kustomization, and -f " + filepath.Join(dir, "staging") + " reads what that makes of it"},
		{"flat/release.yaml", "HelmRepository podinfo/charts, which is not in the file, and no cluster may be asked; add it to the file, name the directory that holds both with -f, or leave out --offline"},
		{"values", "values.yaml: it holds an object without kind or apiVersion; name the files with objects by -f each"},
		{"empty", "the directory has no YAML or JSON file with objects, and no kustomization"},
		{"remote", "remote/kustomization.yaml"},
		{"out", "out/kustomization.yaml"},
		{"nowhere", "no such file or directory"},
	} {
		t.Run(tc.at, func(t *testing.T) {
			want, err := p.ReadRequest(t.Context(), filepath.Join(dir, tc.at), "")
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				got = want.File.Object + ": " + want.Text
			}
			if !strings.Contains(got, tc.want) || (err == nil) != strings.HasPrefix(tc.want, "HelmRelease podinfo/podinfo: ") {
				t.Fatalf("got %s", got)
			}
			if err == nil {
				if _, err := want.Pinned(nil); !isUsage(err, "-o request writes a file back") {
					t.Errorf("written back: %v", err)
				}
			}
		})
	}
	if want, err := p.ReadRequest(t.Context(), filepath.Join(dir, "staging"), ""); err != nil || fmt.Sprint(want.File.Values) != "map[replicas:3]" {
		t.Errorf("values of the overlay: %v, %v", want.File.Values, err)
	}
}

// One of several is chosen by name, and flags stand beside what has no field for them.
func TestFlagsBesideARequestFile(t *testing.T) {
	const extension = "apiVersion: olm.operatorframework.io/v1\nkind: ClusterExtension\nmetadata: {name: argocd}\nspec: {namespace: argocd, source: {sourceType: Catalog, catalog: {packageName: argocd-operator}}}\n"
	p := offline(t, config.Config{})
	given := []string{}
	p.Remember.Given = func(flag string) bool { return slices.Contains(given, flag) }
	name := filepath.Join(files(t, map[string]string{"a.yaml": extension + "---\n" + strings.ReplaceAll(extension, "name: argocd}", "name: second}")}), "a.yaml")
	if _, err := p.ReadRequest(t.Context(), name, ""); !isUsage(err, "holds 2 requests, such as ClusterExtension argocd and ClusterExtension second; choose one: --request ClusterExtension/argocd") {
		t.Errorf("none is chosen: %v", err)
	}
	p.Render.Certs, given = "none", []string{"certs"}
	want, err := p.ReadRequest(t.Context(), name, "second")
	if err != nil || want.File.Object != "ClusterExtension second" {
		t.Fatalf("got %v, %v", want.File, err)
	}
	if _, err := p.Plan(t.Context(), want, nil); err == nil || !strings.Contains(err.Error(), "no catalog can be read") {
		t.Errorf("its plan: %v", err)
	}
	given = []string{"channel"}
	if _, err := p.ReadRequest(t.Context(), name, "second"); !isUsage(err, "--channel: ClusterExtension second says that itself, in spec.source.catalog.channels; change it there") {
		t.Errorf("a flag that it has a field for: %v", err)
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || string(want) != got {
		t.Errorf("it is not as in %s (%v):\n%s", file, err, got)
	}
}
