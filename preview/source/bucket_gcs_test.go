package source

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// googleCredentials writes the key file of a service account, and makes it the
// default.
func googleCredentials(t *testing.T) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	file, err := json.Marshal(map[string]string{
		"type": "service_account", "client_email": "me@example.com", "private_key_id": "1",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
		"token_uri":   "https://oauth2.googleapis.com/token",
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "key.json")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", path)
	t.Setenv("STORAGE_EMULATOR_HOST", "")
}

// asGoogle returns a client that resolves every name to a server on loopback.
func asGoogle(t *testing.T, handler http.Handler) *http.Client {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
		},
		// httptest's certificate is for example.com, not for Google.
		TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "example.com"},
	}}
}

func gcsObject(t *testing.T, query string) ref.Reference {
	t.Helper()
	r, err := ref.Parse("gs://bundles/team a/x%2F.tar" + query)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestGoogleIsAskedWithATokenOfTheDefaultCredentials(t *testing.T) {
	googleCredentials(t)
	var asked string
	client := asGoogle(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "oauth2.googleapis.com" {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"access_token": "hunter2", "token_type": "Bearer", "expires_in": 3600}`))
			return
		}
		asked = r.Host + r.URL.RequestURI() + " " + r.Header.Get("Authorization") + " " + r.Header.Get("Accept-Encoding")
		_, _ = w.Write([]byte("bytes"))
	}))
	body, err := openGCS(t.Context(), client, gcsObject(t, ""), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = body.Close() }()
	const want = "storage.googleapis.com/storage/v1/b/bundles/o/team%20a%2Fx%252F.tar?alt=media Bearer hunter2 gzip"
	if asked != want {
		t.Errorf("asked for %q, want %q", asked, want)
	}
}

func TestATokenIsNeverSentToAnEndpointThatIsNotGoogles(t *testing.T) {
	googleCredentials(t)
	var requests []string
	client := asGoogle(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests = append(requests, r.Host+" "+r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusForbidden)
	}))
	for _, host := range []string{"example.com", "googleapis.com.example.com", "evilgoogleapis.com"} {
		requests = nil
		_, err := openGCS(t.Context(), client, gcsObject(t, "?endpoint=https://"+host), nil)
		if err == nil || !strings.Contains(err.Error(), "own hosts only") {
			t.Errorf("%s: %v", host, err)
		}
		if len(requests) != 1 || requests[0] != host+" " {
			t.Errorf("%s: requests %q", host, requests)
		}
	}
}

func TestCredentialsThatGiveNoTokenAreNotQuoted(t *testing.T) {
	googleCredentials(t)
	client := asGoogle(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"error": "invalid_grant", "error_description": "hunter2"}`, http.StatusBadRequest)
	}))
	_, err := openGCS(t.Context(), client, gcsObject(t, ""), nil)
	if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "give no token") {
		t.Errorf("got %v", err)
	}
}

func TestTheEmulatorOfTheEnvironmentIsRead(t *testing.T) {
	tests := []struct{ emulator, want string }{
		{"", "https://storage.googleapis.com"},
		{"localhost:4443", "http://localhost:4443"},
		{"https://localhost:4443/", "https://localhost:4443"},
		{"https://localhost:4443/x", ""},
	}
	for _, test := range tests {
		got, err := gcsEndpointOf(ref.Reference{}, test.emulator)
		if got != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%q: got %q, %v, want %q", test.emulator, got, err, test.want)
		}
	}
}

func TestABusyStoreIsAskedAgain(t *testing.T) {
	t.Setenv("STORAGE_EMULATOR_HOST", "https://example.com")
	for _, test := range []struct {
		name    string
		answers []int
		fails   string
	}{
		{"until it answers", []int{http.StatusServiceUnavailable, http.StatusTooManyRequests, http.StatusOK}, ""},
		{"but not for ever", []int{http.StatusTooManyRequests, http.StatusTooManyRequests, http.StatusTooManyRequests}, "too many requests"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel() // each waits twice
			client := asGoogle(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(test.answers[0])
				test.answers = test.answers[1:]
			}))
			body, err := openGCS(t.Context(), client, gcsObject(t, ""), nil)
			if test.fails == "" && err != nil || test.fails != "" && (err == nil || !strings.Contains(err.Error(), test.fails)) {
				t.Fatalf("got %v, want %q", err, test.fails)
			}
			if err == nil {
				_ = body.Close()
			}
			if len(test.answers) != 0 {
				t.Errorf("%d answers are left", len(test.answers))
			}
		})
	}
}
