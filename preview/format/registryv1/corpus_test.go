package registryv1

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

const (
	refusedEtcdCRDs = "custom resource definitions of apiextensions.k8s.io/v1beta1 are not served since Kubernetes 1.22: " +
		"etcdbackups.etcd.database.coreos.com, etcdclusters.etcd.database.coreos.com, etcdrestores.etcd.database.coreos.com; use a newer version of the bundle"
	refusedBuildFile = "manifests/image-references: objects of kind ImageStream cannot be part of a registry+v1 bundle"
)

// refused lists the real bundles that do not render with default parameters,
// each with the one sentence that says why. All others render.
func refused() map[string]string {
	return map[string]string{
		"bundles/aws-efs-csi-driver-operator/4.15.0": refusedBuildFile,
		"bundles/aws-efs-csi-driver-operator/4.16.0": refusedBuildFile,
		"bundles/etcd/0.9.0":                         refusedEtcdCRDs,
		"bundles/etcd/0.9.2":                         refusedEtcdCRDs,
		"bundles/ibmcloud-operator/1.0.12":           "custom resource definitions of apiextensions.k8s.io/v1beta1 are not served since Kubernetes 1.22: bindings.ibmcloud.ibm.com, services.ibmcloud.ibm.com; use a newer version of the bundle",
		"bundles-odd/invalid-annotations":            refusedEtcdCRDs,
		"bundles-odd/invalid-csv":                    "reading the bundle: missing metadata/annotations.yaml; manifests/etcdoperator.v0.9.4.clusterserviceversion.yaml holds a ClusterServiceVersion without it",
		"bundles-odd/invalid-dependency-type":        refusedEtcdCRDs,
		"bundles-odd/invalid-gvk-dependency":         refusedEtcdCRDs,
	}
}

// renderDefault detects and renders a bundle as a user does who gives no flag.
func renderDefault(t testing.TB, dir string, params format.Params) (*format.Output, error) {
	info, err := New().Detect(os.DirFS(dir))
	if err != nil {
		return nil, err
	}
	if info == nil {
		t.Fatalf("%s was not recognised", dir)
	}
	namespace := info.SuggestedNamespace
	if namespace == "" {
		namespace = info.Package
	}
	return New().Render(t.Context(), input(dir, namespace, params))
}

func TestSlowRealBundlesRenderOrAreRefusedWithOneSentence(t *testing.T) {
	slowtest.Skip(t, "the bundles of the corpus")
	root, dirs := corpustest.Dir(t), corpustest.Bundles(t)
	want := refused()
	count := map[string]int{}
	for _, dir := range dirs {
		name, err := filepath.Rel(root, dir)
		if err != nil {
			t.Fatal(err)
		}
		count[strings.SplitN(name, string(filepath.Separator), 2)[0]]++
		out, err := renderDefault(t, dir, format.Params{})
		got := ""
		if err != nil {
			got = err.Error()
			t.Logf("%-50s %s", name, got)
		} else {
			t.Logf("%-50s %3d objects  %-14s %s", name, len(out.Objects), out.Resolved.InstallMode, out.Resolved.Certs)
		}
		if got != want[name] {
			t.Errorf("%s: got %q, want %q", name, got, want[name])
		}
		delete(want, name)
	}
	for name := range want {
		t.Errorf("%s is listed and was not found", name)
	}
	if count["bundles"] != 62 {
		t.Errorf("%d bundles, want 62", count["bundles"])
	}
}

// TestSlowRealBundlesRenderInEveryMode renders what is valid in each supported
// mode, the first one twice: two runs make the same bytes.
func TestSlowRealBundlesRenderInEveryMode(t *testing.T) {
	slowtest.Skip(t, "rendering every bundle of the corpus in every mode")
	root, dirs := corpustest.Dir(t), corpustest.Bundles(t)
	broken := refused()
	for _, dir := range dirs {
		name, err := filepath.Rel(root, dir)
		if err != nil {
			t.Fatal(err)
		}
		b, err := loadBundle(t.Context(), os.DirFS(dir))
		if err != nil || validate(b) != nil {
			if broken[name] == "" {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		for i, mode := range b.csv.supportedModes() {
			params := format.Params{InstallMode: mode}
			switch mode {
			case singleNamespace:
				params.WatchNamespaces = []string{"watched"}
			case multiNamespace:
				params.WatchNamespaces = []string{"watched-b", "watched-a"}
			}
			text := renderText(t, dir, params)
			if i == 0 && renderText(t, dir, params) != text {
				t.Errorf("%s, %s: two runs differ", name, mode)
			}
		}
	}
}

func renderText(t *testing.T, dir string, params format.Params) string {
	t.Helper()
	out, err := renderDefault(t, dir, params)
	if err != nil {
		t.Fatalf("%s, %s: %v", dir, params.InstallMode, err)
	}
	list := ids(out)
	slices.Sort(list)
	if n := len(list); len(slices.Compact(list)) != n {
		t.Errorf("%s, %s: an id occurs twice", dir, params.InstallMode)
	}
	var text strings.Builder
	for _, o := range out.Objects {
		data, err := preview.Canonical(o.Body)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(data)
	}
	return text.String()
}

func TestMongoDBRendersItsWebhooks(t *testing.T) {
	out, err := renderDefault(t, corpustest.Dir(t, "bundles", "mongodb-kubernetes", "1.10.0"), format.Params{})
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, o := range out.Objects {
		count[preview.String(o.Body, "kind")]++
	}
	if count["CustomResourceDefinition"] != 8 || count["ValidatingWebhookConfiguration"] != 3 {
		t.Errorf("got %v, want 8 CRDs and 3 webhooks", count)
	}
}

func BenchmarkRenderLargest(b *testing.B) {
	dir := corpustest.Dir(b, "bundles", "argocd-operator", "0.18.0")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := renderDefault(b, dir, format.Params{}); err != nil {
			b.Fatal(err)
		}
	}
}
