package k8s

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// readOnlyTransport refuses to send requests that could change the cluster. In
// mode get only GETs are sent; in mode dry-run also server-side dry runs, and
// access reviews about the user itself (section 3 of the package documentation).
type readOnlyTransport struct {
	mode preview.ReadMode
	next http.RoundTripper
}

func (t readOnlyTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if !t.allows(r) {
		return nil, &readOnlyError{mode: t.mode, request: r.Method + " " + r.URL.Path}
	}
	return t.next.RoundTrip(r)
}

// writesTransport calls a function before it sends a request that may change
// the cluster, other than one on a Lease.
type writesTransport struct {
	writes func()
	next   http.RoundTripper
}

func (t writesTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if !(readOnlyTransport{mode: preview.ReadDryRun}).allows(r) && !strings.Contains(r.URL.Path, "/apis/coordination.k8s.io/") {
		t.writes()
	}
	return t.next.RoundTrip(r)
}

// selfReviews are the paths of the access reviews that every user may make
// about itself. They are POSTs, but the API server stores nothing.
var selfReviews = [...]string{
	"/apis/authentication.k8s.io/v1/selfsubjectreviews",
	"/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
	"/apis/authorization.k8s.io/v1/selfsubjectrulesreviews",
}

func (t readOnlyTransport) allows(r *http.Request) bool {
	switch {
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		return !opensConnection(r.URL.Path)
	case t.mode == preview.ReadGet:
		return false
	case r.Method == http.MethodPatch:
		return isDryRun(r)
	case r.Method == http.MethodPut:
		return isDryRun(r) && objectPath.MatchString(r.URL.Path) && !throughProxy.MatchString(r.URL.Path)
	case r.Method == http.MethodPost && isDryRun(r):
		return kindPath.MatchString(r.URL.Path) && !throughProxy.MatchString(r.URL.Path)
	case r.Method == http.MethodPost:
		// Servers behind a proxy have another path before it.
		return slices.ContainsFunc(selfReviews[:], func(path string) bool { return strings.HasSuffix(r.URL.Path, path) })
	}
	return false
}

func isDryRun(r *http.Request) bool { return slices.Equal(r.URL.Query()["dryRun"], []string{"All"}) }

// The paths of a kind and of one object, and not of a subresource, such as a token or what
// is behind a Service, which need not heed dryRun.
var (
	kindPath     = lazyregexp.New(`/(?:api|apis/[^/]+)/v[^/]+/(?:namespaces/[^/]+/)?[^/]+$`)
	objectPath   = lazyregexp.New(`/(?:api|apis/[^/]+)/v[^/]+/(?:namespaces/[^/]+/)?[^/]+/[^/]+$`)
	throughProxy = lazyregexp.New(`/(?:services|pods|nodes)/[^/]+/proxy/`)
)

// opensConnection reports whether a GET of this path opens a connection into a
// pod (exec, attach, port-forward) instead of reading.
func opensConnection(path string) bool {
	segments := strings.Split(strings.Trim(path, "/"), "/")
	for i := range segments {
		if segments[i] == "pods" && i+2 < len(segments) {
			switch segments[i+2] {
			case "exec", "attach", "portforward":
				return true
			}
		}
	}
	return false
}

// readOnlyError is the error for a request that [readOnlyTransport] did not send.
type readOnlyError struct {
	mode    preview.ReadMode
	request string
}

func (e *readOnlyError) Error() string {
	return fmt.Sprintf("read-only (%s): %s is not sent", e.mode, e.request)
}
