package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/format/registryv1"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

// bundle is a bundle of this project's own test data.
func bundle(name, version string) string {
	return filepath.Join("..", "..", "testdata", "bundles", name, version)
}

// contentOf reads, renders and seals a bundle directory.
func contentOf(t testing.TB, dir string, params format.Params) (planned.Content, preview.Release, error) {
	t.Helper()
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	reference, err := ref.Parse(dir)
	if err != nil {
		t.Fatal(err)
	}
	fetcher := source.New(source.Options{CacheDir: t.TempDir()})
	pin, err := fetcher.Pin(t.Context(), reference)
	if err != nil {
		return planned.Content{}, preview.Release{}, err
	}
	content, err := fetcher.Open(t.Context(), pin)
	if err != nil {
		return planned.Content{}, preview.Release{}, err
	}
	f := registryv1.New()
	info, err := f.Detect(content.FS)
	if err != nil || info == nil {
		return planned.Content{}, preview.Release{}, err
	}
	release := preview.Release{Name: info.Package, Namespace: info.Package}
	if info.SuggestedNamespace != "" {
		release.Namespace = info.SuggestedNamespace
	}
	output, err := f.Render(t.Context(), format.Input{Content: content.FS, Release: release, Params: params})
	if err != nil {
		return planned.Content{}, release, err
	}
	sealed, err := planned.Prepare(release, planned.Material{Info: *info, Output: output, Values: params.Values, Sources: []preview.Source{content.Source}})
	return sealed, release, err
}

func offline(t testing.TB, dir string, params format.Params) (*preview.Plan, error) {
	t.Helper()
	content, release, err := contentOf(t, dir, params)
	if err != nil {
		return nil, err
	}
	return engine.Build(context.Background(), []planned.Content{content}, nil, engine.Options{
		Tool: "test", Release: release, Request: preview.Request{Reference: dir, Action: preview.RequestInstall},
		Apply: preview.DefaultOptions(), Schemas: k8s.NewSchemas(),
	})
}

func mustOffline(t testing.TB, dir string) *preview.Plan {
	t.Helper()
	p, err := offline(t, dir, format.Params{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestOfflinePlanCreatesEverything(t *testing.T) {
	p := mustOffline(t, bundle("mongodb", "1.10.0"))
	if p.ReadMode != preview.ReadOffline || !p.Complete || p.Summary.Create != len(p.Objects) || len(p.Objects) == 0 {
		t.Errorf("read mode %s, complete %v, %d of %d created", p.ReadMode, p.Complete, p.Summary.Create, len(p.Objects))
	}
	for _, o := range p.Objects {
		if o.Package == "" {
			if o.Kind != "Namespace" || preview.Map(o.Planned, "metadata", "labels") != nil {
				t.Errorf("%s belongs to no package and has labels", o.ID)
			}
			continue
		}
		if !preview.IsMember(o.Planned, p.Release) || o.Digest == "" || o.Origin.File == "" {
			t.Errorf("%s: sealed without mark, digest or origin", o.ID)
		}
	}
	if p.Packages[0].ContentDigest != p.ContentDigest || p.Digest == p.ContentDigest {
		t.Errorf("digests %s and %s", p.ContentDigest, p.Digest)
	}
}

// The API server makes some namespaces itself, so that no plan creates them, nor is it a
// plan that changes what others need.
func TestOfflineNamespacesOfEveryClusterAreThere(t *testing.T) {
	for name, created := range map[string]int{"default": 0, "kube-system": 0, "kube-public": 0, "kube-node-lease": 0, "kube": 1, "shop": 1} {
		release := preview.Release{Name: "shop", Namespace: name}
		body := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a", "namespace": name}}
		content, err := planned.Prepare(release, planned.Material{Info: format.Info{Package: "shop"}, Output: &format.Output{Objects: []format.RenderedObject{{Body: body}}}, Sources: []preview.Source{{Kind: "directory", Reference: "./a", Digest: "sha256:" + strings.Repeat("1", 64)}}})
		if err != nil {
			t.Fatal(err)
		}
		p, err := engine.Build(t.Context(), []planned.Content{content}, nil, engine.Options{
			Tool: "test", Release: release, Request: preview.Request{Action: preview.RequestInstall}, Apply: preview.DefaultOptions(), Schemas: k8s.NewSchemas(),
		})
		if err != nil {
			t.Fatal(err)
		}
		got := slices.DeleteFunc(slices.Clone(p.Objects), func(o preview.Object) bool { return !o.Is(preview.KindNamespace) })
		found := slices.ContainsFunc(p.Findings, func(f preview.Finding) bool { return f.Object == "core/Namespace/-/"+name })
		if len(got) != created || found {
			t.Errorf("%s: %d namespaces are created, findings %v", name, len(got), p.Findings)
		}
	}
}

func TestContentDigestIsTheSameInAnyDirectory(t *testing.T) {
	first := mustOffline(t, bundle("mongodb", "1.11.0"))
	elsewhere := filepath.Join(t.TempDir(), "another", "name")
	if err := os.CopyFS(elsewhere, os.DirFS(bundle("mongodb", "1.11.0"))); err != nil {
		t.Fatal(err)
	}
	if second := mustOffline(t, elsewhere); second.ContentDigest != first.ContentDigest || second.Digest != first.Digest {
		t.Errorf("%s / %s", first.ContentDigest, second.ContentDigest)
	}
	changed := filepath.Join(t.TempDir(), "changed")
	if err := os.CopyFS(changed, os.DirFS(bundle("mongodb", "1.11.0"))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(changed, "manifests", "extra.yaml"), []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if third := mustOffline(t, changed); third.ContentDigest == first.ContentDigest {
		t.Error("one more object does not move the content digest")
	}
}

func TestPrepareRefuses(t *testing.T) {
	release := preview.Release{Name: "r", Namespace: "n"}
	for name, c := range map[string]struct {
		docs string
		want string
	}{
		"a generated name":                {"{apiVersion: v1, kind: ConfigMap, metadata: {generateName: x-}}", "generateName"},
		"an object without a name":        {"{apiVersion: v1, kind: ConfigMap, metadata: {}}", "without a name"},
		"a name that would leave a path":  {"{apiVersion: v1, kind: ConfigMap, metadata: {name: ../x}}", "not a name"},
		"a member of another ApplySet":    {"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {applyset.kubernetes.io/part-of: x}}}", "only an installer may set"},
		"a record of a release":           {"{apiVersion: v1, kind: Secret, metadata: {name: kubectl-operator.mongodb, namespace: other}}", "carries the name kubectl-operator.mongodb, which only an installer may set"},
		"a lock of a release":             {"{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: kubectl-operator.mongodb}}", "only an installer may set"},
		"a Secret of the type of records": {"{apiVersion: v1, kind: Secret, metadata: {name: a}, type: kubectl-operator/record}", "the type kubectl-operator/record"},
		"the parent of an ApplySet":       {"{apiVersion: v1, kind: Secret, metadata: {name: a, labels: {applyset.kubernetes.io/id: x}}}", "only an installer may set"},
		"the mark of a release":           {"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, annotations: {kubectl-operator/release: x}}}", "only an installer may set"},
		"two different objects of one id": {"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: '1'}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: '2'}}", "twice with different content"},
		"an object without kind":          {"{apiVersion: v1, metadata: {name: a}}", "without kind"},
		"stringData that is not text":     {"{apiVersion: v1, kind: Secret, metadata: {name: a}, stringData: {k: 1}}", "not a string"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := planned.Prepare(release, material(t, c.docs)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	same := "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"
	if content, err := planned.Prepare(release, material(t, same+"\n---\n"+same)); err != nil || len(content.Objects) != 1 {
		t.Errorf("two equal objects: %d, %v", len(content.Objects), err)
	}
}

func material(t testing.TB, text string) planned.Material {
	t.Helper()
	docs, err := preview.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	output := &format.Output{}
	for i, doc := range docs {
		output.Objects = append(output.Objects, format.RenderedObject{
			Body: doc.(map[string]any), Origin: preview.Origin{File: "manifests/x.yaml", Document: i + 1},
		})
	}
	return planned.Material{Info: format.Info{Package: "p", Version: "1.0.0"}, Output: output, Sources: []preview.Source{{Digest: "sha256:1"}}}
}

func TestWhatNormalisingTookAwayIsReported(t *testing.T) {
	content, err := planned.Prepare(preview.Release{Name: "r", Namespace: "n"},
		material(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, uid: x}}"))
	notes := content.Package.Notes
	if err != nil || len(notes) != 1 || notes[0].Object != "core/ConfigMap/n/a" || !strings.HasPrefix(notes[0].Text, ".metadata.uid ") {
		t.Errorf("notes %v, %v", notes, err)
	}
}

func TestEnvironmentVariablesTwiceAreFoundOffline(t *testing.T) {
	content, err := planned.Prepare(preview.Release{Name: "r", Namespace: "n"}, material(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {selector: {matchLabels: {a: b}},
		template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i, env: [{name: X, value: "1"}, {name: X, value: "2"}]}]}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	p, err := engine.Build(t.Context(), []planned.Content{content}, nil, engine.Options{
		Release: preview.Release{Name: "r", Namespace: "n"}, Schemas: k8s.NewSchemas(),
	})
	if err != nil {
		t.Fatal(err)
	}
	found := slices.IndexFunc(p.Findings, func(f preview.Finding) bool { return f.Rule == rules.NotAppliable.Name })
	if found < 0 || p.Findings[found].Severity != preview.Critical || !strings.Contains(p.Findings[found].Evidence, "X") {
		t.Fatalf("findings %v", p.Findings)
	}
	want := `does not fit the schema of its kind: .spec.template.spec.containers[name="c"].env: duplicate entries for key [name="X"]`
	if all := p.Verdict.Obstacles; len(all) != 1 || all[0].Object != p.Findings[found].Object || all[0].Cause != want {
		t.Errorf("obstacles %+v, want %s", all, want)
	}
}

func TestCustomResourcesAreHeldToTheDefinitionOfTheSamePlan(t *testing.T) {
	const crd = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.example.com}, spec: {
		group: example.com, scope: Namespaced, names: {kind: Thing, plural: things}, versions: [{name: v1, served: true, storage: true,
		schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer, minimum: 1}}}}}}}]}}
---
{apiVersion: example.com/v1, kind: Thing, metadata: {name: a}, spec: {size: `
	for size, want := range map[string]int{"3": 0, "0": 1, "many": 1} {
		content, err := planned.Prepare(preview.Release{Name: "r", Namespace: "n"}, material(t, crd+size+"}}"))
		if err != nil {
			t.Fatal(err)
		}
		p, err := engine.Build(t.Context(), []planned.Content{content}, nil, engine.Options{
			Release: preview.Release{Name: "r", Namespace: "n"}, Schemas: k8s.NewSchemas(),
		})
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for _, f := range p.Findings {
			if f.Rule == rules.NotAppliable.Name {
				got++
			}
		}
		if got != want {
			t.Errorf("size %s: %d findings, want %d", size, got, want)
		}
	}
}

func TestWithoutCertificatesEveryWebhookIsAFinding(t *testing.T) {
	count := func(certs string) (n int) {
		p, err := offline(t, bundle("mongodb", "1.9.0"), format.Params{Certs: certs})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range p.Findings {
			if f.Rule == "webhook-without-ca" && f.Severity == preview.Warning {
				n++
			}
		}
		return n
	}
	for certs, want := range map[string]int{"none": 1, "cert-manager": 0, "service-ca": 0} {
		if got := count(certs); got != want {
			t.Errorf("--certs %s: %d findings, want %d", certs, got, want)
		}
	}
}
