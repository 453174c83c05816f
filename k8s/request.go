package k8s

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubectl-operator/kubectl-operator/k8s/flight"
	"github.com/kubectl-operator/kubectl-operator/preview"
)

// maxRetryAfter is the longest Retry-After of an answer that a read waits for.
const maxRetryAfter = 5 * time.Second

// maxThrottled is how often a read or dry run is sent again that the server refuses as too
// many (429), as often as client-go sends its own.
const maxThrottled = 10

// many returns the client for requests of one kind that are sent many at a time: they wait
// until [flight.Limiter] lets them. Others do not wait, such as those that hold a lock.
func (c *Client) many(kind string) *Client {
	out := *c
	out.kind = kind
	return &out
}

// do sends one request, without retries, and returns the body and the warnings
// of the response.
func (c *Client) do(ctx context.Context, r *rest.Request) (data []byte, warnings []string, err error) {
	if c.kind == "" {
		return c.send(ctx, r)
	}
	waited := c.flights.Do(ctx, c.kind, func() flight.Answer {
		data, warnings, err = c.send(ctx, r)
		return flight.Answer{TooMany: preview.Throttled(err), RetryAfter: retryAfter(err)}
	})
	if waited != nil {
		return nil, nil, classify(waited)
	}
	return data, warnings, err
}

func (c *Client) send(ctx context.Context, r *rest.Request) (data []byte, warnings []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	result := r.MaxRetries(0).Do(ctx)
	for _, w := range result.Warnings() {
		warnings = append(warnings, w.Text)
	}
	if err := result.Error(); err != nil {
		return nil, warnings, classify(err)
	}
	data, err = result.Raw()
	return data, warnings, err
}

// readRaw sends a read request, and repeats it while the server is unavailable.
func (c *Client) readRaw(ctx context.Context, r *rest.Request) ([]byte, error) {
	var data []byte
	err := c.retry(ctx, func() error {
		var err error
		data, _, err = c.do(ctx, r)
		return err
	})
	return data, err
}

// readBody is [Client.readRaw] for a response that is one object.
func (c *Client) readBody(ctx context.Context, r *rest.Request) (map[string]any, error) {
	data, err := c.readRaw(ctx, r)
	if err != nil {
		return nil, err
	}
	return decodeBody(data)
}

// undecodable returns the [preview.Refusal] for a response that violates the API; the
// argument what names it.
func undecodable(what string, err error) error {
	return &preview.Refusal{Reason: preview.ReasonOther, Message: "the " + what + " cannot be decoded: " + err.Error(), Err: err}
}

func decodeBody(data []byte) (map[string]any, error) {
	v, err := preview.DecodeJSON(data)
	if err != nil {
		return nil, undecodable("answer", err)
	}
	body, ok := v.(map[string]any)
	if !ok {
		return nil, &preview.Refusal{Reason: preview.ReasonOther, Message: "the answer is not an object"}
	}
	return body, nil
}

// retry calls attempt, and calls it again while it fails as unavailable, or more often
// while the server refuses it as too many. A request that reached its timeout is not
// repeated, because the user has set how long to wait.
func (c *Client) retry(ctx context.Context, attempt func() error) error {
	for failed, throttled := 0, 0; ; {
		err := attempt()
		if preview.ReasonOf(err) != preview.ReasonUnavailable || errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
			return err
		}
		n := &failed
		if preview.Throttled(err) && throttled < maxThrottled {
			n = &throttled
		}
		if n == &failed && failed == len(c.backoff) || !sleep(ctx, max(c.backoff[min(*n, len(c.backoff)-1)], retryAfter(err))) {
			return err
		}
		*n++
	}
}

// retryAfter returns for how long the server asks not to send a refused request again, at
// most [maxRetryAfter].
func retryAfter(err error) time.Duration {
	if refused, ok := errors.AsType[*preview.Refusal](err); ok {
		return min(refused.RetryAfter, maxRetryAfter)
	}
	return 0
}

// sleep waits for d. It returns false if ctx ends earlier.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// collection returns a GET of a kind's objects, in all namespaces if namespace
// is empty.
func (c *Client) collection(res resource, namespace string) *rest.Request {
	r := c.rest.Get().AbsPath(res.path).Resource(res.plural)
	if res.namespaced && namespace != "" {
		r = r.Namespace(namespace)
	}
	return r
}

// object returns a request with that verb (HTTP method) on one object.
func (c *Client) object(verb string, res resource, ref preview.Ref) (*rest.Request, error) {
	refuse := func(problem string) (*rest.Request, error) {
		return nil, &preview.Refusal{Reason: preview.ReasonOther, Message: fmt.Sprintf("%s %q: %s", ref.Kind, ref.Name, problem)}
	}
	if ref.Name == "" {
		return refuse("it has no name")
	}
	if problems := rest.IsValidPathSegmentName(ref.Name); len(problems) > 0 {
		return refuse("the name " + problems[0])
	}
	r := c.rest.Verb(verb).AbsPath(res.path).Resource(res.plural)
	if res.namespaced {
		if ref.Namespace == "" {
			return refuse("it has no namespace")
		}
		if problems := rest.IsValidPathSegmentName(ref.Namespace); len(problems) > 0 {
			return refuse("the namespace " + problems[0])
		}
		r = r.Namespace(ref.Namespace)
	}
	return r.Name(ref.Name), nil
}

// groupVersionPath returns the URL path of an API version, "/api/v1" or
// "/apis/GROUP/VERSION".
func groupVersionPath(apiVersion string) (string, error) {
	group, version, grouped := strings.Cut(apiVersion, "/")
	if !grouped {
		group, version = "", apiVersion
	}
	for _, segment := range []string{group, version} { // client-go does not check an AbsPath
		if problems := rest.IsValidPathSegmentName(segment); len(problems) > 0 || strings.ContainsAny(segment, "?#") {
			return "", fmt.Errorf("apiVersion %q cannot be part of a URL", apiVersion)
		}
	}
	switch {
	case version == "" || grouped && group == "":
		return "", fmt.Errorf("apiVersion %q is neither VERSION nor GROUP/VERSION", apiVersion)
	case !grouped:
		return "/api/" + version, nil
	}
	return "/apis/" + group + "/" + version, nil
}

// cappedTransport limits responses to [maxResponse], beyond which reading them
// is an error, and refuses redirects. Without HTTP/2 each request in flight takes a
// connection, so that their number stays small.
type cappedTransport struct {
	flights *flight.Limiter
	next    http.RoundTripper
}

func (t cappedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := noRedirect(r); err != nil {
		return nil, err
	}
	response, err := t.next.RoundTrip(r)
	if err == nil && response.ProtoMajor < 2 {
		t.flights.Cap()
	}
	if err != nil || r.URL.Query().Get("watch") != "" {
		return response, err // a watch lasts; its events are capped one by one
	}
	response.Body = &cappedBody{ReadCloser: response.Body, left: maxResponse}
	return response, nil
}

type cappedBody struct {
	io.ReadCloser
	left int64
}

func (b *cappedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("the response is larger than %d MiB", maxResponse>>20)
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	return n, err
}
