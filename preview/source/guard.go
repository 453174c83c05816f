package source

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
)

// maxRedirects is how many redirects of one request are followed (10), as in net/http.
const maxRedirects = 10

var errTooManyRedirects = fmt.Errorf("more than %d redirects", maxRedirects)

// guard is the transport of all requests to the network. It refuses plain http unless
// the user allowed it, even where go-containerregistry chooses http (loopback
// addresses, *.local names, private ranges), and redirects from https to http. It ends
// redirect loops and endless or very slow responses, and refuses servers that redirect
// into a private network.
type guard struct {
	inner     http.RoundTripper
	plainHTTP bool
	// insecure are the hosts, as in URLs, whose certificates are not verified.
	insecure   map[string]bool
	unverified http.RoundTripper
	patience   time.Duration
	private    privateAddresses
}

// plainHTTPError is the error for a request that would be sent without TLS.
type plainHTTPError struct{ host string }

func (e *plainHTTPError) Error() string {
	return fmt.Sprintf("%s would be read over plain http; --plain-http allows it", e.host)
}

func newGuard(o Options) (*guard, error) {
	roots, err := trustedRoots(o)
	if err != nil {
		return nil, err
	}
	g := &guard{
		plainHTTP: o.PlainHTTP, insecure: map[string]bool{}, patience: o.RequestTimeout, private: o.PrivateAddresses,
		inner: newTransport(o, &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}),
	}
	for _, host := range o.InsecureRegistries {
		g.insecure[host] = true
	}
	if len(g.insecure) > 0 {
		g.unverified = newTransport(o, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}) //nolint:gosec // what the user asked for, see Options
	}
	return g, nil
}

// unverified reports whether a reference is to a host whose certificate is not
// verified, because the user said so.
func (o Options) unverified(r ref.Reference) bool {
	host, _, _ := strings.Cut(r.Image, "/")
	for _, place := range []string{r.URL, r.Endpoint} {
		if u, err := url.Parse(place); err == nil && u.Host != "" {
			host = u.Host
		}
	}
	return slices.Contains(o.InsecureRegistries, host)
}

func newTransport(o Options, tlsConfig *tls.Config) *http.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &bounded.IdleConn{Conn: conn, Patience: o.RequestTimeout}, nil
		},
		TLSClientConfig:       tlsConfig,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   8,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: o.RequestTimeout,
		ExpectContinueTimeout: time.Second,
	}
}

// trustedRoots returns the system's certificate authorities and the given ones; nil for
// the system's alone.
func trustedRoots(o Options) (*x509.CertPool, error) {
	given := o.Credentials.RootsPEM()
	if o.CAFile == "" && len(given) == 0 {
		return nil, nil // the system's
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if o.CAFile != "" {
		pem, err := os.ReadFile(o.CAFile)
		if err != nil {
			return nil, fmt.Errorf("reading --ca-file: %w", err)
		}
		if !roots.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("reading --ca-file: %s holds no PEM certificate", o.CAFile)
		}
	}
	if len(given) > 0 && !roots.AppendCertsFromPEM(given) {
		return nil, errors.New("the roots that the request gives for it hold no PEM certificate")
	}
	return roots, nil
}

// RoundTrip implements [http.RoundTripper].
func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	first, redirects := firstRequest(r)
	if redirects > maxRedirects {
		return nil, errTooManyRedirects
	}
	r = g.private.resolve(r)
	switch {
	case r.URL.Scheme != "https" && r.URL.Scheme != "http":
		return nil, fmt.Errorf("an address of the form %s: is not read, https: is", bounded.Quote(r.URL.Scheme))
	case r.URL.Scheme == "http" && (!g.plainHTTP || fromHTTPS(r)):
		return nil, &plainHTTPError{host: r.URL.Host}
	}
	inner := g.inner
	if g.insecure[r.URL.Host] {
		inner = g.unverified
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	response, err := inner.RoundTrip(r.WithContext(ctx))
	if err != nil {
		cancel(nil)
		return nil, err
	}
	most, ok := ctx.Value(bodyCap{}).(int64)
	if !ok {
		most = defaultBodyCap
	}
	paced := bounded.NewPacedBody(ctx, response.Body, g.patience, cancel)
	response.Body = &cappedBody{ReadCloser: paced, left: most, most: most}
	if err := g.private.check(first.URL, response); err != nil {
		_ = response.Body.Close()
		return nil, err
	}
	return response, nil
}

// firstRequest returns the request that was made before any redirects, and their
// number.
func firstRequest(r *http.Request) (first *http.Request, redirects int) {
	for first = r; first.Response != nil && first.Response.Request != nil; redirects++ {
		first = first.Response.Request
	}
	return first, redirects
}

// fromHTTPS reports whether a request follows a redirect that came over https.
func fromHTTPS(r *http.Request) bool {
	return r.Response != nil && r.Response.Request != nil && r.Response.Request.URL.Scheme == "https"
}

// bodyCap is the context key for the most bytes of a response that go-containerregistry
// may read into memory.
type bodyCap struct{}

// defaultBodyCap is the most bytes of a response whose context sets no limit: no file
// or layer may be larger.
const defaultBodyCap = 512 * bounded.MiB

func withBodyCap(ctx context.Context, most int64) context.Context {
	return context.WithValue(ctx, bodyCap{}, most)
}

type cappedBody struct {
	io.ReadCloser
	left, most int64
}

func (b *cappedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, fmt.Errorf("%w of %s", bounded.ErrTooLarge, bounded.ByteCount(b.most))
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n, fmt.Errorf("%w of %s", bounded.ErrTooLarge, bounded.ByteCount(b.most))
	}
	return n, err
}
