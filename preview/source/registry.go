package source

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"

	"github.com/kubectl-operator/kubectl-operator/preview/source/auth"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
)

// registryClient reads from registries.
type registryClient struct {
	*remote.Puller
	guard *guard
	keys  authn.Keychain
}

func newRegistryClient(ctx context.Context, o Options) (*registryClient, error) {
	guard, err := newGuard(o)
	if err != nil {
		return nil, err
	}
	keys, err := registryKeys(ctx, o)
	if err != nil {
		return nil, err
	}
	c := &registryClient{guard: guard, keys: keys}
	c.Puller, err = remote.NewPuller(c.options()...)
	return c, err
}

// userAgent is the User-Agent of requests to registries.
const userAgent = "kubectl-operator"

// registryBackoff is how failed requests to registries are repeated: twice within a
// second.
func registryBackoff() remote.Backoff {
	return remote.Backoff{Duration: 200 * time.Millisecond, Factor: 3, Jitter: 0.1, Steps: 3}
}

// options returns the options for go-containerregistry: transport, credentials and
// retries.
func (c *registryClient) options() []remote.Option {
	return []remote.Option{
		remote.WithTransport(c.guard),
		remote.WithAuthFromKeychain(c.keys),
		remote.WithUserAgent(userAgent),
		remote.WithRetryBackoff(registryBackoff()),
	}
}

// repository returns a client for requests that go-containerregistry has no function
// for, with credentials to read one repository.
func (c *registryClient) repository(ctx context.Context, repo name.Repository) (*http.Client, error) {
	auth, err := authn.Resolve(ctx, c.keys, repo)
	if err != nil {
		return nil, err
	}
	retrying := transport.NewRetry(c.guard, transport.WithRetryBackoff(registryBackoff()), transport.WithRetryStatusCodes(
		http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout))
	login, err := transport.NewWithContext(ctx, repo.Registry, auth, transport.NewUserAgent(retrying, userAgent), []string{repo.Scope(transport.PullScope)})
	if err != nil {
		return nil, err
	}
	return &http.Client{Transport: login}, nil
}

// registryKeys returns the credentials for registries: credentials given for the
// reference; else pull secrets, then the user's own.
func registryKeys(ctx context.Context, o Options) (authn.Keychain, error) {
	if o.Credentials.Given() {
		return o.Credentials, nil
	}
	keys, err := auth.NewUserKeychain(o.RegistryConfig, o.RequestTimeout)
	if err != nil || len(o.PullSecrets) == 0 {
		return keys, err
	}
	pulls, err := auth.ReadPullSecrets(ctx, o.Cluster, o.PullSecrets)
	if err != nil {
		return nil, err
	}
	return authn.NewMultiKeychain(pulls, keys), nil
}

// parseImage parses an image reference for go-containerregistry. With plainHTTP that
// tries https first and then http.
func parseImage(image string, plainHTTP bool) (name.Reference, error) {
	opts := []name.Option{name.StrictValidation}
	if plainHTTP {
		opts = append(opts, name.Insecure)
	}
	r, err := name.ParseReference(image, opts...)
	if err != nil {
		return nil, fmt.Errorf("image %s: not a reference a registry takes", bounded.Quote(image))
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
		return name.Repository{}, fmt.Errorf("repository %s: not a name a registry takes", bounded.Quote(repo))
	}
	return r, nil
}

// explain returns an error of a registry as one sentence: without URLs, which may
// contain tokens, and without bodies, which may repeat them.
func explain(err error, host string) error {
	var (
		answer      *transport.Error
		certificate *tls.CertificateVerificationError
	)
	switch {
	case isVerifyError(err):
		return ErrDigestMismatch
	case isTokenRubbish(err):
		return fmt.Errorf("the token server of registry %s sends no token but something else", host)
	// With --plain-http both schemes are tried and both errors come back.
	case errors.As(err, &answer) && !errors.As(err, &certificate):
		return explainStatus(answer, host)
	}
	return explainNetwork(err, "registry "+host)
}

// isVerifyError reports whether err is one of go-containerregistry's two errors about
// bytes with the wrong digest, which have no exported type.
func isVerifyError(err error) bool {
	text := err.Error()
	return strings.HasPrefix(text, "error verifying ") || strings.Contains(text, "does not match requested digest")
}

// isTokenRubbish reports whether err is about a token server whose answer has no token.
// The error may quote the answer.
func isTokenRubbish(err error) bool {
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, shape := errors.AsType[*json.UnmarshalTypeError](err)
	return syntax || shape || strings.Contains(err.Error(), "no token in bearer response")
}

// ErrNotFound is wrapped by the errors of a registry about an image that it does not have.
var ErrNotFound = errors.New("the registry does not have it")

// notFoundError is an [ErrNotFound] with its own text.
type notFoundError struct{ text string }

func (e *notFoundError) Error() string { return e.text }
func (e *notFoundError) Unwrap() error { return ErrNotFound }

func explainStatus(answer *transport.Error, host string) error {
	code := ""
	if len(answer.Errors) > 0 {
		code = ", " + bounded.Quote(string(answer.Errors[0].Code))
	}
	switch answer.StatusCode {
	case http.StatusNotFound:
		return &notFoundError{fmt.Sprintf("registry %s does not have it (404%s); check name and tag", host, code)}
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("registry %s refuses access (%d%s); log in, or give --registry-config or --pull-secret", host, answer.StatusCode, code)
	case http.StatusTooManyRequests:
		return fmt.Errorf("registry %s has had too many requests (429); try again later", host)
	}
	return fmt.Errorf("registry %s answered %d%s", host, answer.StatusCode, code)
}
