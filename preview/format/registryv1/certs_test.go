package registryv1

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/format"
	"github.com/kubectl-operator/kubectl-operator/preview/rules"
	"github.com/kubectl-operator/kubectl-operator/preview/servingcert"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// everyWebhook is a CSV of all three types on two deployments; one mounts volumes where
// the certificates belong.
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

// keys is a [format.Certifier] that makes certificates once.
type keys struct {
	provider string
	made     map[string]*servingcert.Set
}

func (k keys) Provider(context.Context) (string, error) { return k.provider, nil }

func (k keys) Certificate(_ context.Context, namespace, secret string, hosts []string) (*servingcert.Set, bool, error) {
	set, err := servingcert.New(hosts, time.Now())
	k.made[namespace+"/"+secret] = set
	return set, true, err
}

// An API server that has nothing but the rendered objects trusts the certificate in
// the rendered Secret for the Service that it calls, and no object but that Secret has
// a key.
func TestGeneratedCertificates(t *testing.T) {
	by := keys{provider: generated, made: map[string]*servingcert.Set{}}
	for name, params := range map[string]format.Params{"asked for": {Certs: generated}, "because the cluster issues none": {}} {
		t.Run(name, func(t *testing.T) {
			in := format.Input{Content: makeBundle(t, everyWebhook(t), nil), Release: preview.Release{Name: "demo", Namespace: "demo-system"}, Params: params, Certifier: by}
			in.Info.Package = "demo"
			out, err := New().Render(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if out.Resolved.Certs != generated {
				t.Errorf("resolved certs %q", out.Resolved.Certs)
			}
			set := by.made["demo-system/demo-service-cert"]
			secret := find(t, out, "core/Secret/demo-system/demo-service-cert")
			if secret["type"] != servingcert.SecretType || !reflect.DeepEqual(secret["data"], set.Data()) {
				t.Error("the Secret does not have what was made")
			}
			calls := 0
			for _, o := range out.Objects {
				for _, client := range servingcert.Clients(o.Body) {
					calls++
					wantTrust(t, preview.RefOf(o.Body).ID(), client, set)
				}
				if o.Body["kind"] == "Secret" {
					continue
				}
				if text := fmt.Sprint(o.Body); strings.Contains(text, set.Data()["tls.key"].(string)) || strings.Contains(text, set.Data()["ca.key"].(string)) {
					t.Errorf("%s has a key", preview.RefOf(o.Body).ID())
				}
			}
			if calls != 3 {
				t.Errorf("%d webhooks are called", calls)
			}
			pod := preview.Map(find(t, out, "apps/Deployment/demo-system/demo"), "spec", "template")
			if sum := sha256.Sum256(set.Certificate); preview.String(pod, "metadata", "annotations", certificateAnnotation) != hex.EncodeToString(sum[:]) {
				t.Error("pods would not start again with a renewed certificate")
			}
			wantNotes(t, out.Notes, rules.WebhookCertificates, rules.CertificateMade)
		})
	}
}

func wantTrust(t *testing.T, id string, client map[string]any, set *servingcert.Set) {
	t.Helper()
	bundle, err := base64.StdEncoding.DecodeString(preview.String(client, "caBundle"))
	roots := x509.NewCertPool()
	if err != nil || !roots.AppendCertsFromPEM(bundle) {
		t.Fatalf("%s: no caBundle", id)
	}
	pair, err := tls.X509KeyPair(set.Certificate, set.Key)
	if err != nil {
		t.Fatal(err)
	}
	host := preview.String(client, "service", "name") + "." + preview.String(client, "service", "namespace") + ".svc"
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: roots}); err != nil {
		t.Errorf("%s: %v", id, err)
	}
}

func wantNotes(t *testing.T, notes []preview.Note, want ...rules.Rule) {
	t.Helper()
	for _, rule := range want {
		if !slices.ContainsFunc(notes, func(n preview.Note) bool { return n.Rule == rule.Name }) {
			t.Errorf("no note of %s in %v", rule.Name, notes)
		}
	}
	if len(notes) != len(want) {
		t.Errorf("notes are %v", notes)
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
		{name: "an unknown provider", flag: "vault", err: `certs "vault": want one of cert-manager, service-ca, generated, none`},
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
