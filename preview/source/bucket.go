package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
	"github.com/kubectl-operator/kubectl-operator/preview/source/diskcache"
	"github.com/kubectl-operator/kubectl-operator/preview/source/filetree"
)

// bucketSource reads archives from object stores. The pin's digest is the sha256 of the
// object's bytes, because an ETag or generation does not hash them. Each object is read
// with one request, so that all its bytes are of one version.
type bucketSource struct {
	options Options
	limits  filetree.Limits
	cache   diskcache.Cache

	// connect makes the one way to the network, when it is needed first.
	connect func() (*guard, error)
}

func newBucketSource(o Options, l filetree.Limits) *bucketSource {
	return &bucketSource{
		options: o, limits: l, cache: diskcache.Cache{Dir: o.CacheDir},
		connect: sync.OnceValues(func() (*guard, error) { return newGuard(o) }),
	}
}

// storedObject is the body of an object in a store, to be read.
type storedObject struct {
	io.ReadCloser
	size int64 // as claimed; negative when the store did not say
}

func (s *bucketSource) pin(ctx context.Context, r ref.Reference) (Pin, error) {
	digest, err := s.download(ctx, r, "")
	if err != nil {
		return Pin{}, objectError(r, err)
	}
	return Pin{Reference: r, Source: preview.Source{Kind: "bucket", Reference: r.Text, Digest: digest}}, nil
}

func (s *bucketSource) open(ctx context.Context, p Pin) (*Content, error) {
	t, err := openArchive(ctx, s.cache, s.limits, p.Source.Digest, func() error {
		_, err := s.download(ctx, p.Reference, p.Source.Digest)
		return err
	})
	if err != nil {
		return nil, objectError(p.Reference, err)
	}
	return &Content{FS: t.Freeze(), Source: p.Source, Plain: t.Plain}, nil
}

// download stores the object in the cache and returns its digest. If want is not empty,
// an object with another digest is an error.
func (s *bucketSource) download(ctx context.Context, r ref.Reference, want string) (string, error) {
	if s.options.Offline {
		return "", errOffline
	}
	network, err := s.connect()
	if err != nil {
		return "", err
	}
	// A redirect would carry the signature, or the token, elsewhere.
	client := &http.Client{Transport: network, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	open := openS3
	if r.Provider == ref.ProviderGCS {
		open = openGCS
	}
	body, err := open(ctx, client, r, s.options.Credentials)
	if err != nil {
		return "", err
	}
	defer func() { _ = body.Close() }()
	if body.size > s.limits.LayerBytes {
		return "", fmt.Errorf("it has %s; at most %s are read", bounded.ByteCount(body.size), bounded.ByteCount(s.limits.LayerBytes))
	}
	reader := &meteredReader{
		r:      &objectReader{body, storeOf(r)},
		now:    Progress{Reference: r.Text, Total: max(body.size, 0)},
		report: s.options.Progress,
	}
	if want == "" {
		return s.cache.Add(s.limits.LayerBytes, reader)
	}
	return want, s.cache.Put(want, s.limits.LayerBytes, reader)
}

// objectReader reads an object and turns errors of the network into sentences.
type objectReader struct {
	io.Reader
	store string
}

func (o *objectReader) Read(p []byte) (int, error) {
	n, err := o.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = explainNetwork(err, o.store)
	}
	return n, err
}

// storeOf names the store of a reference in errors, such as "the store at HOST".
func storeOf(r ref.Reference) string {
	if _, host, found := strings.Cut(r.Endpoint, "://"); found {
		return "the store at " + host
	}
	return "the store"
}

func objectError(r ref.Reference, err error) error {
	return fmt.Errorf("object %s of bucket %s: %w", bounded.Quote(r.Key), r.Bucket, err)
}

// storeStatus returns an error for an HTTP status other than success. code is the
// store's name for the error, and login is advice about credentials.
func storeStatus(r ref.Reference, status int, code, login string) error {
	if code != "" {
		code = ", " + bounded.Quote(code)
	}
	store := storeOf(r)
	switch {
	case status == http.StatusNotFound:
		return fmt.Errorf("%s does not have it (404%s); check bucket and key", store, code)
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fmt.Errorf("%s refuses access (%d%s); %s", store, status, code, login)
	case isBusy(status):
		return fmt.Errorf("%s has had too many requests (%d%s); try again later", store, status, code)
	case status >= 300 && status < 400:
		return fmt.Errorf("%s points elsewhere (%d%s), and credentials are not sent elsewhere; check endpoint and region", store, status, code)
	}
	return fmt.Errorf("%s answered %d%s", store, status, code)
}

// isBusy reports whether a store answers that a request is worth repeating later.
func isBusy(status int) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable
}
