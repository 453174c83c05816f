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
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

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
// server calls the webhooks with the installed certificates, also after two upgrades and
// a rollback; after the uninstall nothing is left. The result of each operator on each
// cluster is testdata/webhooks.golden. The usual run takes a small operator, on two of
// the clusters through one upgrade alone; a soak takes all, and rewrites the table with
// -update.
func TestClusterWebhooksOfRealOperators(t *testing.T) {
	t.Parallel()
	slowtest.Skip(t, "tests against the embedded control plane")
	corpus := corpustest.Dir(t, "bundles")
	table := readWebhookTable(t)
	t.Cleanup(func() { table.write(t) })
	clusters := webhookClusters()
	for i, kind := range slices.Sorted(maps.Keys(clusters)) {
		if !slowtest.Turn(t, i) {
			continue
		}
		prepare := clusters[kind]
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			box := sandboxtest.Borrow(t)
			prepare(t, box)
			pods := newPodServer(t, box)
			for _, o := range webhookOperators {
				if !slowtest.Soak() && o.name != "external-dns-operator" {
					continue
				}
				v := emptyVictim(t, box, k8s.NewSchemas(), o.name)
				v.name = o.name
				brief := kind != preview.CertsGenerated && !slowtest.Soak()
				w := &webhookLife{victim: v, kind: kind, mode: o.mode, brief: brief, pods: pods, versions: threeVersions(t, filepath.Join(corpus, o.name)), did: map[string]string{}}
				w.live()
				for _, finding := range v.findings {
					t.Errorf("%s on %s: %s", o.name, kind, finding)
				}
				table.compare(t, o.name, kind, w.did)
			}
		})
	}
}

// webhookClusters are the clusters, by who issues their certificates, and what prepares
// them.
func webhookClusters() map[string]func(testing.TB, *sandbox.Sandbox) {
	return map[string]func(testing.TB, *sandbox.Sandbox){
		preview.CertsGenerated:   func(testing.TB, *sandbox.Sandbox) {},
		preview.CertsCertManager: sandboxtest.CertManager,
		preview.CertsServiceCA:   sandboxtest.ServiceCA,
	}
}

// webhookLife is an operator from its install to its removal.
type webhookLife struct {
	*victim
	kind, mode string
	brief      bool // without the second upgrade and the rollback
	pods       *podServer
	versions   []string          // directories, the oldest first
	did        map[string]string // cells of the table, by column
	refs       []preview.Ref     // what was installed
}

// webhookStep is a step in the life of an operator: its name in the table, the release's
// own value after it, and its command.
type webhookStep struct {
	column, version, round string
	ask                    []string
}

func (w *webhookLife) steps() []webhookStep {
	options := []string{"--set", "deploymentConfig.annotations.team=shop", "--set", "deploymentConfig.annotations.round=none"}
	if w.mode != "" {
		options = append(options, "--install-mode", w.mode)
	}
	at := func(i int) string { return filepath.Base(w.versions[i]) }
	upgrade := func(i int, round string) []string {
		return []string{"upgrade", w.name, w.versions[i], "-n", w.name, "--set", "deploymentConfig.annotations.round=" + round, "--preview"}
	}
	steps := []webhookStep{
		{columnInstalled, at(0), "none", slices.Concat([]string{"preview", w.versions[0], w.name, "-n", w.name}, options)},
		{columnUpgraded, at(1), "one", upgrade(1, "one")},
		{columnAgain, at(2), "two", upgrade(2, "two")},
		{columnBack, at(1), "one", []string{"rollback", w.name, "-n", w.name, "--preview"}},
		{columnRemoved, "", "", []string{"uninstall", w.name, "-n", w.name, "--include-crds", "--preview"}},
	}
	if w.brief {
		steps = slices.Delete(steps, 2, 4)
	}
	return steps
}

func (w *webhookLife) live() {
	for i, step := range w.steps() {
		saved := filepath.Join(w.dir, fmt.Sprint("plan", i, ".tgz"))
		if code, said := w.run(w.program(w.box.Kubeconfig(), append(step.ask, "--out", saved, "--plaintext-secrets")...)); code != 0 {
			w.find("%s, its preview: exit %d\n%s", step.column, code, said)
			return
		}
		apply := []string{"install", "--plan", saved, "--yes"}
		if step.ask[0] == "rollback" || step.ask[0] == "uninstall" {
			apply = []string{step.ask[0], w.name, "-n", w.name, "--plan", saved, "--yes"}
		}
		if code, said := w.run(w.program(w.box.Kubeconfig(), apply...)); code != 0 {
			w.find("%s: exit %d\n%s", step.column, code, said)
			return
		}
		if step.column == columnRemoved {
			w.did[step.column] = w.removed()
			break
		}
		w.checkPlan(step, saved)
		called, of := w.callWebhooks()
		if called == 0 {
			w.find("%s: the API server called no webhook", step.column)
		}
		w.did[step.column] = fmt.Sprintf("%s, %d of %d called", step.version, called, of)
	}
	if len(w.findings) == 0 {
		w.did[columnKept] = "certs, install mode, values"
	}
}

// removed returns what an uninstall did, with a finding for each object that it left.
func (w *webhookLife) removed() string {
	w.client.Refresh()
	for _, ref := range w.refs {
		if live, err := w.client.Get(w.t.Context(), ref); err == nil && live != nil && preview.String(live, "metadata", "deletionTimestamp") == "" {
			w.find("after the uninstall there is still %v", ref)
		}
	}
	return "all gone"
}

// checkPlan checks what a plan has of the options that the release was installed with,
// and what the cluster has.
func (w *webhookLife) checkPlan(step webhookStep, saved string) {
	out, err := w.program(w.box.Kubeconfig(), "show", saved, "-o", "json").Output()
	var plan preview.Plan
	if err := errors.Join(err, json.Unmarshal(out, &plan)); err != nil {
		w.find("show: %v", err)
		return
	}
	with := plan.Packages[0].Parameters
	if with.Certs != w.kind || w.mode != "" && with.InstallMode != w.mode {
		w.find("%s is with certificates of %q and the install mode %s", step.column, with.Certs, with.InstallMode)
	}
	if version := plan.Packages[0].Version; version != step.version {
		w.find("%s is to version %s, want %s", step.column, version, step.version)
	}
	if bytes.Contains(out, []byte("PRIVATE KEY")) || bytes.Contains(out, []byte(base64.StdEncoding.EncodeToString([]byte("-----BEGIN PRIVATE")))) {
		w.find("a plan shows a private key")
	}
	want := map[string]string{"team": "shop", "round": step.round}
	values := map[string]string{}
	if plan.ReleaseOptions != nil {
		for _, v := range plan.ReleaseOptions.Values {
			values[v.Keys[len(v.Keys)-1]] = strings.Trim(v.JSON, `"`)
		}
	}
	if !maps.Equal(values, want) {
		w.find("%s puts the values %v on record, want %v", step.column, values, want)
	}
	for i := range plan.Objects {
		o := &plan.Objects[i]
		if o.Action == preview.ActionDelete {
			continue
		}
		if o.Kind != "Namespace" && !slices.Contains(w.refs, o.Ref()) {
			w.refs = append(w.refs, o.Ref())
		}
		if o.Kind != "Deployment" {
			continue
		}
		live, err := w.client.Get(w.t.Context(), o.Ref())
		for key, value := range want {
			if err != nil || preview.String(live, "spec", "template", "metadata", "annotations", key) != value {
				w.find("after %s, %s lost what the release was installed with: %s (%v)", step.column, o.ID, key, err)
			}
		}
	}
}

// callWebhooks writes the examples of the operator, for a try, so that the API server
// calls its webhooks, and returns how many of them it called, and of how many. A call
// that fails is a finding.
func (w *webhookLife) callWebhooks() (called, of int) {
	w.pods.forget(w.name)
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
	known := w.webhooks(raw)
	for _, at := range w.pods.called(w.name) {
		if !known[at] {
			w.find("the API server called %s, which is no webhook of the plan", at)
		}
		called++
	}
	return called, len(known)
}

// webhooks returns the paths of the operator's webhooks, conversion included.
func (w *webhookLife) webhooks(raw *sandboxtest.RawClient) map[string]bool {
	out := map[string]bool{}
	add := func(client map[string]any) {
		if preview.String(client, "service", "namespace") == w.name {
			out["/"+strings.TrimPrefix(preview.String(client, "service", "path"), "/")] = true
		}
	}
	list := func(path string) []map[string]any {
		_, answer, err := raw.Do(w.t.Context(), http.MethodGet, path, "", nil)
		if err != nil {
			w.find("%s: %v", path, err)
		}
		return preview.Maps(answer, "items")
	}
	for _, kind := range []string{"validatingwebhookconfigurations", "mutatingwebhookconfigurations"} {
		for _, configuration := range list("/apis/admissionregistration.k8s.io/v1/" + kind) {
			for _, webhook := range preview.Maps(configuration, "webhooks") {
				add(preview.Map(webhook, "clientConfig"))
			}
		}
	}
	for _, crd := range list("/apis/apiextensions.k8s.io/v1/customresourcedefinitions") {
		add(preview.Map(crd, "spec", "conversion", "webhook", "clientConfig"))
	}
	return out
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

// podServer answers in the place of all webhooks in a cluster, each with the
// certificate that its namespace has for its Service.
type podServer struct {
	raw *sandboxtest.RawClient
	mu  sync.Mutex
	by  map[string]map[string]bool // paths that were called, by namespace
}

func newPodServer(t *testing.T, box *sandbox.Sandbox) *podServer {
	t.Helper()
	p := &podServer{raw: sandboxtest.NewRawClient(t, box.Kubeconfig()), by: map[string]map[string]bool{}}
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

// forget forgets the calls to a namespace.
func (p *podServer) forget(namespace string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.by[namespace] = map[string]bool{}
}

// called returns the paths in a namespace that were called since.
func (p *podServer) called(namespace string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.by[namespace]))
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
	request := preview.Map(review, "request")
	// Without a try it is a controller of the cluster that writes, such as a pod of a
	// rollout: its timing is its own affair. Conversions always belong to a try.
	if tried, _ := request["dryRun"].(bool); tried || request["objects"] != nil {
		p.mu.Lock()
		if p.by[namespace] != nil {
			p.by[namespace][in.URL.Path] = true
		}
		p.mu.Unlock()
	}
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
