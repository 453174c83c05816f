package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
	"github.com/kubectl-operator/kubectl-operator/preview/source/diskcache"
)

// imageSource reads images from OCI registries. The pin's digest is the top-level
// manifest's, which may be an index. Everything below it is read by digest, through the
// cache.
type imageSource struct {
	imageReader
	mu       sync.Mutex
	registry *registryClient // made when the first byte is not in the cache
}

func newImageSource(reader imageReader) *imageSource { return &imageSource{imageReader: reader} }

// connect returns the client for registries, which the first call makes.
func (s *imageSource) connect(ctx context.Context) (*registryClient, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.registry != nil {
		return s.registry, nil
	}
	client, err := newRegistryClient(ctx, s.options)
	if err == nil {
		s.registry = client
	}
	return client, err
}

func (s *imageSource) pin(ctx context.Context, r ref.Reference) (Pin, error) {
	if r.Version != "" {
		return s.pinRange(ctx, r)
	}
	image, err := parseImage(r.Image, s.options.PlainHTTP)
	if err != nil {
		return Pin{}, err
	}
	pin := Pin{Reference: r, Source: preview.Source{Kind: "image", Reference: r.Text}}
	if pinned, ok := image.(name.Digest); ok {
		pin.Source.Digest = pinned.DigestStr()
		return pin, nil
	}
	if s.options.Offline {
		return Pin{}, fmt.Errorf("image %s: %w, and --offline forbids to look its tag up; give HOST/REPO@sha256:HEX", r.Image, ErrNotCached)
	}
	if repo := image.Context(); mirrorsOf(s.options.Mirrors, repo).never {
		return Pin{}, fmt.Errorf("image %s: the mirror rules forbid to ask %s, and mirrors answer digests only; give HOST/REPO@sha256:HEX", r.Image, repo.RegistryStr())
	}
	data, err := s.download(ctx, image)
	if err != nil {
		return Pin{}, fmt.Errorf("image %s: %w", r.Image, err)
	}
	pin.Source.Digest, err = s.keep(data)
	if err != nil {
		return Pin{}, fmt.Errorf("image %s: %w", r.Image, err)
	}
	return pin, nil
}

// download returns a manifest from the registry.
func (s *imageSource) download(ctx context.Context, image name.Reference) ([]byte, error) {
	registry, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	got, err := registry.Get(withBodyCap(ctx, s.limits.ManifestBytes), image)
	if errors.Is(err, bounded.ErrTooLarge) {
		return nil, fmt.Errorf("the manifest is %w of %s", bounded.ErrTooLarge, bounded.ByteCount(s.limits.ManifestBytes))
	}
	if err != nil {
		return nil, explain(err, image.Context().RegistryStr())
	}
	return got.Manifest, nil
}

func (s *imageSource) open(ctx context.Context, p Pin) (*Content, error) {
	from, err := s.origin(p.Reference.Image)
	if err != nil {
		return nil, err
	}
	content, err := s.read(ctx, from, p)
	if err != nil {
		return nil, fmt.Errorf("image %s: %w", p.Reference.Image, err)
	}
	return content, nil
}

// origin returns where an image is read from that is not in the cache: its mirrors and
// registry, or nothing when offline.
func (s *imageSource) origin(image string) (blobReader, error) {
	if s.options.Offline {
		return offlineReader{}, nil
	}
	parsed, err := parseImage(image, s.options.PlainHTTP)
	if err != nil {
		return nil, err
	}
	from := registryOrigin{source: s, places: []name.Repository{parsed.Context()}}
	found := mirrorsOf(s.options.Mirrors, parsed.Context())
	if found.never {
		from.places = nil
	}
	for i, text := range found.places {
		repo, err := parseRepository(text, s.options.PlainHTTP)
		if err != nil {
			return nil, err
		}
		from.places = slices.Insert(from.places, i, repo)
	}
	return from, nil
}

// registryOrigin reads an image from the mirrors of a repository, then from the
// repository. Bytes of each are verified; a mirror with wrong bytes counts as one
// without the image.
type registryOrigin struct {
	source *imageSource
	places []name.Repository
}

func (o registryOrigin) manifest(ctx context.Context, digest string) ([]byte, error) {
	var data []byte
	err := o.each(ctx, func(repo name.Repository) (err error) {
		data, err = o.source.download(ctx, repo.Digest(digest))
		return err
	})
	return data, err
}

func (o registryOrigin) Blob(ctx context.Context, d v1.Descriptor, use func(io.Reader) error) error {
	return o.each(ctx, func(repo name.Repository) error {
		registry, err := o.source.connect(ctx)
		if err != nil {
			return err
		}
		layer, err := registry.Layer(ctx, repo.Digest(d.Digest.String()))
		if err != nil {
			return explain(err, repo.RegistryStr())
		}
		body, err := layer.Compressed()
		if err != nil {
			return explain(err, repo.RegistryStr())
		}
		defer func() { _ = body.Close() }()
		return use(explainingReader{body, repo.RegistryStr()})
	})
}

// each calls try with the mirrors and the repository in order, until one succeeds. An
// ended context, or an error of writing the cache, stops it.
func (o registryOrigin) each(ctx context.Context, try func(name.Repository) error) error {
	var failed error
	for _, repo := range o.places {
		err := try(repo)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil, errors.Is(err, diskcache.ErrWrite):
			return err
		case failed == nil:
			failed = err
		default:
			failed = fmt.Errorf("%w; %w", failed, err)
		}
	}
	return failed
}

// explainingReader reads a blob and turns errors of the registry into sentences.
type explainingReader struct {
	io.Reader
	host string
}

func (e explainingReader) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = explain(err, e.host)
	}
	return n, err
}
