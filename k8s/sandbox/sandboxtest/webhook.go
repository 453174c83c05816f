package sandboxtest

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// Admission is the request of an AdmissionReview (admission.k8s.io/v1), as a
// [Webhook] gets it.
type Admission struct {
	UID       string         `json:"uid"`
	Operation string         `json:"operation"` // CREATE, UPDATE, DELETE or CONNECT
	Name      string         `json:"name"`
	Namespace string         `json:"namespace"`
	DryRun    bool           `json:"dryRun"`
	Object    map[string]any `json:"object"`
	User      struct {
		Username string `json:"username"`
	} `json:"userInfo"`
}

// Verdict answers an [Admission].
type Verdict struct {
	// Deny is the message of a refusal; empty allows.
	Deny string
	// Patch is a JSON patch (RFC 6902) of the object.
	Patch []map[string]any
	// After delays the answer.
	After time.Duration
}

// Allow is an answer of a [Webhook] that permits every request unchanged.
func Allow(Admission) Verdict { return Verdict{} }

// Webhook is an admission webhook on loopback. The API server reaches it by URL, with
// TLS and its own CA bundle.
type Webhook struct {
	mu      sync.Mutex
	answer  func(Admission) Verdict
	server  *httptest.Server
	address string
	ca      []byte
}

// NewWebhook starts a webhook that calls answer for each request, until the test ends.
func NewWebhook(t testing.TB, answer func(Admission) Verdict) *Webhook {
	t.Helper()
	w := &Webhook{answer: answer}
	w.server = httptest.NewTLSServer(w)
	w.address = w.server.Listener.Addr().String()
	w.ca = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: w.server.Certificate().Raw})
	t.Cleanup(w.Close)
	return w
}

// Answer replaces the function that answers requests.
func (w *Webhook) Answer(answer func(Admission) Verdict) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = answer
}

// Close stops listening, so that the API server's connections are refused.
func (w *Webhook) Close() {
	w.server.CloseClientConnections()
	w.server.Close()
}

// Open listens again at the same address, after Close.
func (w *Webhook) Open(t testing.TB) {
	t.Helper()
	listener, err := net.Listen("tcp", w.address)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(w)
	_ = server.Listener.Close()
	server.Listener = listener
	server.StartTLS()
	w.server = server
}

// Client returns the webhook's URL and CA bundle, as the clientConfig of a
// webhook configuration.
func (w *Webhook) Client() map[string]any {
	return map[string]any{"url": "https://" + w.address + "/admit", "caBundle": base64.StdEncoding.EncodeToString(w.ca)}
}

// Registration returns a mutating or validating webhook configuration that
// sends the creates and updates of some resources ("configmaps",
// "apps/deployments") in one namespace to this webhook.
func (w *Webhook) Registration(kind, name, namespace string, resources ...string) map[string]any {
	var rules []any
	for _, resource := range resources {
		group, plural, grouped := strings.Cut(resource, "/")
		if !grouped {
			group, plural = "", resource
		}
		rules = append(rules, map[string]any{
			"apiGroups": []any{group}, "apiVersions": []any{"*"}, "resources": []any{plural},
			"operations": []any{"CREATE", "UPDATE"}, "scope": "*",
		})
	}
	return map[string]any{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind,
		"metadata": map[string]any{"name": name},
		"webhooks": []any{map[string]any{
			"name": name + ".example.com", "clientConfig": w.Client(), "rules": rules,
			"namespaceSelector": map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": namespace}},
			"sideEffects":       "None", "admissionReviewVersions": []any{"v1"},
			"timeoutSeconds": 10, "failurePolicy": "Fail",
		}},
	}
}

// maxReview is the most bytes that are read of an AdmissionReview, which has
// two objects.
const maxReview = 8 << 20

// ServeHTTP answers one AdmissionReview.
func (w *Webhook) ServeHTTP(out http.ResponseWriter, in *http.Request) {
	data, err := io.ReadAll(io.LimitReader(in.Body, maxReview))
	var review struct {
		Request *Admission `json:"request"`
	}
	if err == nil {
		err = json.Unmarshal(data, &review)
	}
	if err == nil && review.Request == nil {
		err = errors.New("no request")
	}
	if err != nil {
		http.Error(out, err.Error(), http.StatusBadRequest)
		return
	}
	w.mu.Lock()
	verdict := w.answer(*review.Request)
	w.mu.Unlock()
	if verdict.After > 0 {
		pause := time.NewTimer(verdict.After)
		defer pause.Stop()
		select {
		case <-pause.C:
		case <-in.Context().Done():
			return
		}
	}
	body, err := reviewAnswer(review.Request.UID, verdict)
	if err != nil {
		http.Error(out, err.Error(), http.StatusInternalServerError)
		return
	}
	out.Header().Set("Content-Type", "application/json")
	_, _ = out.Write(body)
}

func reviewAnswer(uid string, v Verdict) ([]byte, error) {
	response := map[string]any{"uid": uid, "allowed": v.Deny == ""}
	if v.Deny != "" {
		response["status"] = map[string]any{"code": http.StatusForbidden, "message": v.Deny}
	}
	if len(v.Patch) > 0 {
		patch, err := json.Marshal(v.Patch)
		if err != nil {
			return nil, fmt.Errorf("encoding the patch: %w", err)
		}
		response["patchType"], response["patch"] = "JSONPatch", patch
	}
	return json.Marshal(map[string]any{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response})
}
