package source

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
	"github.com/kubectl-operator/kubectl-operator/preview/source/diskcache"
	"github.com/kubectl-operator/kubectl-operator/preview/source/filetree"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// parallelDownloads is how many layers are downloaded at the same time.
const parallelDownloads = 4

// blobReader reads the manifests and blobs of an image that are not in the cache,
// from a registry or from a layout on disk.
type blobReader interface {
	// manifest reads a manifest or index whole.
	manifest(ctx context.Context, digest string) ([]byte, error)
	// Blob hands the bytes of a blob to use; again from elsewhere, if there is
	// an elsewhere, when use says that they were not the blob's.
	Blob(ctx context.Context, d v1.Descriptor, use func(io.Reader) error) error
}

// offlineReader is a blobReader without any blobs, for offline use.
type offlineReader struct{}

func (offlineReader) manifest(context.Context, string) ([]byte, error) { return nil, errOffline }
func (offlineReader) Blob(context.Context, v1.Descriptor, func(io.Reader) error) error {
	return errOffline
}

var errOffline = fmt.Errorf("%w, and --offline forbids to fetch it", ErrNotCached)

// imageReader reads images by digest: from the cache, else from a [blobReader].
type imageReader struct {
	options Options
	limits  filetree.Limits
	cache   diskcache.Cache
}

// keep stores a manifest in the cache and returns its digest.
func (s imageReader) keep(data []byte) (string, error) {
	sum := sha256.New()
	sum.Write(data)
	digest := diskcache.DigestOf(sum)
	return digest, s.cache.Put(digest, s.limits.ManifestBytes, bytes.NewReader(data))
}

func (s imageReader) read(ctx context.Context, from blobReader, p Pin) (*Content, error) {
	if !ref.IsDigest(p.Source.Digest) {
		return nil, fmt.Errorf("%s is not a sha256 digest", bounded.Quote(p.Source.Digest))
	}
	m, err := s.manifest(ctx, from, p.Source.Digest)
	if err != nil {
		return nil, err
	}
	labels, err := s.labels(ctx, from, *m.Config)
	if err != nil {
		return nil, err
	}
	layers, err := m.fileLayers(p.Reference)
	if err != nil {
		return nil, err
	}
	if s.limits.Artifacts && string(layers[0].MediaType) == pipedPluginLayer {
		return s.pipedPlugin(ctx, from, p, layers)
	}
	if err := s.fetchLayers(ctx, from, p.Reference.Text, layers); err != nil {
		return nil, err
	}
	t, err := s.unpack(ctx, from, layers, labels)
	if err != nil {
		return nil, err
	}
	return &Content{FS: t.Freeze(), Source: p.Source, Labels: labels}, nil
}

// indexDepth is how many indexes may be nested.
const indexDepth = 4

// manifest returns the image manifest with a digest; if that is an index, the index's
// manifest for the platform.
func (s imageReader) manifest(ctx context.Context, from blobReader, digest string) (*manifest, error) {
	for range indexDepth {
		m, err := s.oneManifest(ctx, from, digest)
		if err != nil || m.Manifests == nil {
			return m, err
		}
		child, err := m.forPlatform(s.options.Platform)
		if err != nil {
			return nil, err
		}
		digest = child.Digest.String()
	}
	return nil, fmt.Errorf("an index within an index, more than %d deep", indexDepth)
}

func (s imageReader) oneManifest(ctx context.Context, from blobReader, digest string) (*manifest, error) {
	data, err := s.cache.Bytes(digest, s.limits.ManifestBytes)
	if err != nil {
		if err := s.missing(digest, err); err != nil {
			return nil, err
		}
		if data, err = from.manifest(ctx, digest); err != nil {
			return nil, fmt.Errorf("manifest %s: %w", digest, err)
		}
		// put hashes once more, so that what is parsed below has the digest.
		if err := s.cache.Put(digest, s.limits.ManifestBytes, bytes.NewReader(data)); err != nil {
			return nil, err
		}
	}
	m, err := parseManifest(data, s.limits)
	if err != nil {
		return nil, &formError{err}
	}
	return m, nil
}

// formError is the error for a manifest of a form that cannot be read.
type formError struct{ error }

func (e *formError) Unwrap() error { return e.error }

// missing returns nil if err means that the cache does not have a blob, which then has
// to be fetched. A damaged blob is removed from the cache.
func (s imageReader) missing(digest string, err error) error {
	switch {
	case errors.Is(err, ErrDigestMismatch), errors.Is(err, bounded.ErrTooLarge):
		return s.cache.Remove(digest)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return fmt.Errorf("reading the cache: %w", err)
}

// labels returns the labels in an image's config, nil for other artifacts.
func (s imageReader) labels(ctx context.Context, from blobReader, config v1.Descriptor) (map[string]string, error) {
	if !isImageConfig(string(config.MediaType)) {
		return nil, nil
	}
	data, err := s.config(ctx, from, config)
	if err != nil {
		return nil, err
	}
	return parseLabels(data)
}

// config returns the config blob of an image.
func (s imageReader) config(ctx context.Context, from blobReader, config v1.Descriptor) ([]byte, error) {
	digest := config.Digest.String()
	data, err := s.cache.Bytes(digest, s.limits.ManifestBytes)
	if err == nil {
		return data, nil
	}
	if err := s.missing(digest, err); err != nil {
		return nil, err
	}
	if err := s.fetch(ctx, from, config, nil); err != nil {
		return nil, err
	}
	return s.cache.Bytes(digest, s.limits.ManifestBytes)
}

// fetch downloads a blob into the cache and verifies it. count, if not nil, is called
// with the bytes read, and with their negative sum if they have to be read again.
func (s imageReader) fetch(ctx context.Context, from blobReader, d v1.Descriptor, count func(int64)) error {
	if count == nil {
		count = func(int64) {}
	}
	digest := d.Digest.String()
	err := from.Blob(ctx, d, func(r io.Reader) error {
		counted := &countingReader{r: r, count: count}
		err := s.cache.Put(digest, d.Size, counted)
		if err != nil {
			count(-counted.n)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("blob %s: %w", digest, err)
	}
	return nil
}

// fetchLayers downloads the layers that the cache lacks, several at a time. text is the
// reference in progress reports.
func (s imageReader) fetchLayers(ctx context.Context, from blobReader, text string, layers []v1.Descriptor) error {
	var wanted []v1.Descriptor
	seen := map[string]bool{}
	progress := Progress{Reference: text}
	for _, layer := range layers {
		digest := layer.Digest.String()
		if seen[digest] || s.cache.Has(digest, layer.Size) {
			continue
		}
		seen[digest] = true
		wanted = append(wanted, layer)
		progress.Total += layer.Size
	}
	var mu sync.Mutex
	count := func(n int64) {
		if s.options.Progress == nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		progress.Done += n
		s.options.Progress(progress)
	}
	group, ctx := tasks.WithContext(ctx)
	group.SetLimit(parallelDownloads)
	for _, layer := range wanted {
		group.Go(func() error { return s.fetch(ctx, from, layer, count) })
	}
	return group.Wait()
}

// countingReader counts the bytes read, and calls count with them.
type countingReader struct {
	r     io.Reader
	n     int64
	count func(int64)
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if n > 0 {
		c.n += int64(n)
		c.count(int64(n))
	}
	return n, err
}
