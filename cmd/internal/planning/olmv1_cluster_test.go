package planning_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/source/sourcetest"
)

// clusterExtensions defines ClusterExtensions as far as they are read here.
const clusterExtensions = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: clusterextensions.olm.operatorframework.io}
spec:
  group: olm.operatorframework.io
  scope: Cluster
  names: {kind: ClusterExtension, plural: clusterextensions, singular: clusterextension, listKind: ClusterExtensionList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// extensionWorld is a control plane where Helm 3 writes what operator-controller lets it
// write: the controller itself cannot be built, because a module that it needs is not served.
type extensionWorld struct {
	*fluxWorld
	helm string
}

func newExtensionWorld(t *testing.T) *extensionWorld {
	t.Helper()
	slowtest.Skip(t, "tests against the embedded control plane")
	helm, err := filepath.Abs(filepath.Join("..", "..", "..", "bin", "helm3"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(helm); err != nil {
		t.Skip("skipped: Helm 3 is not built; run \"make helm\"")
	}
	sb := sandboxtest.Borrow(t)
	w := &extensionWorld{&fluxWorld{T: t, box: sb, raw: sandboxtest.NewRawClient(t, sb.Kubeconfig()), registry: sourcetest.Plain(t)}, helm}
	if w.client, err = k8s.Connect(t.Context(), k8s.Options{Kubeconfig: sb.Kubeconfig()}); err != nil {
		t.Fatal(err)
	}
	w.apply(t, clusterExtensions)
	w.until(t, preview.Ref{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition", Name: "clusterextensions.olm.operatorframework.io"}, "served", func(body map[string]any) bool {
		for _, condition := range preview.Maps(preview.Map(body, "status"), "conditions") {
			if preview.String(condition, "type") == "Established" {
				return preview.String(condition, "status") == "True"
			}
		}
		return false
	})
	w.namespace(t, "olmv1-system")
	w.namespace(t, "olm") // of the unpacked bundles
	return w
}

// reconcile does with a plan what operator-controller does: it installs or upgrades a chart of
// the objects, without what Helm adds itself, and keeps the record in its own way.
func (w *extensionWorld) reconcile(t *testing.T, plan *preview.Plan, name, namespace string, bundle *catalogBundle, revision int) {
	t.Helper()
	ext := w.until(t, extensionRef(name), "there", func(map[string]any) bool { return true })
	chart := map[string]string{"Chart.yaml": "{apiVersion: v2, name: x, version: 0.0.1}"}
	for i := range plan.Objects {
		o := &plan.Objects[i]
		if o.Planned == nil {
			continue
		}
		body := preview.CloneBody(o.Planned)
		meta := preview.Map(body, "metadata")
		delete(preview.Map(meta, "labels"), "app.kubernetes.io/managed-by")
		delete(preview.Map(meta, "annotations"), "meta.helm.sh/release-name")
		delete(preview.Map(meta, "annotations"), "meta.helm.sh/release-namespace")
		for _, owner := range preview.Maps(meta, "ownerReferences") {
			owner["uid"] = preview.UID(ext)
		}
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		chart[fmt.Sprintf("objects/%d.json", i)] = string(text)
		chart[fmt.Sprintf("templates/%d.json", i)] = fmt.Sprintf(`{{.Files.Get "objects/%d.json"}}`, i)
	}
	c := exec.CommandContext(t.Context(), w.helm, "upgrade", "--install", name, files(t, chart), "-n", namespace)
	c.Env = append(os.Environ(), "KUBECONFIG="+w.box.Kubeconfig())
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	w.keepRecord(t, name, namespace, revision)
	w.send(t, http.MethodPatch, pathOf(extensionRef(name))+"/status", sandboxtest.MergePatch, map[string]any{
		"status": map[string]any{"install": map[string]any{"bundle": map[string]any{"name": bundle.name, "version": bundle.version}}},
	})
}

// keepRecord writes the record of Helm as operator-controller keeps it, in two parts.
func (w *extensionWorld) keepRecord(t *testing.T, name, namespace string, revision int) {
	t.Helper()
	key := fmt.Sprintf("sh.helm.release.v1.%s.v%d", name, revision)
	r := w.client.Read(t.Context(), []preview.Ref{{APIVersion: "v1", Kind: "Secret", Namespace: namespace, Name: key}})[0]
	text, err := base64.StdEncoding.DecodeString(preview.String(r.Body, "data", "release"))
	if err != nil || r.Err != nil {
		t.Fatal(err, r.Err)
	}
	data, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil {
		t.Fatal(err)
	}
	half := len(data) / 2
	names, _ := json.Marshal([]string{key + "-rest"}) // of texts
	secret := func(name, kind string, labels, values map[string]any) {
		w.send(t, http.MethodPost, "/api/v1/namespaces/olmv1-system/secrets", "application/json", map[string]any{
			"apiVersion": "v1", "kind": "Secret", "type": kind, "data": values, "metadata": map[string]any{"name": name, "namespace": "olmv1-system", "labels": labels},
		})
	}
	if revision > 1 {
		before := preview.Ref{APIVersion: "v1", Kind: "Secret", Namespace: "olmv1-system", Name: fmt.Sprintf("sh.helm.release.v1.%s.v%d", name, revision-1)}
		w.send(t, http.MethodPatch, pathOf(before), sandboxtest.MergePatch, map[string]any{"metadata": map[string]any{"labels": map[string]any{"status": "superseded"}}})
	}
	secret(key, "operatorframework.io/index.v1", map[string]any{"owner": "operator-controller", "name": name, "version": fmt.Sprint(revision), "status": "deployed", "type": "index", "key": key},
		map[string]any{"chunk": base64.StdEncoding.EncodeToString(data[:half]), "extraChunks": base64.StdEncoding.EncodeToString(names)})
	secret(key+"-rest", "operatorframework.io/chunk.v1", map[string]any{"owner": "operator-controller", "type": "chunk", "key": key},
		map[string]any{"chunk": base64.StdEncoding.EncodeToString(data[half:])})
}

// refusesHalfARecord previews with a part of the newest record gone.
func (w *extensionWorld) refusesHalfARecord(t *testing.T, olm *olmWorld, request, name string, revision int) {
	t.Helper()
	part := preview.Ref{APIVersion: "v1", Kind: "Secret", Namespace: "olmv1-system", Name: fmt.Sprintf("sh.helm.release.v1.%s.v%d-rest", name, revision)}
	body := w.client.Read(t.Context(), []preview.Ref{part})[0].Body
	w.send(t, http.MethodDelete, pathOf(part), "application/json", nil)
	if _, err := olm.planText(t, request, preview.ReadDryRun); err == nil || !strings.Contains(err.Error(), part.Name) {
		t.Errorf("with half a record: %v", err)
	}
	delete(preview.Map(body, "metadata"), "resourceVersion")
	w.send(t, http.MethodPost, "/api/v1/namespaces/olmv1-system/secrets", "application/json", body)
}

func extensionRef(name string) preview.Ref {
	return preview.Ref{APIVersion: "olm.operatorframework.io/v1", Kind: "ClusterExtension", Name: name}
}

// TestClusterOLMv1WritesAsPredicted has Helm 3 write what operator-controller has it write, and
// compares the objects with the preview of the ClusterExtension.
func TestClusterOLMv1WritesAsPredicted(t *testing.T) {
	w := newExtensionWorld(t)
	modes := []string{"OwnNamespace\n    supported: true", "OwnNamespace\n    supported: false", "AllNamespaces\n    supported: false", "AllNamespaces\n    supported: true"}
	olm := &olmWorld{fluxWorld: w.fluxWorld}
	for i, s := range []*olmStory{
		{name: "all-one", from: written(t, "one", "1.0.0", nil, modes...), to: written(t, "one", "1.1.0", nil, append([]string{"- --leader-elect", "- --leader-elect\n                - --verbose"}, modes...)...)},
		{name: "all-files", from: written(t, "two", "1.0.0", moreFiles("two", "a"), modes...), to: written(t, "two", "1.1.0", moreFiles("two", "b"), modes...)},
		{name: "all-dropped", from: written(t, "three", "1.0.0", moreFiles("three", "a"), modes...), to: written(t, "three", "1.1.0", nil, modes...)},
		{name: "limitador", from: corpusBundle(t, "limitador-operator", "0.10.0"), to: corpusBundle(t, "limitador-operator", "0.11.0")},
		{name: "attune", from: corpusBundle(t, "attune", "0.1.22"), to: corpusBundle(t, "attune", "0.1.23")},
	} {
		if s.from == nil {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			namespace := fmt.Sprintf("extension-%d", i)
			w.namespace(t, namespace)
			olm.publish(t, []*olmStory{s})
			text := `{"apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension", "metadata": {"name": "` + s.name + `"},
 "spec": {"namespace": "` + namespace + `", "source": {"sourceType": "Catalog", "catalog": {"packageName": "` + s.next.pkg + `", "version": "VERSION"}}}}`
			for n, b := range []*catalogBundle{s.installed, s.next} {
				request := strings.ReplaceAll(text, "VERSION", b.version)
				plan := olm.previewText(t, request)
				if by := plan.AppliedBy; by == nil || by.Tool != preview.ApplierOLMv1 || n == 1 && (by.State != s.installed.name || by.Revision != 1) {
					t.Fatalf("applied by %+v", by)
				}
				w.apply(t, request)
				w.reconcile(t, plan, s.name, namespace, b, n+1)
				olm.asPredicted(t, plan, b)
				if got := changes(olm.previewText(t, request)); len(got) > 0 {
					t.Errorf("afterwards: %v", got)
				}
				w.refusesHalfARecord(t, olm, request, s.name, n+1)
			}
		})
	}
}
