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

// proxyTimeout is the time limit of one download through the API server.
const proxyTimeout = 10 * time.Minute

// ServiceGet sends an HTTPS GET to a Service and writes the answer to w. The request
// goes through the API server's Service proxy, with this user's permission on
// services/proxy; the Service's certificate is not verified. path begins with "/". It
// returns errors like [Client.Get], or the errors of w.
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

// noRedirect is an error for a redirect. The answer may come from a Service behind
// the API server's proxy, and a redirect could send the user's credentials elsewhere.
func noRedirect(r *http.Request) error {
	if r.Response == nil {
		return nil
	}
	return fmt.Errorf("the answer is a redirect to %s, which is not followed", r.URL.Host)
}
