package registryv1

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// everyWebhook is a CSV of all three types on two deployments, of which one
// mounts volumes where the certificates belong.
func everyWebhook(t testing.TB) func(map[string]any) {
	return all(modes(t, allNamespaces), set(t, "install.spec.deployments", `
  - name: demo
    spec:
      selector: {matchLabels: {app: demo}}
      template:
        spec:
          containers:
          - {name: manager, volumeMounts: [{name: old, mountPath: /tmp/k8s-webhook-server/serving-certs}, {name: data, mountPath: /data}]}
          - {name: proxy, volumeMounts: [{name: webhook-cert, mountPath: /elsewhere}, {name: old, mountPath: /old}]}
          initContainers: [{name: init}]
          volumes: [{name: old, secret: {secretName: old}}, {name: data, emptyDir: {}}, {name: apiservice-cert, emptyDir: {}}]
  - name: plain
    spec: {selector: {matchLabels: {app: plain}}, template: {spec: {containers: [{name: plain}]}}}`),
		set(t, hooks, `
  - {type: ConversionWebhook, generateName: c.example.com, deploymentName: demo, targetPort: web, admissionReviewVersions: [v1], conversionCRDs: [things.example.com]}
  - {type: MutatingAdmissionWebhook, generateName: m.example.com, deploymentName: demo, containerPort: 8443, targetPort: 9443,
     webhookPath: /mutate, failurePolicy: Ignore, reinvocationPolicy: IfNeeded, sideEffects: None, timeoutSeconds: 5, admissionReviewVersions: [v1], rules: [{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [things]}]}
  - {type: ValidatingAdmissionWebhook, generateName: v.example.com, deploymentName: demo, webhookPath: /validate, matchPolicy: Exact, objectSelector: {matchLabels: {a: b}}, reinvocationPolicy: dropped}`))
}

func TestCertificateProviders(t *testing.T) {
	for _, certs := range []string{certManager, serviceCA, certsNone} {
		t.Run(certs, func(t *testing.T) {
			out := mustRender(t, makeBundle(t, everyWebhook(t), nil), format.Params{Certs: certs})
			if out.Resolved.Certs != certs {
				t.Errorf("resolved certs %q", out.Resolved.Certs)
			}
			var text strings.Builder
			encoder := yaml.NewEncoder(&text)
			encoder.SetIndent(2)
			for _, o := range out.Objects {
				if err := encoder.Encode(o.Body); err != nil {
					t.Fatal(err)
				}
			}
			if err := encoder.Close(); err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("testdata", "webhooks-"+certs+".yaml"), text.String())
		})
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
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; run the test with -update and read the difference\n%s", file, got)
	}
}

func TestCertsDefaults(t *testing.T) {
	withHook := set(t, hooks, "["+hook+"]")
	for _, tc := range []struct {
		name   string
		change func(map[string]any)
		flag   string
		want   string
		err    string
	}{
		{name: "cert-manager for a bundle with webhooks", change: withHook, want: certManager},
		{name: "the flag wins", change: withHook, flag: serviceCA, want: serviceCA},
		{name: "nothing for a bundle without webhooks", flag: certManager, want: ""},
		{name: "an unknown provider", flag: "vault", err: `certs "vault": want one of cert-manager, service-ca, none`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out, err := renderFS(t, makeBundle(t, tc.change, nil), format.Params{Certs: tc.flag})
			if tc.err != "" || err != nil {
				wantError(t, err, tc.err)
				return
			}
			if out.Resolved.Certs != tc.want {
				t.Errorf("got %q, want %q", out.Resolved.Certs, tc.want)
			}
		})
	}
}

func TestWebhooksSelectTheWatchedNamespaces(t *testing.T) {
	out := mustRender(t, makeBundle(t, set(t, hooks, "["+hook+"]"), nil), format.Params{WatchNamespaces: []string{"b", "a"}})
	body := find(t, out, "admissionregistration.k8s.io/ValidatingWebhookConfiguration/-/v.example.com")
	webhook := preview.List(body, "webhooks")[0].(map[string]any)
	wantEqual(t, "namespaceSelector", webhook["namespaceSelector"],
		yamlMap(t, `matchExpressions: [{key: kubernetes.io/metadata.name, operator: In, values: [a, b]}]`))
}

func TestServicePortsAreASet(t *testing.T) {
	const at = "type: MutatingAdmissionWebhook, deploymentName: demo"
	out := mustRender(t, makeBundle(t, set(t, hooks, `[
		{`+at+`, generateName: a.example.com, containerPort: 9000},
		{`+at+`, generateName: b.example.com, containerPort: 443, targetPort: web},
		{`+at+`, generateName: c.example.com},
		{`+at+`, generateName: d.example.com, targetPort: 443}]`), nil), format.Params{})
	wantEqual(t, "ports", preview.Value(find(t, out, "core/Service/demo-system/demo-service"), "spec", "ports"),
		yamlMap(t, `ports: [{name: "443", port: 443, targetPort: 443}, {name: "443", port: 443, targetPort: web}, {name: "9000", port: 9000, targetPort: 9000}]`)["ports"])
}
