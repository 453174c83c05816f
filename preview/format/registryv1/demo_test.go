package registryv1

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
)

// demo is the directory of the project's own bundles.
func demo() string { return filepath.Join("..", "..", "..", "testdata", "bundles") }

func TestDemoBundlesRenderWithTheirDefaults(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(demo(), "*", "*"))
	if err != nil || len(dirs) != 6 {
		t.Fatalf("%d bundles, %v; want 6", len(dirs), err)
	}
	for _, dir := range dirs {
		info, err := New().Detect(os.DirFS(dir))
		if err != nil {
			t.Errorf("%s: %v", dir, err)
			continue
		}
		pkg, version := filepath.Base(filepath.Dir(dir)), filepath.Base(dir)
		want := format.Info{Format: Name, Package: pkg, Version: version, Bundle: pkg + ".v" + version, SuggestedNamespace: pkg}
		if *info != want {
			t.Errorf("%s: got %+v, want %+v", dir, *info, want)
		}
		out, err := New().Render(t.Context(), input(dir, pkg, format.Params{}))
		if err != nil {
			t.Errorf("%s: %v", dir, err)
			continue
		}
		for _, o := range out.Objects {
			if _, err := preview.Canonical(o.Body); err != nil {
				t.Errorf("%s: %v", dir, err)
			}
		}
		for _, n := range out.Notes {
			if n.Rule != rules.WebhookCertificates.Name {
				t.Errorf("%s: note %v; the defaults have none but the provider of certificates", dir, n)
			}
		}
	}
}
