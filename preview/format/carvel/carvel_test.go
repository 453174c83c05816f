package carvel

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/format/child"
	"github.com/kubectl-operator/kubectl-operator/preview/format/kustomize"
	"github.com/kubectl-operator/kubectl-operator/preview/format/plain"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

func TestMain(m *testing.M) {
	child.Main(kustomize.Task())
	os.Exit(m.Run())
}

var (
	app  = "registry.example.com/app@sha256:" + strings.Repeat("a", 64)
	side = "registry.example.com/side@sha256:" + strings.Repeat("b", 64)

	lockText = "apiVersion: imgpkg.carvel.dev/v1alpha1\nkind: ImagesLock\nimages:\n" +
		"- image: " + app + "\n  annotations: {kbld.carvel.dev/id: 'app:1.2'}\n" +
		"- image: " + side + "\n"
)

const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: app}
spec:
  template:
    spec:
      initContainers: [{name: i, image: "app:1.2"}]
      containers: [{name: c, image: "app:1.2"}, {name: d, image: "other:1"}]
`

func tree(files map[string]string) fs.FS {
	out := fstest.MapFS{lockFile: {Data: []byte(lockText)}}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

func render(t testing.TB, content fs.FS) (*format.Info, *format.Output, error) {
	t.Helper()
	f := New(kustomize.New(), plain.New())
	info, err := f.Detect(content)
	if err != nil {
		return nil, nil, err
	}
	if info == nil {
		t.Fatal("it is not recognised")
	}
	info.Package = "demo"
	out, err := f.Render(t.Context(), format.Input{Content: content, Info: *info, Release: preview.Release{Name: "demo", Namespace: "demo-system"}})
	return info, out, err
}

func TestLockedImagesTakeThePlaceOfTags(t *testing.T) {
	info, out, err := render(t, tree(map[string]string{"config/app.yml": deployment, "README.md": ""}))
	if err != nil {
		t.Fatal(err)
	}
	if info.Format != "imgpkg/plain+v0" {
		t.Errorf("format %q", info.Format)
	}
	var images []string
	for _, list := range []string{"initContainers", "containers"} {
		for _, c := range preview.List(out.Objects[0].Body, "spec", "template", "spec", list) {
			images = append(images, preview.String(c.(map[string]any), "image"))
		}
	}
	if want := []string{app, app, "other:1"}; !slices.Equal(images, want) {
		t.Errorf("images %v, want %v", images, want)
	}
	if !slices.Equal(out.RelatedImages, []string{app, side}) {
		t.Errorf("related images %v: the lock lists them all", out.RelatedImages)
	}
	want := rules.ImageLocked.Note("apps/Deployment/demo-system/app", "image app:1.2 became "+app+", as the bundle's image lock says")
	if len(out.Notes) != 1 || out.Notes[0] != want {
		t.Errorf("notes %v\nwant  %v", out.Notes, want)
	}
	if origin := out.Objects[0].Origin; origin.File != "config/app.yml" || origin.Line != 1 {
		t.Errorf("origin %v", origin)
	}
}

func TestWhatABundleHolds(t *testing.T) {
	for _, c := range []struct {
		name, format string
		files        map[string]string
	}{
		{"manifests at its root", "imgpkg/plain+v0", map[string]string{"app.yaml": deployment}},
		{"a kustomization at its root, whatever is in config/", "imgpkg/kustomize", map[string]string{"kustomization.yaml": "resources: [config/app.yaml]", "config/app.yaml": deployment}},
		{"a kustomization in config/ that looks around", "imgpkg/kustomize", map[string]string{
			"config/kustomization.yaml": "resources: [../base]", "base/kustomization.yaml": "resources: [app.yaml]", "base/app.yaml": deployment}},
	} {
		t.Run(c.name, func(t *testing.T) {
			info, out, err := render(t, tree(c.files))
			if err != nil {
				t.Fatal(err)
			}
			if info.Format != c.format || len(out.Objects) != 1 || len(out.Notes) != 1 {
				t.Errorf("%s, %d objects, notes %v", info.Format, len(out.Objects), out.Notes)
			}
		})
	}
}

func TestWhatConfiguresCarvelsToolsIsNamedAndNotSent(t *testing.T) {
	_, out, err := render(t, tree(map[string]string{
		"config/app.yml": deployment, "config/kbld.yml": "apiVersion: kbld.k14s.io/v1alpha1\nkind: Config\n",
		".imgpkg/bundles/sha256-0/x.yml": "",
	}))
	if err != nil {
		t.Fatal(err)
	}
	var notes []string
	for _, n := range out.Notes {
		notes = append(notes, n.Rule+" "+n.Object)
	}
	want := []string{"tool-config-not-read package/demo", "image-locked apps/Deployment/demo-system/app", "nested-bundles package/demo"}
	if len(out.Objects) != 1 || !slices.Equal(notes, want) {
		t.Errorf("%d objects, notes %v", len(out.Objects), notes)
	}
}

func TestWhatIsRefused(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"a lock of another kind", map[string]string{lockFile: "apiVersion: v1\nkind: ConfigMap\n"}, `.imgpkg/images.yml: it is of kind "ConfigMap" of "v1", not ImagesLock of imgpkg.carvel.dev/v1alpha1`},
		{"a lock that locks nothing", map[string]string{lockFile: strings.Replace(lockText, side, "nginx:1.2", 1)}, `.imgpkg/images.yml: images[1]: "nginx:1.2" is not an image with its digest`},
		{"a reference locked twice", map[string]string{lockFile: lockText + "  annotations: {kbld.carvel.dev/id: 'app:1.2'}\n"}, `.imgpkg/images.yml: images[1]: "app:1.2" is locked to two images`},
		{"no list", map[string]string{lockFile: "apiVersion: imgpkg.carvel.dev/v1alpha1\nkind: ImagesLock\nimages: x\n"}, ".imgpkg/images.yml: images is not a list"},
		{"an empty bundle", nil, "the bundle has an image lock and nothing to install: neither manifests nor a kustomization or chart, at its root or in config/"},
		{"a template", map[string]string{"config/app.yml": deployment + "#@ end\n"}, "app.yml line 4: it is a ytt template, which is not run here; keep what ytt makes of it"},
		{"tools' configuration alone", map[string]string{"config/kbld.yml": "apiVersion: kbld.k14s.io/v1alpha1\nkind: Config\n"}, "the bundle holds configuration of Carvel's tools and no object"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := render(t, tree(c.files))
			if got := fmt.Sprint(err); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// A lock passes only references with digests, each reference with one.
func FuzzImageLock(f *testing.F) {
	f.Add([]byte(lockText))
	f.Add([]byte("apiVersion: imgpkg.carvel.dev/v1alpha1\nkind: ImagesLock\nimages: [1, {image: null}]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := parseLock(data)
		if err != nil {
			return
		}
		for id, image := range l.byID {
			if id == "" || !digested.MatchString(image) || !slices.Contains(l.images, image) {
				t.Errorf("%q → %q", id, image)
			}
		}
	})
}
