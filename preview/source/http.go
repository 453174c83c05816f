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
	// webPatience is the longest pause between two attempts that is waited for.
	webPatience = 20 * time.Second
)

// web reads from https servers other than registries: archives, git, chart
// repositories. Requests go through the guard; credentials go to the host of
// the first request alone, and only over TLS.
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

// checkRedirect allows every redirect, because the guard limits them.
func checkRedirect(r *http.Request, _ []*http.Request) error {
	r.Header.Del("Referer") // the address it came from may be a signed one
	return nil
}

// webBody is an answer being read.
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

// get reads a URL, at most most bytes.
func (w *web) get(ctx context.Context, address string, most int64) (*webBody, error) {
	return w.send(ctx, webRequest{method: http.MethodGet, address: address, most: most, scheme: auth.Bearer})
}

// webRequest is one that may be sent again.
type webRequest struct {
	method, address string
	header          http.Header
	body            []byte
	most            int64 // bytes of the answer
	scheme          auth.Scheme
	anonymous       bool // sends no credentials, not even those for its host
}

// send asks up to three times while the server says to come back later.
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

// backOff waits before the next attempt: as long as the server asked for, and
// longer each time. It returns why the last attempt failed, when the pause
// would be too long.
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

// try sends the request once. A pause of zero or more means that it is worth
// trying again after that time.
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
	// Otherwise net/http may decompress on its own, and the bytes would not be
	// those of the file.
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

// checkResponse turns any answer but 200 with a bearable size into a sentence.
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

// retryAfter reads the header of RFC 9110, section 10.2.3; zero without one.
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

// displayURL returns a URL without its query, which may hold a key, for a message.
func displayURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "from the web"
	}
	return u.Host + u.EscapedPath()
}
