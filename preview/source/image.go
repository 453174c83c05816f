package source

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"golang.org/x/sync/errgroup"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// parallelDownloads bounds the layers fetched at once.
const parallelDownloads = 4

// imageSource reads images from OCI registries. The digest of a pin is that of
// the top-level manifest, an index where there is one. From there everything
// goes by digest, through the cache.
type imageSource struct {
	options Options
	limits  limits
	cache   cache

	// connect is done once, when the first blob is not in the cache.
	connect func() (*remote.Puller, error)
}

func newImageSource(o Options, l limits) *imageSource {
	return &imageSource{
		options: o, limits: l, cache: cache{dir: o.CacheDir},
		connect: sync.OnceValues(func() (*remote.Puller, error) {
			opts, err := remoteOptions(o)
			if err != nil {
				return nil, err
			}
			return remote.NewPuller(opts...)
		}),
	}
}

func (s *imageSource) pin(ctx context.Context, r ref.Reference) (Pin, error) {
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
		return Pin{}, fmt.Errorf("image %s: a tag is looked up in its registry, and --offline forbids that; give HOST/REPO@sha256:HEX", r.Image)
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

// keep puts a manifest into the cache under the digest of the bytes we have.
// The digest the registry claims plays no part.
func (s *imageSource) keep(data []byte) (string, error) {
	sum := sha256.New()
	sum.Write(data)
	digest := digestOf(sum)
	return digest, s.cache.put(digest, s.limits.manifestBytes, strings.NewReader(string(data)))
}

// download reads one manifest whole from the registry.
func (s *imageSource) download(ctx context.Context, image name.Reference) ([]byte, error) {
	puller, err := s.connect()
	if err != nil {
		return nil, err
	}
	got, err := puller.Get(withBodyCap(ctx, s.limits.manifestBytes), image)
	if errors.Is(err, errTooLarge) {
		return nil, fmt.Errorf("the manifest is %w of %s", errTooLarge, byteCount(s.limits.manifestBytes))
	}
	if err != nil {
		return nil, explain(err, image.Context().RegistryStr())
	}
	return got.Manifest, nil
}

func (s *imageSource) open(ctx context.Context, p Pin) (*Content, error) {
	content, err := s.read(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("image %s: %w", p.Reference.Image, err)
	}
	return content, nil
}

func (s *imageSource) read(ctx context.Context, p Pin) (*Content, error) {
	image, err := parseImage(p.Reference.Image, s.options.PlainHTTP)
	if err != nil {
		return nil, err
	}
	if !ref.IsDigest(p.Source.Digest) {
		return nil, fmt.Errorf("%s is not a sha256 digest", clip(p.Source.Digest))
	}
	repo := image.Context()
	m, err := s.manifest(ctx, repo, p.Source.Digest)
	if err != nil {
		return nil, err
	}
	labels, err := s.labels(ctx, repo, *m.Config)
	if err != nil {
		return nil, err
	}
	if err := s.downloadLayers(ctx, repo, p.Reference.Text, m.Layers); err != nil {
		return nil, err
	}
	t, err := s.unpack(ctx, repo, m.Layers, labels)
	if err != nil {
		return nil, err
	}
	return &Content{FS: t.freeze(), Source: p.Source, Labels: labels}, nil
}

// manifest returns the image manifest behind a digest: itself, or the index's
// one for the platform.
func (s *imageSource) manifest(ctx context.Context, repo name.Repository, digest string) (*manifest, error) {
	m, err := s.oneManifest(ctx, repo, digest)
	if err != nil || m.Manifests == nil {
		return m, err
	}
	child, err := m.forPlatform(s.options.Platform)
	if err != nil {
		return nil, err
	}
	m, err = s.oneManifest(ctx, repo, child.Digest.String())
	if err == nil && m.Manifests != nil {
		return nil, errors.New("an index within an index is not read")
	}
	return m, err
}

func (s *imageSource) oneManifest(ctx context.Context, repo name.Repository, digest string) (*manifest, error) {
	data, err := s.cache.read(digest, s.limits.manifestBytes)
	if err != nil {
		if err := s.missing(digest, err); err != nil {
			return nil, err
		}
		if data, err = s.download(ctx, repo.Digest(digest)); err != nil {
			return nil, fmt.Errorf("manifest %s: %w", digest, err)
		}
		// put hashes once more, so that what is parsed below has the digest.
		if err := s.cache.put(digest, s.limits.manifestBytes, strings.NewReader(string(data))); err != nil {
			return nil, err
		}
	}
	return parseManifest(data, s.limits)
}

// missing decides what an error of the cache means: nil when the blob may be
// fetched. A damaged entry is removed on the way.
func (s *imageSource) missing(digest string, err error) error {
	switch {
	case errors.Is(err, ErrDigestMismatch), errors.Is(err, errTooLarge):
		if err := s.cache.remove(digest); err != nil {
			return err
		}
		if s.options.Offline {
			return fmt.Errorf("the cache entry of %s was damaged and is removed; --offline forbids to fetch it again", digest)
		}
	case errors.Is(err, fs.ErrNotExist):
		if s.options.Offline {
			return fmt.Errorf("%s is not in the cache, and --offline forbids to fetch it", digest)
		}
	default:
		return fmt.Errorf("reading the cache: %w", err)
	}
	return nil
}

// labels returns those of the image's config, none for other artifacts.
func (s *imageSource) labels(ctx context.Context, repo name.Repository, config v1.Descriptor) (map[string]string, error) {
	if !isImageConfig(string(config.MediaType)) {
		return nil, nil
	}
	digest := config.Digest.String()
	data, err := s.cache.read(digest, s.limits.manifestBytes)
	if err != nil {
		if err := s.missing(digest, err); err != nil {
			return nil, err
		}
		if err := s.fetch(ctx, repo, config, nil); err != nil {
			return nil, err
		}
		if data, err = s.cache.read(digest, s.limits.manifestBytes); err != nil {
			return nil, err
		}
	}
	return parseLabels(data)
}

// fetch brings one blob into the cache, verified.
func (s *imageSource) fetch(ctx context.Context, repo name.Repository, d v1.Descriptor, count func(int)) error {
	digest := d.Digest.String()
	puller, err := s.connect()
	if err != nil {
		return err
	}
	layer, err := puller.Layer(ctx, repo.Digest(digest))
	if err != nil {
		return explain(err, repo.RegistryStr())
	}
	body, err := layer.Compressed()
	if err != nil {
		return fmt.Errorf("blob %s: %w", digest, explain(err, repo.RegistryStr()))
	}
	defer func() { _ = body.Close() }()
	if err := s.cache.put(digest, d.Size, &blobReader{body, repo.RegistryStr(), count}); err != nil {
		return fmt.Errorf("blob %s: %w", digest, err)
	}
	return nil
}

// downloadLayers brings all layers into the cache, a few at a time.
func (s *imageSource) downloadLayers(ctx context.Context, repo name.Repository, text string, layers []v1.Descriptor) error {
	var wanted []v1.Descriptor
	seen := map[string]bool{}
	progress := Progress{Reference: text}
	for _, layer := range layers {
		digest := layer.Digest.String()
		if seen[digest] || s.cache.has(digest, layer.Size) {
			continue
		}
		seen[digest] = true
		if err := s.missing(digest, fs.ErrNotExist); err != nil {
			return err
		}
		wanted = append(wanted, layer)
		progress.Total += layer.Size
	}
	var mu sync.Mutex
	count := func(n int) {
		if s.options.Progress == nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		progress.Done += int64(n)
		s.options.Progress(progress)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallelDownloads)
	for _, layer := range wanted {
		group.Go(func() error { return s.fetch(ctx, repo, layer, count) })
	}
	return group.Wait()
}

// blobReader reads a blob from a registry: it counts, and explains errors.
type blobReader struct {
	r     io.Reader
	host  string
	count func(int) // may be nil
}

func (b *blobReader) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.count != nil && n > 0 {
		b.count(n)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = explain(err, b.host)
	}
	return n, err
}
