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

	"github.com/docker/cli/cli/config"
	"github.com/docker/cli/cli/config/configfile"
	"github.com/docker/cli/cli/config/types"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// remoteOptions are the go-containerregistry options that follow from ours.
func remoteOptions(ctx context.Context, o Options) ([]remote.Option, error) {
	guard, err := newGuard(o)
	if err != nil {
		return nil, err
	}
	var keys authn.Keychain = authn.DefaultKeychain
	switch {
	case o.Credentials.given():
		keys = o.Credentials
	case o.RegistryConfig != "":
		if keys, err = fileKeychain(o.RegistryConfig); err != nil {
			return nil, err
		}
	}
	if len(o.PullSecrets) > 0 && !o.Credentials.given() {
		pulls, err := readPullSecrets(ctx, o.Cluster, o.PullSecrets)
		if err != nil {
			return nil, err
		}
		keys = authn.NewMultiKeychain(pulls, keys)
	}
	return []remote.Option{
		remote.WithTransport(guard),
		remote.WithAuthFromKeychain(keys),
		remote.WithUserAgent("kubectl-operator"),
		// Two more attempts within a second, where trying again may help.
		remote.WithRetryBackoff(remote.Backoff{Duration: 200 * time.Millisecond, Factor: 3, Jitter: 0.1, Steps: 3}),
	}, nil
}

// parseImage reads an image reference for go-containerregistry. With plainHTTP
// it tries https first and then http.
func parseImage(image string, plainHTTP bool) (name.Reference, error) {
	opts := []name.Option{name.StrictValidation}
	if plainHTTP {
		opts = append(opts, name.Insecure)
	}
	r, err := name.ParseReference(image, opts...)
	if err != nil {
		return nil, fmt.Errorf("image %s: not a reference a registry takes", clip(image))
	}
	return r, nil
}

// parseRepository is parseImage for HOST/REPO.
func parseRepository(repo string, plainHTTP bool) (name.Repository, error) {
	opts := []name.Option{name.StrictValidation}
	if plainHTTP {
		opts = append(opts, name.Insecure)
	}
	r, err := name.NewRepository(repo, opts...)
	if err != nil {
		return name.Repository{}, fmt.Errorf("repository %s: not a name a registry takes", clip(repo))
	}
	return r, nil
}

// guard is the only way to the network. go-containerregistry chooses http by
// itself for loopback addresses, *.local names and private ranges; guard
// refuses that unless the user allowed it, and never follows a redirect from
// https down to http.
type guard struct {
	inner     http.RoundTripper
	plainHTTP bool
	// insecure are the hosts, as in URLs, whose certificates nobody verifies.
	insecure   map[string]bool
	unverified http.RoundTripper
}

// plainHTTPError is a request that would have left without TLS.
type plainHTTPError struct{ host string }

func (e *plainHTTPError) Error() string {
	return fmt.Sprintf("%s would be read over plain http; --plain-http allows it", e.host)
}

func newGuard(o Options) (*guard, error) {
	roots, err := trustedRoots(o)
	if err != nil {
		return nil, err
	}
	g := &guard{plainHTTP: o.PlainHTTP, insecure: map[string]bool{}, inner: newTransport(o, &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12})}
	for _, host := range o.InsecureRegistries {
		g.insecure[host] = true
	}
	if len(g.insecure) > 0 {
		g.unverified = newTransport(o, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12})
	}
	return g, nil
}

// unverified reports whether a reference leads to a host whose certificate
// nobody verifies.
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
			return &impatientConn{Conn: conn, patience: o.RequestTimeout}, nil
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

// trustedRoots are those of the system, and those that were given.
func trustedRoots(o Options) (*x509.CertPool, error) {
	var given []byte
	if o.Credentials != nil {
		given = o.Credentials.roots
	}
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
	if r.URL.Scheme != "https" && (!g.plainHTTP || r.URL.Scheme != "http" || fromHTTPS(r)) {
		return nil, &plainHTTPError{host: r.URL.Host}
	}
	inner := g.inner
	if g.insecure[r.URL.Host] {
		inner = g.unverified
	}
	response, err := inner.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if most, ok := r.Context().Value(bodyCap{}).(int64); ok {
		response.Body = &cappedBody{ReadCloser: response.Body, left: most, most: most}
	}
	return response, nil
}

// fromHTTPS reports whether a request follows a redirect of an https answer.
func fromHTTPS(r *http.Request) bool {
	return r.Response != nil && r.Response.Request != nil && r.Response.Request.URL.Scheme == "https"
}

// bodyCap is the context key of the most bytes an answer may have. It caps
// what go-containerregistry reads whole into memory.
type bodyCap struct{}

func withBodyCap(ctx context.Context, most int64) context.Context {
	return context.WithValue(ctx, bodyCap{}, most)
}

type cappedBody struct {
	io.ReadCloser
	left, most int64
}

func (b *cappedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, fmt.Errorf("%w of %s", errTooLarge, byteCount(b.most))
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n, fmt.Errorf("%w of %s", errTooLarge, byteCount(b.most))
	}
	return n, err
}

// impatientConn gives up on a peer that sends nothing for a while.
type impatientConn struct {
	net.Conn
	patience time.Duration
}

func (c *impatientConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.patience)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

// keychain takes credentials from one Docker config file.
type keychain struct{ file *configfile.ConfigFile }

func fileKeychain(path string) (authn.Keychain, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading --registry-config: %w", err)
	}
	defer func() { _ = f.Close() }()
	file, err := config.LoadFromReader(io.LimitReader(f, mib))
	if err != nil {
		// The cause is left out: it may quote the file.
		return nil, fmt.Errorf("reading --registry-config: %s is not a Docker config file", path)
	}
	return keychain{file}, nil
}

// Resolve implements [authn.Keychain]: the repository's entry, else the registry's.
func (k keychain) Resolve(target authn.Resource) (authn.Authenticator, error) {
	for _, key := range []string{target.String(), target.RegistryStr()} {
		if key == name.DefaultRegistry {
			key = authn.DefaultAuthKey
		}
		found, err := k.file.GetAuthConfig(key)
		if err != nil {
			return nil, fmt.Errorf("no credentials for %s: the credential helper of --registry-config failed", key)
		}
		found.ServerAddress = "" // set by the library, not a credential
		if found == (types.AuthConfig{}) {
			continue
		}
		return authn.FromConfig(authn.AuthConfig{
			Username: found.Username, Password: found.Password, Auth: found.Auth,
			IdentityToken: found.IdentityToken, RegistryToken: found.RegistryToken,
		}), nil
	}
	return authn.Anonymous, nil
}

// explain turns an error of a registry into one sentence without URLs, which
// may carry tokens, and without bodies, which may echo them.
func explain(err error, host string) error {
	var (
		answer      *transport.Error
		certificate *tls.CertificateVerificationError
	)
	switch {
	case isVerifyError(err):
		return ErrDigestMismatch
	// With --plain-http both schemes are tried and both errors come back.
	case errors.As(err, &answer) && !errors.As(err, &certificate):
		return explainStatus(answer, host)
	}
	return explainNetwork(err, "registry "+host)
}

// isVerifyError recognises go-containerregistry's two errors about bytes that
// are not what they were asked for as; they have no exported type.
func isVerifyError(err error) bool {
	text := err.Error()
	return strings.HasPrefix(text, "error verifying ") || strings.Contains(text, "does not match requested digest")
}

func explainStatus(answer *transport.Error, host string) error {
	code := ""
	if len(answer.Errors) > 0 {
		code = ", " + clip(string(answer.Errors[0].Code))
	}
	switch answer.StatusCode {
	case http.StatusNotFound:
		return fmt.Errorf("registry %s does not have it (404%s); check name and tag", host, code)
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("registry %s refuses access (%d%s); log in, or give --registry-config or --pull-secret", host, answer.StatusCode, code)
	case http.StatusTooManyRequests:
		return fmt.Errorf("registry %s has had too many requests (429); try again later", host)
	}
	return fmt.Errorf("registry %s answered %d%s", host, answer.StatusCode, code)
}

// innermost follows single wrapping to the cause, past the URLs that the
// errors around it print.
func innermost(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}

// firstLine drops what follows: there go-containerregistry quotes bodies.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	if len(line) > 200 {
		line = line[:200] + "…"
	}
	return line
}
