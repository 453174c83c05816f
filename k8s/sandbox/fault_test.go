package sandbox_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
)

// faultPatience is the time limit of something that takes a second.
const faultPatience = 2 * time.Minute

func eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	deadline := time.Now().Add(faultPatience)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func TestClusterAPIServerIsRestarted(t *testing.T) {
	sb := sandboxtest.New(t)
	client := newClient(t, sb.Kubeconfig())
	namespace := newNamespace(t, client)
	before := requireAll(t, filepath.Dir(sb.Kubeconfig()))
	ctx, cancel := context.WithTimeout(t.Context(), faultPatience)
	defer cancel()
	for range 2 {
		if err := sb.RestartAPIServer(ctx); err != nil {
			t.Fatal(err)
		}
	}
	after := requireAll(t, filepath.Dir(sb.Kubeconfig()))
	for _, name := range components {
		if restarted := before[name] != after[name]; restarted != (name == "kube-apiserver") {
			t.Errorf("%s was process %d and is %d", name, before[name], after[name])
		}
	}
	// The stored objects are there, and the controllers came back: a pod runs.
	pod, err := client.CoreV1().Pods(namespace).Create(ctx, newPod(namespace, ""), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := observe(awaitStatus(t, client, pod)); !got.Ready {
		t.Errorf("after the restart a pod is %+v", got)
	}

	resume, err := sb.FreezeStorage(ctx)
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := client.CoreV1().Namespaces().Get(short, namespace, metav1.GetOptions{}); err == nil {
		t.Error("a read was answered while etcd was frozen")
	}
	if err := resume(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a read after the thaw", func() error {
		_, err := client.CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{})
		return err
	})
}

func TestClusterFaultProxy(t *testing.T) {
	sb := sandboxtest.Start(t)
	direct := newClient(t, sb.Kubeconfig())
	namespace := newNamespace(t, direct)
	const user = "behind-a-proxy"
	for name, test := range map[string]struct {
		fault     sandboxtest.Fault
		stored    bool
		answered  bool // with an answer of the API server
		rejection func(error) bool
	}{
		"passes on what no rule hits":            {stored: true, answered: true},
		"delays":                                 {fault: sandboxtest.Fault{Delay: time.Millisecond}, stored: true, answered: true},
		"cuts before the request":                {fault: sandboxtest.Fault{Cut: sandboxtest.CutBefore}},
		"cuts between request and answer":        {fault: sandboxtest.Fault{Cut: sandboxtest.CutAnswer}, stored: true},
		"cuts in the middle of the answer":       {fault: sandboxtest.Fault{Cut: sandboxtest.CutBody}, stored: true},
		"answers 429 in place of the server":     {fault: sandboxtest.Fault{Status: 429}, rejection: apierrors.IsTooManyRequests},
		"answers 500 in place of the server":     {fault: sandboxtest.Fault{Status: 500}, rejection: apierrors.IsInternalError},
		"answers 504 after the server's success": {fault: sandboxtest.Fault{Status: 504, Cut: sandboxtest.CutAnswer}, stored: true, rejection: apierrors.IsTimeout},
		"answers 503 with a time to come again":  {fault: sandboxtest.Fault{Status: 503, RetryAfter: 1}, rejection: apierrors.IsServiceUnavailable},
	} {
		for _, http2 := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, HTTP/2 %t", name, http2), func(t *testing.T) {
				object := strings.NewReplacer(" ", "-", "'", "").Replace(strings.ToLower(fmt.Sprint(name, " ", http2)))
				var cut bool
				if test.fault.Cut != sandboxtest.NoCut {
					test.fault.Then = func() { cut = true }
				}
				proxy := sandboxtest.NewProxy(t, sandboxtest.User(t, sb, user, "system:masters"), sandboxtest.ProxyOptions{
					HTTP2: http2, Fault: sandboxtest.Rules(sandboxtest.Rule{Writes: true, Count: 1, Fault: test.fault}),
				})
				client := newClient(t, proxy.Kubeconfig)
				body := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q}}`, object)
				err := client.CoreV1().RESTClient().Post().AbsPath("/api/v1/namespaces/" + namespace + "/configmaps").
					Body([]byte(body)).MaxRetries(0).Do(t.Context()).Error()
				if (err == nil) != test.answered {
					t.Errorf("the client got %v", err)
				}
				if test.rejection != nil && !test.rejection(err) {
					t.Errorf("the client got %v", err)
				}
				if want := test.fault.Cut != sandboxtest.NoCut; cut != want {
					t.Errorf("the hook at the cut ran: %t", cut)
				}
				_, err = direct.CoreV1().ConfigMaps(namespace).Get(t.Context(), object, metav1.GetOptions{})
				if (err == nil) != test.stored {
					t.Errorf("reading it around the proxy: %v", err)
				}
				wrote := slices.ContainsFunc(sandboxtest.Mutations(t, sb, user), func(e sandbox.AuditEvent) bool {
					return e.String() == "create core/configmaps "+namespace+"/" || e.ObjectRef.Name == object
				})
				if test.stored && !wrote {
					t.Error("the audit log does not name the proxy's user")
				}
				if all, writes := proxy.Requests(); all != 1 || writes != 1 {
					t.Errorf("%d requests and %d writes came through, want 1 and 1", all, writes)
				}
			})
		}
	}
}

func TestAStormHitsByItsSeed(t *testing.T) {
	choices := func(seed uint64) (hits []int) {
		storm := sandboxtest.Storm(seed, 0.5, sandboxtest.Fault{Status: 429}, sandboxtest.Fault{Status: 500})
		for range 64 {
			hits = append(hits, storm(sandboxtest.Request{}).Status)
		}
		return hits
	}
	if !slices.Equal(choices(1), choices(1)) {
		t.Error("one seed made two storms")
	}
	if slices.Equal(choices(1), choices(2)) {
		t.Error("two seeds made one storm")
	}
	for _, status := range []int{0, 429, 500} {
		if !slices.Contains(choices(1), status) {
			t.Errorf("64 requests and no %d", status)
		}
	}
}

func TestClusterWebhookAnswersAsTold(t *testing.T) {
	sb := sandboxtest.Start(t)
	client := newClient(t, sb.Kubeconfig())
	namespace := newNamespace(t, client)
	webhook := sandboxtest.NewWebhook(t, sandboxtest.Allow)
	register(t, sb, webhook.Registration("MutatingWebhookConfiguration", namespace, namespace, "configmaps"),
		admissionregistrationv1.SchemeGroupVersion.WithResource("mutatingwebhookconfigurations"))
	configMaps := client.CoreV1().ConfigMaps(namespace)
	create := func(dryRun ...string) (*corev1.ConfigMap, error) {
		return configMaps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "c-"}},
			metav1.CreateOptions{DryRun: dryRun})
	}

	// The API server learns of a registration a moment after it was stored.
	webhook.Answer(func(sandboxtest.Admission) sandboxtest.Verdict { return sandboxtest.Verdict{Deny: "not today"} })
	eventually(t, "a denial", func() error {
		_, err := create()
		if err == nil || !strings.Contains(err.Error(), "not today") {
			return fmt.Errorf("creating answered %w", err)
		}
		return nil
	})
	webhook.Answer(func(a sandboxtest.Admission) sandboxtest.Verdict {
		value := "stored"
		if a.DryRun {
			value = "shown"
		}
		return sandboxtest.Verdict{After: time.Millisecond, Patch: []map[string]any{
			{"op": "add", "path": "/data", "value": map[string]any{"by": value}},
		}}
	})
	for want, dryRun := range map[string][]string{"stored": nil, "shown": {metav1.DryRunAll}} {
		created, err := create(dryRun...)
		if err != nil {
			t.Fatal(err)
		}
		if got := created.Data["by"]; got != want {
			t.Errorf("the webhook wrote %q, want %q", got, want)
		}
	}
	webhook.Close()
	if _, err := create(); err == nil {
		t.Error("created although the webhook is closed")
	}
	webhook.Open(t)
	webhook.Answer(sandboxtest.Allow)
	if _, err := create(); err != nil {
		t.Errorf("with the webhook open again: %v", err)
	}
}

// register creates a cluster-scoped object for the time of the test.
func register(t *testing.T, sb *sandbox.Sandbox, body map[string]any, kind schema.GroupVersionResource) {
	t.Helper()
	client := dynamicClient(t, sb)
	object := &unstructured.Unstructured{Object: body}
	if _, err := client.Resource(kind).Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = client.Resource(kind).Delete(context.Background(), object.GetName(), metav1.DeleteOptions{})
	})
}

func dynamicClient(t *testing.T, sb *sandbox.Sandbox) dynamic.Interface {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", sb.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// TestClusterCertificatesAreReal lets a client trust a server by what was issued and
// injected alone.
func TestClusterCertificatesAreReal(t *testing.T) {
	sb := sandboxtest.Borrow(t)
	client := newClient(t, sb.Kubeconfig())
	namespace := newNamespace(t, client)
	sandboxtest.CertManager(t, sb)
	dynamicClient := dynamicClient(t, sb)
	group := schema.GroupVersion{Group: "cert-manager.io", Version: "v1"}
	create := func(plural string, body map[string]any) {
		t.Helper()
		_, err := dynamicClient.Resource(group.WithResource(plural)).Namespace(namespace).
			Create(t.Context(), &unstructured.Unstructured{Object: body}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	object := func(kind, name string, spec map[string]any) map[string]any {
		return map[string]any{"apiVersion": group.String(), "kind": kind, "metadata": map[string]any{"name": name}, "spec": spec}
	}
	webhook := sandboxtest.NewWebhook(t, sandboxtest.Allow)
	registration := webhook.Registration("ValidatingWebhookConfiguration", namespace, namespace, "configmaps")
	registration["metadata"].(map[string]any)["annotations"] = map[string]any{"cert-manager.io/inject-ca-from": namespace + "/server"}
	validating := admissionregistrationv1.SchemeGroupVersion.WithResource("validatingwebhookconfigurations")
	register(t, sb, registration, validating)

	// In the order that makes each wait for the next.
	create("certificates", object("Certificate", "server", map[string]any{
		"secretName": "server-tls", "dnsNames": []any{"operator.svc"}, "issuerRef": map[string]any{"name": "by-ca"},
	}))
	create("issuers", object("Issuer", "by-ca", map[string]any{"ca": map[string]any{"secretName": "ca-tls"}}))
	create("certificates", object("Certificate", "ca", map[string]any{
		"secretName": "ca-tls", "commonName": "ca", "isCA": true, "issuerRef": map[string]any{"name": "self", "kind": "Issuer"},
	}))
	create("issuers", object("Issuer", "self", map[string]any{"selfSigned": map[string]any{}}))

	eventually(t, "the certificate becomes Ready", func() error {
		got, err := dynamicClient.Resource(group.WithResource("certificates")).Namespace(namespace).Get(t.Context(), "server", metav1.GetOptions{})
		if err != nil {
			return err
		}
		conditions, _, _ := unstructured.NestedSlice(got.Object, "status", "conditions")
		for _, item := range conditions {
			if condition := item.(map[string]any); condition["type"] == "Ready" && condition["status"] == "True" {
				return nil
			}
		}
		return fmt.Errorf("its conditions are %v", conditions)
	})
	secret, err := client.CoreV1().Secrets(namespace).Get(t.Context(), "server-tls", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(secret.Data["tls.crt"], secret.Data["tls.key"])
	if err != nil {
		t.Fatal(err)
	}
	var bundle []byte
	eventually(t, "the CA bundle is injected", func() error {
		got, err := client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(t.Context(), namespace, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if bundle = got.Webhooks[0].ClientConfig.CABundle; string(bundle) != string(secret.Data["ca.crt"]) {
			return errors.New("it holds another")
		}
		return nil
	})
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(bundle) {
		t.Fatal("the injected bundle holds no certificate")
	}
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{DNSName: "operator.svc", Roots: roots}); err != nil {
		t.Errorf("who trusts the injected bundle does not trust the certificate: %v", err)
	}
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{DNSName: "other.svc", Roots: roots}); err == nil {
		t.Error("the certificate is good for any name")
	}
}
