package k8s

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"k8s.io/client-go/rest"
)

// proxyTimeout bounds one download through the API server.
const proxyTimeout = 10 * time.Minute

// ServiceGet writes the answer of a Service to an HTTPS GET to w. The API server's
// Service proxy sends the request, with this user's permission on services/proxy;
// it does not verify the Service's certificate. path begins with "/". Errors are
// as those of [Client.Get], or of w.
func (c *Client) ServiceGet(ctx context.Context, namespace, service, port, path string, w io.Writer) error {
	for _, segment := range append(strings.Split(strings.TrimPrefix(path, "/"), "/"), namespace, service, port) {
		if problems := rest.IsValidPathSegmentName(segment); len(problems) > 0 || strings.ContainsAny(segment, "?#:") || segment == "" {
			return fmt.Errorf("service %s/%s port %s path %q cannot be part of a URL", namespace, service, port, path)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, proxyTimeout)
	defer cancel()
	answer, err := c.rest.Get().
		AbsPath("/api/v1/namespaces/"+namespace+"/services/https:"+service+":"+port+"/proxy"+path).
		SetHeader("Accept", "*/*").MaxRetries(0).Stream(ctx)
	if err != nil {
		return classify(err)
	}
	_, err = io.Copy(w, answer)
	if closeErr := answer.Close(); err == nil {
		err = closeErr
	}
	return err
}

// noRedirect refuses to follow redirects. What the API server proxies may come
// from a Service, and a redirect could send the user's credentials elsewhere.
func noRedirect(r *http.Request) error {
	if r.Response == nil {
		return nil
	}
	return fmt.Errorf("the answer is a redirect to %s, which is not followed", r.URL.Host)
}
