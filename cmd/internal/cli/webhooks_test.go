package cli_test

import (
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/blang/semver/v4"

	"github.com/kubectl-operator/kubectl-operator/k8s"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/sandboxtest"
	"github.com/kubectl-operator/kubectl-operator/k8s/sandbox/slowtest"
	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/corpustest"
	"github.com/kubectl-operator/kubectl-operator/preview/servingcert"
)

// webhookOperators are real operators with webhooks, most used first. The mode is empty
// for the default.
var webhookOperators = []struct{ name, mode string }{
	{"mongodb-kubernetes", ""},
	{"opentelemetry-operator", ""},
	{"rabbitmq-cluster-operator", "AllNamespaces"},
	{"argocd-operator", ""},
	{"external-dns-operator", "OwnNamespace"},
	{"flink-kubernetes-operator", "AllNamespaces"},
	{"rabbitmq-messaging-topology-operator", "AllNamespaces"},
	{"aws-load-balancer-operator", ""},
	{"authorino-operator", ""},
	{"azure-service-operator", ""},
}

// TestClusterWebhooksOfRealOperators installs real operators with webhooks on clusters
// that issue certificates in different ways, without a word about certificates. The API
// server calls the webhooks with what it got, after two upgrades and a rollback too,
// and what they were installed with stays. The usual run takes the first operator, on
// two of the clusters through one upgrade alone; a soak takes all.
func TestClusterWebhooksOfRealOperators(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "tests against the embedded control plane")
	corpus := corpustest.Dir(t, "bundles")
	operators := webhookOperators
	if !slowtest.Soak() {
		operators = operators[:1]
	}
	for kind, prepare := range map[string]func(testing.TB, *sandbox.Sandbox){
		preview.CertsGenerated:   func(testing.TB, *sandbox.Sandbox) {},
		preview.CertsCertManager: sandboxtest.CertManager,
		preview.CertsServiceCA:   sandboxtest.ServiceCA,
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			box := sandboxtest.Borrow(t)
			prepare(t, box)
			pods := newPodServer(t, box)
			for _, o := range operators {
				v := emptyVictim(t, box, k8s.NewSchemas(), o.name)
				v.name = o.name
				brief := kind != preview.CertsGenerated && !slowtest.Soak()
				w := &webhookLife{victim: v, kind: kind, mode: o.mode, brief: brief, pods: pods, versions: bundleVersions(t, filepath.Join(corpus, o.name))}
				w.live()
				t.Logf("%s on %s: versions %s; calls %s", o.name, kind, strings.Join(w.versions, " "), strings.Join(w.table, ", "))
				for _, finding := range v.findings {
					t.Errorf("%s on %s: %s", o.name, kind, finding)
				}
			}
		})
	}
}

// webhookLife is an operator from its install to its removal.
type webhookLife struct {
	*victim
	kind, mode string
	brief      bool // without the second upgrade and the rollback
	pods       *podServer
	versions   []string // directories, the oldest first
	table      []string
}

func (w *webhookLife) live() {
	at := func(i int) string { return w.versions[min(i, len(w.versions)-1)] }
	options := []string{"--set", "deploymentConfig.annotations.team=shop"}
	if w.mode != "" {
		options = append(options, "--install-mode", w.mode)
	}
	steps := []struct {
		what string
		ask  []string
	}{
		{"install", slices.Concat([]string{"preview", at(0), w.name, "-n", w.name}, options)},
		{"upgrade", []string{"upgrade", w.name, at(1), "-n", w.name, "--set", "deploymentConfig.annotations.round=one", "--preview"}},
		{"upgrade", []string{"upgrade", w.name, at(2), "-n", w.name, "--set", "deploymentConfig.annotations.round=two", "--preview"}},
		{"rollback", []string{"rollback", w.name, "-n", w.name, "--preview"}},
		{"uninstall", []string{"uninstall", w.name, "-n", w.name, "--include-crds", "--preview"}},
	}
	if w.brief {
		steps = slices.Delete(steps, 2, 4)
	}
	for i, step := range steps {
		saved := filepath.Join(w.dir, fmt.Sprint("plan", i, ".tgz"))
		if code, said := w.run(w.program(w.box.Kubeconfig(), append(step.ask, "--out", saved, "--plaintext-secrets")...)); code != 0 {
			w.find("%s %d, its preview: exit %d\n%s", step.what, i, code, said)
			return
		}
		apply := []string{"install", "--plan", saved, "--yes"}
		if step.what == "rollback" || step.what == "uninstall" {
			apply = []string{step.what, w.name, "-n", w.name, "--plan", saved, "--yes"}
		}
		if code, said := w.run(w.program(w.box.Kubeconfig(), apply...)); code != 0 {
			w.find("%s %d: exit %d\n%s", step.what, i, code, said)
			return
		}
		if step.what == "uninstall" {
			return
		}
		w.checkCertificates(saved)
		calls := w.callWebhooks()
		if calls == 0 {
			w.find("%s %d: the API server called no webhook", step.what, i)
		}
		w.table = append(w.table, fmt.Sprintf("%s %d", step.what, calls))
	}
}

// checkCertificates checks what a plan has of the options that the release was
// installed with, and what the cluster has.
func (w *webhookLife) checkCertificates(saved string) {
	out, err := w.program(w.box.Kubeconfig(), "show", saved, "-o", "json").Output()
	var plan preview.Plan
	if err := errors.Join(err, json.Unmarshal(out, &plan)); err != nil {
		w.find("show: %v", err)
		return
	}
	if certs := plan.Packages[0].Parameters.Certs; certs != w.kind {
		w.find("certificates are of %q", certs)
	}
	if bytes.Contains(out, []byte("PRIVATE KEY")) || bytes.Contains(out, []byte(base64.StdEncoding.EncodeToString([]byte("-----BEGIN PRIVATE")))) {
		w.find("a plan shows a private key")
	}
	for i := range plan.Objects {
		if o := &plan.Objects[i]; o.Kind == "Deployment" && o.Action != preview.ActionDelete {
			live, err := w.client.Get(w.t.Context(), o.Ref())
			if err != nil || preview.String(live, "spec", "template", "metadata", "annotations", "team") != "shop" {
				w.find("%s lost what the release was installed with (%v)", o.ID, err)
			}
		}
	}
}

// callWebhooks writes the examples of the operator, for a try, so that the API server
// calls its webhooks, and returns how often it did. A call that fails is a finding.
func (w *webhookLife) callWebhooks() int {
	before := w.pods.count(w.name)
	raw := sandboxtest.NewRawClient(w.t, w.box.Kubeconfig())
	for _, example := range w.examples() {
		ref := preview.RefOf(example)
		plural, _ := w.client.Plural(w.t.Context(), ref.APIVersion, ref.Kind)
		preview.Map(example, "metadata")["namespace"] = w.name
		status, answer, err := raw.Do(w.t.Context(), http.MethodPost, "/apis/"+ref.APIVersion+"/namespaces/"+w.name+"/"+plural+"?dryRun=All", "", example)
		if status == http.StatusNotFound { // it is of the whole cluster, or of a version that is not served
			delete(preview.Map(example, "metadata"), "namespace")
			if status, answer, err = raw.Do(w.t.Context(), http.MethodPost, "/apis/"+ref.APIVersion+"/"+plural+"?dryRun=All", "", example); status == http.StatusNotFound {
				continue
			}
		}
		if said := preview.String(answer, "message"); err != nil || strings.Contains(said, "failed calling webhook") || strings.Contains(said, "conversion webhook") {
			w.find("writing an example of %s: %v %s", ref.Kind, err, said)
		}
	}
	return w.pods.count(w.name) - before
}

// examples are the custom resources that the newest version shows.
func (w *webhookLife) examples() []map[string]any {
	files, err := filepath.Glob(filepath.Join(w.versions[len(w.versions)-1], "manifests", "*clusterserviceversion.yaml"))
	if err != nil || len(files) != 1 {
		w.find("CSVs %v, %v", files, err)
		return nil
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		w.find("%v", err)
		return nil
	}
	docs, err := preview.Decode(data)
	if err != nil {
		w.find("%v", err)
		return nil
	}
	text := preview.String(docs[0].(map[string]any), "metadata", "annotations", "alm-examples")
	list, err := preview.DecodeJSON([]byte(text))
	if err != nil {
		w.find("alm-examples: %v", err)
		return nil
	}
	return preview.Maps(map[string]any{"items": list}, "items")
}

func bundleVersions(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return semver.MustParse(a.Name()).Compare(semver.MustParse(b.Name())) })
	var out []string
	for _, entry := range entries {
		out = append(out, filepath.Join(dir, entry.Name()))
	}
	return out
}

// podServer answers in the place of all webhooks in a cluster, each with the
// certificate that its namespace has for its Service.
type podServer struct {
	raw *sandboxtest.RawClient
	mu  sync.Mutex
	by  map[string]int // calls by namespace
}

func newPodServer(t *testing.T, box *sandbox.Sandbox) *podServer {
	t.Helper()
	p := &podServer{raw: sandboxtest.NewRawClient(t, box.Kubeconfig()), by: map[string]int{}}
	server := httptest.NewUnstartedServer(p)
	server.TLS = &tls.Config{GetCertificate: p.certificate}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	listener, err := listenForPods(box, server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return p
}

func (p *podServer) count(namespace string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.by[namespace]
}

// certificate is what a pod reads from the Secret that is mounted into it.
func (p *podServer) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	_, namespace, _ := strings.Cut(strings.TrimSuffix(hello.ServerName, ".svc"), ".")
	_, list, err := p.raw.Do(hello.Context(), http.MethodGet, "/api/v1/namespaces/"+namespace+"/secrets", "", nil)
	if err != nil {
		return nil, err
	}
	for _, secret := range preview.Maps(list, "items") {
		secret["kind"] = "Secret"
		leaf := servingcert.Leaf(secret)
		if leaf == nil || leaf.VerifyHostname(hello.ServerName) != nil {
			continue
		}
		cert, err1 := base64.StdEncoding.DecodeString(preview.String(secret, "data", servingcert.KeyCertificate))
		key, err2 := base64.StdEncoding.DecodeString(preview.String(secret, "data", servingcert.KeyPrivate))
		pair, err := tls.X509KeyPair(cert, key)
		return &pair, errors.Join(err1, err2, err)
	}
	return nil, fmt.Errorf("no Secret in %s has a certificate for %s", namespace, hello.ServerName)
}

// ServeHTTP allows what is asked, and converts by the name of the version alone.
func (p *podServer) ServeHTTP(out http.ResponseWriter, in *http.Request) {
	var review map[string]any
	if err := json.NewDecoder(io.LimitReader(in.Body, 8<<20)).Decode(&review); err != nil {
		http.Error(out, err.Error(), http.StatusBadRequest)
		return
	}
	_, namespace, _ := strings.Cut(strings.TrimSuffix(in.TLS.ServerName, ".svc"), ".")
	p.mu.Lock()
	p.by[namespace]++
	p.mu.Unlock()
	request := preview.Map(review, "request")
	response := map[string]any{"uid": request["uid"], "allowed": true}
	if objects := preview.Maps(request, "objects"); len(objects) > 0 {
		for _, object := range objects {
			object["apiVersion"] = request["desiredAPIVersion"]
		}
		response["convertedObjects"], response["result"] = request["objects"], map[string]any{"status": "Success"}
	}
	out.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(out).Encode(map[string]any{"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response})
}
