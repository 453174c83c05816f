package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/engine"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/planned"
)

// refused lists the bundles that cannot be previewed, with a part of the one
// sentence that says why; package registryv1 holds the whole sentences. Bundles
// that need an install mode are given one.
var refused = map[string]string{
	"bundles/aws-efs-csi-driver-operator/4.15.0": "ImageStream cannot be part of a registry+v1 bundle",
	"bundles/aws-efs-csi-driver-operator/4.16.0": "ImageStream cannot be part of a registry+v1 bundle",
	"bundles/etcd/0.9.0":                         "not served since Kubernetes 1.22",
	"bundles/etcd/0.9.2":                         "not served since Kubernetes 1.22",
	"bundles/ibmcloud-operator/1.0.12":           "not served since Kubernetes 1.22",
	"bundles-odd/invalid-annotations":            "not served since Kubernetes 1.22",
	"bundles-odd/invalid-csv":                    "missing metadata/annotations.yaml",
	"bundles-odd/invalid-dependency-type":        "not served since Kubernetes 1.22",
	"bundles-odd/invalid-gvk-dependency":         "not served since Kubernetes 1.22",
}

// Every real bundle previews, offline and against a cluster, in another
// directory and with another HOME, with one content digest; or it is refused
// with one sentence. The usual run takes each fourth bundle and all that are
// refused, a soak all.
func TestSlowEveryRealBundleHasOneContentDigest(t *testing.T) {
	slowtest.Skip(t, "the bundles of the corpus")
	box := sandboxtest.Start(t)
	cluster, err := k8s.Connect(t.Context(), k8s.Options{Kubeconfig: box.Kubeconfig()})
	if err != nil {
		t.Fatal(err)
	}
	for i, dir := range corpustest.Bundles(t) {
		name, err := filepath.Rel(corpustest.Dir(t), dir)
		if err != nil {
			t.Fatal(err)
		}
		want, isRefused := refused[name]
		if !isRefused && !slowtest.InSample(i, 4) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			first, release, err := seal(t, dir)
			if isRefused {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want a refusal with %q", err, want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Setenv("HOME", t.TempDir())
			elsewhere := filepath.Join(t.TempDir(), "moved")
			if err := os.CopyFS(elsewhere, os.DirFS(dir)); err != nil {
				t.Fatal(err)
			}
			second, _, err := seal(t, elsewhere)
			if err != nil || second.Package.ContentDigest != first.Package.ContentDigest {
				t.Fatalf("another directory: %s, %v; first %s", second.Package.ContentDigest, err, first.Package.ContentDigest)
			}
			samePlans(t, first, second, release, nil)
			if cluster != nil {
				samePlans(t, first, second, release, cluster)
			}
		})
	}
}

func seal(t *testing.T, dir string) (planned.Content, preview.Release, error) {
	return contentOf(t, dir, format.Params{})
}

// samePlans plans two copies of one content: the digests are equal.
func samePlans(t *testing.T, first, second planned.Content, release preview.Release, cluster engine.Cluster) {
	t.Helper()
	var digests []string
	for _, content := range []planned.Content{first, second} {
		p, err := engine.Build(context.Background(), []planned.Content{content}, cluster, engine.Options{
			Release: release, Apply: preview.DefaultOptions(), Schemas: k8s.NewSchemas(),
			Request: preview.Request{Action: preview.RequestInstall},
		})
		if err != nil {
			t.Fatal(err)
		}
		if p.ContentDigest != first.Package.ContentDigest {
			t.Errorf("%s: content digest %s, want %s", p.ReadMode, p.ContentDigest, first.Package.ContentDigest)
		}
		digests = append(digests, p.Digest)
	}
	if digests[0] != digests[1] {
		t.Errorf("two plans of one content differ: %v", digests)
	}
}
