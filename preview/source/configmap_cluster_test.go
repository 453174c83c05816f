package source_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/source"
)

func connect(t *testing.T, kubeconfig string) *k8s.Client {
	t.Helper()
	client, err := k8s.Connect(t.Context(), k8s.Options{Kubeconfig: kubeconfig})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// apply writes an object: a new one, or over what it was.
func apply(t *testing.T, client *k8s.Client, body, was map[string]any) map[string]any {
	t.Helper()
	live, err := client.Apply(t.Context(), preview.DryRun{
		Body: body, UID: preview.String(was, "metadata", "uid"), ResourceVersion: preview.String(was, "metadata", "resourceVersion"),
	})
	if err != nil {
		t.Fatal(err)
	}
	return live
}

func configMap(name string, data, binary map[string]any) map[string]any {
	return map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": name, "namespace": "sources"},
		"data":     data, "binaryData": binary,
	}
}

func TestClusterConfigMapsOfACluster(t *testing.T) {
	box := sandboxtest.Start(t)
	client := connect(t, box.Kubeconfig())
	apply(t, client, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "sources"}}, nil)
	apply(t, client, configMap("flat", map[string]any{"csv.yaml": "kind: ClusterServiceVersion\n"}, map[string]any{"crd.yaml": base64.StdEncoding.EncodeToString([]byte("kind: CustomResourceDefinition\n"))}), nil)
	apply(t, client, configMap("packed", nil, map[string]any{"bundle.tar": base64.StdEncoding.EncodeToString(bundleTar(t, "x"))}), nil)
	options := func(t *testing.T) source.Options { return source.Options{CacheDir: t.TempDir(), Cluster: client} }

	t.Run("keys are files in manifests/, and answer again offline", func(t *testing.T) {
		o := options(t)
		pin, content, err := get(t.Context(), o, "configmap://sources/flat")
		if err != nil {
			t.Fatal(err)
		}
		mustHold(t, content.FS, "manifests/crd.yaml", "manifests/csv.yaml")
		if pin.Source.Kind != "configmap" {
			t.Errorf("pin %+v", pin.Source)
		}
		o.Offline, o.Cluster = true, nil
		again, content, err := get(t.Context(), o, "configmap://sources/flat")
		if err != nil || again.Source != pin.Source {
			t.Fatalf("offline: %+v, %v", again.Source, err)
		}
		mustHold(t, content.FS, "manifests/crd.yaml", "manifests/csv.yaml")
	})
	t.Run("a key that is an archive is the content", func(t *testing.T) {
		_, content, err := get(t.Context(), options(t), "configmap://sources/packed")
		if err != nil {
			t.Fatal(err)
		}
		mustHold(t, content.FS, "manifests/csv.yaml", "metadata/annotations.yaml")
	})
	t.Run("a ConfigMap that changes does not open by its pin", func(t *testing.T) {
		was := apply(t, client, configMap("moving", map[string]any{"x.yaml": "before"}, nil), nil)
		o := options(t)
		pin, _, err := get(t.Context(), o, "configmap://sources/moving")
		if err != nil {
			t.Fatal(err)
		}
		apply(t, client, configMap("moving", map[string]any{"x.yaml": "after"}, nil), was)
		fromCache := source.Pin{Source: pin.Source, Reference: pin.Reference}
		content, err := source.New(o).Open(t.Context(), fromCache)
		if err != nil || files(t, content.FS)["manifests/x.yaml"] != "before" {
			t.Errorf("the cache answered otherwise: %v", err)
		}
		o.CacheDir = t.TempDir()
		if _, err := source.New(o).Open(t.Context(), fromCache); !errors.Is(err, source.ErrDigestMismatch) {
			t.Errorf("got %v, want a digest mismatch", err)
		}
	})
	t.Run("one that is not there", func(t *testing.T) {
		_, _, err := get(t.Context(), options(t), "configmap://sources/none")
		mustFail(t, err, "the cluster does not have it")
	})
	t.Run("a user who may not read it", func(t *testing.T) {
		o := options(t)
		o.Cluster = connect(t, sandboxtest.User(t, box, "nobody"))
		_, _, err := get(t.Context(), o, "configmap://sources/flat")
		if err == nil || !strings.Contains(err.Error(), "get on configmaps in namespace sources") {
			t.Errorf("got %v", err)
		}
	})
}
