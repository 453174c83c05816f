package source

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
	"github.com/kubectl-operator/kubectl-operator/preview/source/diskcache"
	"github.com/kubectl-operator/kubectl-operator/preview/source/filetree"
)

// archiveSource reads archives from https servers and from local files. The pin's
// digest is the sha256 of the archive's bytes, as sha256sum prints it.
type archiveSource struct {
	options Options
	limits  filetree.Limits
	cache   diskcache.Cache
	web     *web
}

func newArchiveSource(o Options, l filetree.Limits) *archiveSource {
	return &archiveSource{options: o, limits: l, cache: diskcache.Cache{Dir: o.CacheDir}, web: newWeb(o)}
}

func (s *archiveSource) pin(ctx context.Context, r ref.Reference) (Pin, error) {
	pin := Pin{Reference: r, Source: preview.Source{Kind: "http", Reference: r.Text, Digest: r.SHA256}}
	switch {
	case r.Path != "":
		content, err := s.local(ctx, r)
		if err != nil {
			return Pin{}, fmt.Errorf("reading archive %s: %w", r.Path, err)
		}
		return Pin{Reference: r, Source: content.Source, content: content}, nil
	case r.SHA256 != "":
		return pin, nil
	}
	var err error
	if pin.Source.Digest, err = s.download(ctx, r, ""); err != nil {
		return Pin{}, fmt.Errorf("archive %s: %w", displayURL(r.URL), err)
	}
	return pin, nil
}

func (s *archiveSource) open(ctx context.Context, p Pin) (*Content, error) {
	if p.content != nil {
		return p.content, nil
	}
	if p.Reference.Path != "" {
		again, err := s.pin(ctx, p.Reference)
		if err == nil && again.Source.Digest != p.Source.Digest {
			err = fmt.Errorf("archive %s is %s now, not %s: %w", p.Reference.Path, again.Source.Digest, p.Source.Digest, ErrDigestMismatch)
		}
		return again.content, err
	}
	digest, limits := p.Source.Digest, s.limits
	limits.Unended = p.Reference.SHA256 != ""
	t, err := openArchive(ctx, s.cache, limits, digest, func() error {
		_, err := s.download(ctx, p.Reference, digest)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("archive %s: %w", displayURL(p.Reference.URL), err)
	}
	return &Content{FS: t.Freeze(), Source: p.Source, Plain: t.Plain}, nil
}

// download stores the archive in the cache and returns its digest. If want is not
// empty, an archive with another digest is an error.
func (s *archiveSource) download(ctx context.Context, r ref.Reference, want string) (string, error) {
	if s.options.Offline {
		if want == "" {
			return "", fmt.Errorf("which archive it is was not resolved before, and --offline forbids to look: %w", ErrNotCached)
		}
		return "", fmt.Errorf("--offline forbids to fetch %s: %w", want, ErrNotCached)
	}
	body, err := s.web.get(ctx, r.URL, s.limits.LayerBytes)
	if err != nil {
		return "", err
	}
	defer func() { _ = body.Close() }()
	reader := &meteredReader{r: body, now: Progress{Reference: r.Text, Total: max(body.size, 0)}, report: s.options.Progress}
	if want == "" {
		return s.cache.Add(s.limits.LayerBytes, reader)
	}
	return want, s.cache.Put(want, s.limits.LayerBytes, reader)
}

// openArchive unpacks the archive with a digest from the cache. If it is missing or
// damaged, fetch is called once to download it. Nothing is returned before the whole
// archive is verified.
func openArchive(ctx context.Context, c diskcache.Cache, l filetree.Limits, digest string, fetch func() error) (*filetree.Tree, error) {
	for attempt := 0; ; attempt++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t, err := unpackBlob(c, l, digest)
		switch {
		case attempt > 0 || !errors.Is(err, ErrDigestMismatch) && !errors.Is(err, fs.ErrNotExist):
			return t, err
		case errors.Is(err, ErrDigestMismatch):
			if err := c.Remove(digest); err != nil {
				return nil, err
			}
		}
		if err := fetch(); err != nil {
			return nil, err
		}
	}
}

func unpackBlob(c diskcache.Cache, l filetree.Limits, digest string) (*filetree.Tree, error) {
	b, err := c.Blob(digest)
	if err != nil {
		return nil, err
	}
	defer func() { _ = b.Close() }()
	info, err := b.File.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading the cache: %w", err)
	}
	t, err := l.UnpackArchive(b, info.Size())
	if bad := b.Verify(); bad != nil {
		return nil, bad // then whatever was wrong with the archive is next to the point
	}
	return t, err
}

// local unpacks an archive of this machine and computes its digest, in one reading.
func (s *archiveSource) local(ctx context.Context, r ref.Reference) (*Content, error) {
	// Without O_NONBLOCK a pipe would hang here.
	file, err := os.OpenFile(r.Path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, bounded.PathCause(err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, bounded.PathCause(err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("it is %s; an archive is a plain file", filetree.DescribeMode(info.Mode()))
	case info.Size() > s.limits.LayerBytes:
		return nil, fmt.Errorf("it has %s; at most %s are read", bounded.ByteCount(info.Size()), bounded.ByteCount(s.limits.LayerBytes))
	}
	sum := sha256.New()
	source := io.TeeReader(bounded.ContextReader{Context: ctx, Reader: io.LimitReader(file, s.limits.LayerBytes)}, sum)
	t, err := s.limits.UnpackArchive(source, info.Size())
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(io.Discard, source); err != nil {
		return nil, err
	}
	if t.Plain {
		t = filetree.Plain(t.Find(filetree.PlainFile).Data, localMode(info.Mode()))
	}
	return &Content{
		FS:     t.Freeze(),
		Source: preview.Source{Kind: "archive", Reference: r.Text, Digest: diskcache.DigestOf(sum)},
		Plain:  t.Plain,
	}, nil
}

// meteredReader reports the progress of a download while it is read.
type meteredReader struct {
	r      io.Reader
	now    Progress
	report func(Progress) // may be nil
}

func (m *meteredReader) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if n > 0 && m.report != nil {
		m.now.Done += int64(n)
		m.report(m.now)
	}
	return n, err
}
