package registryv1

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

func input(dir, namespace string, params format.Params) format.Input {
	return format.Input{
		Content: os.DirFS(dir),
		Release: preview.Release{Name: "release", Namespace: namespace},
		Params:  params,
	}
}

// sealedForm is the canonical JSON of an object as it would be sealed.
func sealedForm(t *testing.T, body map[string]any) string {
	t.Helper()
	if _, err := preview.Normalize(body, true); err != nil {
		t.Fatal(err)
	}
	data, err := preview.Canonical(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func expected(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", dir, len(files), err)
	}
	out := map[string]string{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		docs, err := preview.Decode(data)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, doc := range docs {
			body := doc.(map[string]any)
			out[preview.RefOf(body).ID()] = sealedForm(t, body)
		}
	}
	return out
}

func TestRenderMatchesUpstream(t *testing.T) {
	const name = "argocd-operator.v0.6.0"
	root := corpustest.Dir(t, "convert")
	crds := expected(t, filepath.Join(root, "expected-manifests", name, "all-namespaces"))
	for id := range crds {
		if !strings.HasPrefix(id, "apiextensions.k8s.io/") {
			delete(crds, id)
		}
	}
	for _, tc := range []struct {
		name   string
		params format.Params
	}{
		{name: "all-namespaces"},
		{name: "own-namespace", params: format.Params{Values: map[string]any{"watchNamespace": "argocd-system"}}},
		{name: "with-deploymentconfig-options", params: format.Params{Values: upstreamConfig(t)}},
		{name: "with-empty-affinity", params: format.Params{Values: map[string]any{
			"deploymentConfig": map[string]any{"affinity": map[string]any{}},
		}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want := expected(t, filepath.Join(root, "expected-manifests", name, tc.name))
			for id, body := range crds {
				want[id] = body
			}
			out, err := New().Render(context.Background(), input(filepath.Join(root, "bundles", name), "argocd-system", tc.params))
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range out.Objects {
				id := preview.RefOf(o.Body).ID()
				if got := sealedForm(t, o.Body); got != want[id] {
					t.Errorf("%s:\ngot  %s\nwant %s", id, cut(got), cut(want[id]))
				}
				delete(want, id)
			}
			for id := range want {
				t.Errorf("%s was not rendered", id)
			}
		})
	}
}

func cut(s string) string {
	if len(s) > 6000 {
		return s[:6000]
	}
	return s
}

// upstreamConfig is the deploymentConfig of the upstream regression case.
func upstreamConfig(t *testing.T) map[string]any {
	t.Helper()
	docs, err := preview.Decode([]byte(`
deploymentConfig:
  nodeSelector: {kubernetes.io/os: linux}
  tolerations:
  - {key: some/key, operator: Equal, effect: NoSchedule}
  - {key: someother/key, operator: Exists, effect: NoExecute, tolerationSeconds: 120}
  resources:
    requests: {cpu: 100m, memory: 128Mi}
    limits: {cpu: 500m, memory: 512Mi}
  env:
  - {name: CUSTOM_ENV_VAR, value: custom-value}
  - {name: LOG_LEVEL, value: debug}
  envFrom:
  - prefix: test
  - configMapRef: {name: configmapForTest}
  - secretRef: {name: secretForTest}
  volumes:
  - {name: test-configmap-volume, configMap: {name: testVolumeConfigMap}}
  - {name: test-emptydir-volume, emptyDir: {}}
  volumeMounts:
  - {name: test-configmap-volume, mountPath: /test-volume-mount, readOnly: true}
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions: [{key: kubernetes.io/os, operator: In, values: [linux]}]
          matchFields: [{key: key, operator: In, values: [val1, val2]}]
    podAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
      - labelSelector: {matchLabels: {app.kubernetes.io/name: test-app}}
        topologyKey: topKey
        namespaces: [test, test2]
    podAntiAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          labelSelector: {matchLabels: {app.kubernetes.io/name: test-app-2}}
          topologyKey: topKey2
  annotations: {foo: bar, testkey: testval}
`))
	if err != nil {
		t.Fatal(err)
	}
	return docs[0].(map[string]any)
}
