package k8s

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/k8s/flight"
)

// A Service's answer is untrusted: a redirect would take the user's credentials along.
func TestRedirectsAreNotFollowed(t *testing.T) {
	sent := 0
	transport := cappedTransport{&flight.Limiter{}, roundTripper(func(r *http.Request) (*http.Response, error) {
		sent++
		return &http.Response{StatusCode: http.StatusFound, Header: http.Header{"Location": {"https://evil.example/"}}, Body: http.NoBody, Request: r}, nil
	})}
	_, err := (&http.Client{Transport: transport}).Get("https://api.example/api/v1/namespaces/a/services/https:b:443/proxy/")
	if err == nil || !strings.Contains(err.Error(), "a redirect to evil.example, which is not followed") || sent != 1 {
		t.Errorf("%d requests, %v", sent, err)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestOnlyNamesAreAskedForThroughTheProxy(t *testing.T) {
	for _, bad := range [][4]string{
		{"..", "s", "443", "/a"}, {"n", "s/../x", "443", "/a"}, {"n", "s", "443?x", "/a"},
		{"n", "s", "443", "/a/../b"}, {"n", "s", "443", "/a?b"}, {"n", "s:1", "443", "/a"}, {"n", "s", "", "/a"}, {"n", "s", "443", "/"},
	} {
		var out bytes.Buffer
		err := (&Client{}).ServiceGet(t.Context(), bad[0], bad[1], bad[2], bad[3], &out)
		if err == nil || !strings.Contains(err.Error(), "cannot be part of a URL") {
			t.Errorf("%v: %v", bad, err)
		}
	}
}
