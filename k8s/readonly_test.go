package k8s

import (
	"net/http"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview"
)

// sentTransport counts what gets through to it.
type sentTransport struct{ sent int }

func (s *sentTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	s.sent++
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
}

func TestAReadOnlyTransportSendsNothingThatWrites(t *testing.T) {
	const (
		pods    = "https://api.example/api/v1/namespaces/a/pods"
		reviews = "https://api.example/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
	)
	for name, tt := range map[string]struct {
		method, url string
		get, dryRun bool // whether it passes in each mode
	}{
		"a get passes":                           {"GET", pods + "/x", true, true},
		"a list passes":                          {"GET", pods + "?limit=3", true, true},
		"a watch passes":                         {"GET", pods + "?watch=1", true, true},
		"a log passes":                           {"GET", pods + "/x/log", true, true},
		"a HEAD passes":                          {"HEAD", pods, true, true},
		"a pod may be called exec":               {"GET", pods + "/exec", true, true},
		"exec by GET does not":                   {"GET", pods + "/x/exec?command=id", false, false},
		"attach does not":                        {"GET", pods + "/x/attach", false, false},
		"a port forward does not":                {"GET", pods + "/x/portforward", false, false},
		"a dry run passes where they may be":     {"PATCH", pods + "/x?dryRun=All", false, true},
		"an apply does not":                      {"PATCH", pods + "/x?force=true", false, false},
		"dryRun of another value does not":       {"PATCH", pods + "/x?dryRun=all", false, false},
		"dryRun beside another value does not":   {"PATCH", pods + "/x?dryRun=All&dryRun=", false, false},
		"dryRun in another spelling does not":    {"PATCH", pods + "/x?dryrun=All", false, false},
		"dryRun in the path does not":            {"PATCH", pods + "/dryRun=All", false, false},
		"an own access review passes":            {"POST", reviews, false, true},
		"an own rules review passes":             {"POST", strings.Replace(reviews, "access", "rules", 1), false, true},
		"who am I passes":                        {"POST", "https://api.example/apis/authentication.k8s.io/v1/selfsubjectreviews", false, true},
		"a review of somebody else does not":     {"POST", strings.Replace(reviews, "self", "", 1), false, false},
		"a create does not":                      {"POST", pods, false, false},
		"the dry run of a create passes":         {"POST", pods + "?dryRun=All", false, true},
		"that in a cluster does":                 {"POST", "https://api.example/k8s/clusters/c-1/apis/a.io/v1/things?dryRun=All", false, true},
		"that of an update does":                 {"PUT", pods + "/x?dryRun=All", false, true},
		"that of a token does not":               {"POST", "https://api.example/api/v1/namespaces/a/serviceaccounts/b/token?dryRun=All", false, false},
		"that behind a Service does not":         {"POST", "https://api.example/api/v1/namespaces/a/services/s/proxy/api/v1/pods?dryRun=All", false, false},
		"that of an eviction does not":           {"POST", pods + "/x/eviction?dryRun=All", false, false},
		"that of a finalizer does not":           {"PUT", "https://api.example/api/v1/namespaces/a/finalize?dryRun=All", false, false},
		"that of a cluster's status does not":    {"PUT", "https://api.example/apis/a.io/v1/things/x/status?dryRun=All", false, false},
		"an update does not":                     {"PUT", pods + "/x", false, false},
		"a delete does not":                      {"DELETE", pods + "/x", false, false},
		"a delete that says it is dry does not":  {"DELETE", pods + "/x?dryRun=All", false, false},
		"a token for a service account does not": {"POST", "https://api.example/api/v1/namespaces/a/serviceaccounts/b/token", false, false},
		"an eviction does not":                   {"POST", pods + "/x/eviction", false, false},
		"an unknown method does not":             {"BREW", pods, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			for mode, want := range map[preview.ReadMode]bool{preview.ReadGet: tt.get, preview.ReadDryRun: tt.dryRun} {
				r, err := http.NewRequestWithContext(t.Context(), tt.method, tt.url, nil)
				if err != nil {
					t.Fatal(err)
				}
				next := &sentTransport{}
				answer, err := readOnlyTransport{mode, next}.RoundTrip(r)
				if answer != nil {
					_ = answer.Body.Close()
				}
				if (next.sent == 1) != want || (err == nil) != want {
					t.Errorf("mode %s: sent %d times, error %v; want it to pass: %v", mode, next.sent, err, want)
				}
				if err != nil && preview.ReasonOf(classify(err)) != preview.ReasonOther {
					t.Errorf("mode %s: %v would be sent again", mode, err)
				}
			}
		})
	}
}

// TestWritesAreToldBeforeTheyAreSent: reads, dry runs, reviews of oneself and
// locks are none.
func TestWritesAreToldBeforeTheyAreSent(t *testing.T) {
	const server = "https://api.example"
	for request, writes := range map[string]bool{
		"GET " + server + "/api/v1/namespaces/a/pods/x":                                 false,
		"PATCH " + server + "/api/v1/namespaces/a/pods/x?dryRun=All":                    false,
		"POST " + server + "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews":     false,
		"PATCH " + server + "/apis/coordination.k8s.io/v1/namespaces/a/leases/x":        false,
		"PATCH " + server + "/api/v1/namespaces/a/pods/x?force=true":                    true,
		"DELETE " + server + "/api/v1/namespaces/a/pods/x":                              true,
		"PATCH " + server + "/apis/example.com/v1/namespaces/coordination.k8s.io/a/b?x": true,
	} {
		method, url, _ := strings.Cut(request, " ")
		r, err := http.NewRequestWithContext(t.Context(), method, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		next, sentBefore := &sentTransport{}, -1
		answer, err := writesTransport{func() { sentBefore = next.sent }, next}.RoundTrip(r)
		if err != nil || next.sent != 1 {
			t.Fatalf("%s: sent %d times, %v", request, next.sent, err)
		}
		_ = answer.Body.Close()
		if (sentBefore == 0) != writes {
			t.Errorf("%s: reported at %d requests, want it reported before: %v", request, sentBefore, writes)
		}
	}
}
