package kustomize

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/format/child"
	"github.com/kubectl-operator/kubectl-operator/preview/format/helm"
)

func TestMain(m *testing.M) {
	child.Main(Task(), helm.Task())
	os.Exit(m.Run())
}

const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}\n"

// tree is a file system of files by name.
func tree(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

func render(t testing.TB, files map[string]string, root string) (*format.Output, error) {
	t.Helper()
	all := tree(files)
	return New().Render(t.Context(), format.Input{Content: all, Whole: all, Path: root})
}

func mustRender(t testing.TB, files map[string]string, root string) *format.Output {
	t.Helper()
	out, err := render(t, files, root)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestAnOverlayChangesItsBase(t *testing.T) {
	out := mustRender(t, map[string]string{
		"base/kustomization.yaml": "resources: [a.yaml]\n",
		"base/a.yaml":             configMap,
		"prod/kustomization.yaml": `
resources: [../base]
components: [../extra]
namePrefix: prod-
configMapGenerator: [{name: made, literals: [a=b]}]
patches: [{path: patch.yaml}]
`,
		"prod/patch.yaml":          "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: changed}\n",
		"extra/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\ncommonAnnotations: {by: component}\n",
	}, "prod")
	if len(out.Objects) != 2 {
		t.Fatalf("%d objects", len(out.Objects))
	}
	first, second := out.Objects[0], out.Objects[1]
	if name := preview.String(first.Body, "metadata", "name"); name != "prod-a" {
		t.Errorf("name %q", name)
	}
	if got := preview.String(first.Body, "data", "k"); got != "changed" {
		t.Errorf("data %q", got)
	}
	if first.Origin.File != "base/a.yaml" || second.Origin.File != "prod/kustomization.yaml" {
		t.Errorf("origins %v and %v", first.Origin, second.Origin)
	}
	if first.Origin.Line != 1 || second.Origin.Line != 0 {
		t.Errorf("lines %d and %d: a renamed object has that of its base, a generated one none", first.Origin.Line, second.Origin.Line)
	}
	if got := preview.Map(second.Body, "metadata", "annotations"); len(got) != 1 || got["by"] != "component" {
		t.Errorf("annotations %v: where it came from must not stay in the object", got)
	}
	if !strings.HasPrefix(out.Isolation, "child process; ") {
		t.Errorf("isolation %q", out.Isolation)
	}
	if len(out.Notes) != 0 {
		t.Errorf("notes %v: nothing about this machine may be in them", out.Notes)
	}
}

func TestAKustomizationMayAskForOriginsItself(t *testing.T) {
	out := mustRender(t, map[string]string{
		"kustomization.yaml": "resources: [a.yaml]\nbuildMetadata: [originAnnotations]\n", "a.yaml": configMap,
	}, "")
	if got := preview.String(out.Objects[0].Body, "metadata", "annotations", originKey); got != "path: a.yaml\n" {
		t.Errorf("%q", got)
	}
}

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		name, file, text, namespace, err string
		found                            bool
	}{
		{name: "a kustomization suggests its namespace", file: "kustomization.yml", text: "namespace: shop\n", namespace: "shop", found: true},
		{name: "the old name counts", file: "Kustomization", text: "resources: []\n", found: true},
		{name: "other content is not of this format", file: "a.yaml", text: configMap},
		{name: "a component is no package", file: "kustomization.yaml", text: "kind: Component\n", err: "kustomization.yaml is a component: it builds only as part of a kustomization that names it"},
		{name: "a Flux object of that name", file: "kustomization.yaml", text: "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n", err: "kustomization.yaml: apiVersion for Kustomization should be kustomize.config.k8s.io/v1beta1"},
		{name: "a broken file", file: "kustomization.yaml", text: "a: [", err: "kustomization.yaml: line 1: did not find expected node content"},
	} {
		t.Run(c.name, func(t *testing.T) {
			info, err := New().Detect(tree(map[string]string{c.file: c.text}))
			if got := fmt.Sprint(err); c.err != "" && got != c.err || c.err == "" && err != nil {
				t.Fatalf("got %v, want %s", err, c.err)
			}
			if (info != nil) != c.found || info != nil && info.SuggestedNamespace != c.namespace {
				t.Errorf("info %+v", info)
			}
		})
	}
}

func TestParametersThatAKustomizationDoesNotTakeAreNamed(t *testing.T) {
	files := tree(map[string]string{"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": configMap})
	for want, params := range map[string]format.Params{
		"a kustomization takes no values (--values, --set)":                        {Values: map[string]any{"a": 1}},
		"a kustomization has no install modes (--install-mode, --watch-namespace)": {InstallMode: "AllNamespaces"},
		"a kustomization brings its own certificates, if any (--certs)":            {Certs: "none"},
	} {
		_, err := New().Render(t.Context(), format.Input{Content: files, Params: params})
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestTheSameFilesMakeTheSameObjects(t *testing.T) {
	files := map[string]string{
		"kustomization.yaml": "resources: [b.yaml, a.yaml]\nsecretGenerator: [{name: s, files: [key=a.yaml]}]\ncommonLabels: {z: a, w: b}\n",
		"a.yaml":             configMap, "b.yaml": strings.ReplaceAll(configMap, "name: a", "name: b"),
	}
	first := canonical(t, mustRender(t, files, ""))
	for range 3 {
		if again := canonical(t, mustRender(t, files, "")); again != first {
			t.Fatalf("got\n%s\nafter\n%s", again, first)
		}
	}
}

func canonical(t testing.TB, out *format.Output) string {
	t.Helper()
	var text strings.Builder
	for _, o := range out.Objects {
		line, err := preview.Canonical(o.Body)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&text, "%s %v\n", line, o.Origin)
	}
	return text.String()
}

func TestACancelledBuildSaysSo(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	files := tree(map[string]string{"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": configMap})
	if _, err := New().Render(ctx, format.Input{Content: files}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestOfSeveralObjectsInAFileTheNameTellsTheLine(t *testing.T) {
	two := configMap + "---\n" + strings.Replace(configMap, "name: a", "name: b", 1)
	for name, test := range map[string]struct {
		kustomization string
		want          []int
	}{
		"names as in the file":             {"resources: [a.yaml]\n", []int{1, strings.Count(configMap, "\n") + 2}},
		"changed names tell no line apart": {"resources: [a.yaml]\nnamePrefix: x-\n", []int{0, 0}},
	} {
		out := mustRender(t, map[string]string{"kustomization.yaml": test.kustomization, "a.yaml": two}, ".")
		var got []int
		for _, o := range out.Objects {
			got = append(got, o.Origin.Line)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: lines %v, want %v", name, got, test.want)
		}
	}
}
