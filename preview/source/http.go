package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview/source/auth"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
)

const (
	webAttempts = 3
	// webPatience is the longest pause between two attempts (20 seconds); if a server
	// asks for more, the request fails.
	webPatience = 20 * time.Second
)

// web reads from https servers that are no registries: archives, git, chart
// repositories. Requests go through the [guard]; credentials are sent only to the host
// of the first request, and only over TLS.
type web struct {
	client func() (*http.Client, error) // made once, when first needed
}

func newWeb(o Options) *web {
	return &web{
		client: sync.OnceValues(func() (*http.Client, error) {
			guard, err := newGuard(o)
			if err != nil {
				return nil, err
			}
			transport, err := auth.NewTransport(guard, o.Credentials)
			if err != nil {
				return nil, err
			}
			return &http.Client{Transport: transport, CheckRedirect: checkRedirect}, nil
		}),
	}
}

// checkRedirect allows every redirect, because the guard limits them, and removes the
// Referer.
func checkRedirect(r *http.Request, _ []*http.Request) error {
	r.Header.Del("Referer") // the address it came from may be a signed one
	return nil
}

// webBody is the body of a response, with its size and final URL.
type webBody struct {
	io.Reader
	size int64    // as claimed; -1 when nothing is
	url  *url.URL // where redirects led
	stop func()
}

func (b *webBody) Close() error {
	b.stop()
	return nil
}

// get requests a URL. A response of more than most bytes is an error.
func (w *web) get(ctx context.Context, address string, most int64) (*webBody, error) {
	return w.send(ctx, webRequest{method: http.MethodGet, address: address, most: most, scheme: auth.Bearer})
}

// webRequest is a request that can be repeated.
type webRequest struct {
	method, address string
	header          http.Header
	body            []byte
	most            int64 // bytes of the answer
	scheme          auth.Scheme
	anonymous       bool // sends no credentials, not even those for its host
}

// send sends a request, up to three times if the server says to try again later.
func (w *web) send(ctx context.Context, q webRequest) (*webBody, error) {
	client, err := w.client()
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(q.address)
	if err != nil {
		return nil, errors.New("it is not a URL")
	}
	for attempt := 1; ; attempt++ {
		body, pause, err := w.try(ctx, client, u, q)
		if err == nil || pause < 0 || attempt == webAttempts {
			return body, err
		}
		if err := backOff(ctx, attempt, pause, err); err != nil {
			return nil, err
		}
	}
}

// backOff waits before the next attempt: as long as the server asked for, and at least
// longer each time. If that exceeds [webPatience] it does not wait, and returns why,
// the error of the last attempt.
func backOff(ctx context.Context, attempt int, asked time.Duration, why error) error {
	pause := max(asked, 250*time.Millisecond<<attempt)
	if pause > webPatience {
		return fmt.Errorf("%w; it wants %s of pause", why, pause.Round(time.Second))
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(pause):
		return nil
	}
}

// try sends the request once. With an error, a duration of 0 or more is the pause before
// a retry; a negative one means do not retry.
func (w *web) try(ctx context.Context, client *http.Client, u *url.URL, q webRequest) (*webBody, time.Duration, error) {
	sent := &auth.Sent{Host: u.Host, Scheme: q.scheme, Never: q.anonymous}
	request, err := http.NewRequestWithContext(auth.WithSent(ctx, sent), q.method, u.String(), bytes.NewReader(q.body))
	if err != nil {
		return nil, -1, errors.New("it is not a URL")
	}
	for name, values := range q.header {
		request.Header[name] = values
	}
	request.Header.Set("User-Agent", "kubectl-operator")
	// Otherwise net/http may decompress on its own, and the bytes would differ from the
	// file's.
	request.Header.Set("Accept-Encoding", "identity")
	response, err := client.Do(request)
	if err != nil {
		return nil, -1, explainNetwork(err, u.Host)
	}
	pause, err := checkResponse(response, u.Host, q.most, sent)
	if err != nil {
		_ = response.Body.Close()
		return nil, pause, err
	}
	return &webBody{
		Reader: &bounded.PeerReader{Reader: response.Body, Host: u.Host, Left: q.most, Most: q.most, Explain: explainNetwork},
		size:   response.ContentLength, url: response.Request.URL, stop: func() { _ = response.Body.Close() },
	}, 0, nil
}

// checkResponse returns an error for a response that is not 200, or is larger than most
// bytes, with the pause before another attempt as in [web.try].
func checkResponse(response *http.Response, host string, most int64, sent *auth.Sent) (time.Duration, error) {
	switch code := response.StatusCode; {
	case code == http.StatusOK && response.ContentLength > most:
		return -1, fmt.Errorf("%s announces %s; at most %s are read", host, bounded.ByteCount(response.ContentLength), bounded.ByteCount(most))
	case code == http.StatusOK:
		return 0, nil
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return -1, fmt.Errorf("%s refuses access (%d); %s", host, code, sent.Advice())
	case code == http.StatusNotFound:
		return -1, fmt.Errorf("%s does not have it (404), or hides it; check the name, or %s", host, sent.Advice())
	case code == http.StatusTooManyRequests:
		return retryAfter(response, time.Now()), fmt.Errorf("%s has had too many requests (429)", host)
	case code == http.StatusBadGateway || code == http.StatusServiceUnavailable || code == http.StatusGatewayTimeout:
		return retryAfter(response, time.Now()), fmt.Errorf("%s is not available (%d); try again later", host, code)
	default:
		return -1, fmt.Errorf("%s answered %d", host, code)
	}
}

// retryAfter returns the pause that the header Retry-After asks for (RFC 9110, section
// 10.2.3); 0 without one.
func retryAfter(response *http.Response, now time.Time) time.Duration {
	value := response.Header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(0, date.Sub(now))
	}
	return 0
}

// displayURL returns a URL for a message, without its query, which may contain a key.
func displayURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "from the web"
	}
	return u.Host + u.EscapedPath()
}
