package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
)

// A catalog may be larger than what one wants to hold in memory. PinCatalog and
// WalkCatalog are Pin and Open for it: they read it as a stream, under the same
// caps and checks.

// PinCatalog is [Fetcher.Pin] for a reference to a catalog. Of a directory, files that
// did not change since the last time are not read again; see [statIndex].
func (f *Fetcher) PinCatalog(ctx context.Context, r ref.Reference) (Pin, error) {
	if r.Kind != ref.KindDirectory {
		return f.Pin(ctx, r)
	}
	return directorySource{f.limits}.pinCatalog(ctx, r, f.store)
}

// Identity returns a text that identifies the content behind a pin: pins with the
// same identity open the same files.
func (f *Fetcher) Identity(p Pin) string {
	if s, err := f.sourceOf(p.Reference.Kind); err == nil {
		if s, ok := s.(identifiedSource); ok {
			return s.identity(p)
		}
	}
	return strings.Join([]string{string(p.Reference.Kind), p.Source.Digest, p.Reference.Text}, " ")
}

// identifiedSource is a source whose different references can open the same files. For
// other sources the reference is part of the identity.
type identifiedSource interface {
	identity(p Pin) string
}

func (directorySource) identity(p Pin) string { return "directory " + p.Source.Digest }

// identity contains the platform too, because the digest may belong to an index.
func (s imageReader) identity(p Pin) string {
	return "image " + p.Source.Digest + " " + s.options.Platform
}

// Visit is called once for each file, in any order. The files are not
// verified until the walk has ended without error.
type Visit = func(path string, r io.Reader) error

// WalkCatalog calls visit with the files of a pinned catalog. Of an image those are the
// files in the directory that [LabelConfigs] names.
func (f *Fetcher) WalkCatalog(ctx context.Context, p Pin, visit Visit) error {
	return f.WalkLabelled(ctx, p, LabelConfigs, visit)
}

// WalkLabelled calls visit with the files of pinned content. Of an image those are the
// files in the directory that a label of its names; an image without the label is an
// error. The limits of a catalog apply.
func (f *Fetcher) WalkLabelled(ctx context.Context, p Pin, label string, visit Visit) error {
	err := f.walkLabelled(ctx, p, label, visit)
	if err == nil {
		err = f.Remember(p)
	}
	if err == nil && !f.options.Offline {
		f.trimmed.Do(func() { f.cache.Trim(f.options.CacheBytes, time.Now()) })
	}
	return err
}

func (f *Fetcher) walkLabelled(ctx context.Context, p Pin, label string, visit Visit) error {
	s, err := f.sourceOf(p.Reference.Kind)
	if err != nil {
		return fmt.Errorf("reference %q: %w", p.Reference.Text, err)
	}
	if s, ok := s.(walkedSource); ok {
		return s.walk(ctx, p, label, visit)
	}
	content, err := f.Open(ctx, p)
	if err != nil {
		return err
	}
	return fs.WalkDir(content.FS, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		file, err := content.FS.Open(name)
		if err != nil {
			return err
		}
		return errors.Join(visit(name, bounded.ContextReader{Context: ctx, Reader: file}), file.Close())
	})
}

// Remember stores the pin of a reference for offline use, as Open and WalkCatalog also
// do.
func (f *Fetcher) Remember(p Pin) error {
	if !p.lookedUp {
		return nil
	}
	return f.remember(p)
}

// walkedSource is a source that can read files as a stream. Other sources open the
// content as a whole.
type walkedSource interface {
	walk(ctx context.Context, p Pin, label string, visit Visit) error
}

func (s *imageSource) walk(ctx context.Context, p Pin, label string, visit Visit) error {
	from, err := s.origin(p.Reference.Image)
	if err == nil {
		err = s.walkImage(ctx, from, p, label, visit)
	}
	if err != nil {
		return fmt.Errorf("image %s: %w", p.Reference.Image, err)
	}
	return nil
}

func (s layoutSource) walk(ctx context.Context, p Pin, label string, visit Visit) error {
	files, err := openLayout(ctx, p.Reference.Path, s.limits)
	if err == nil {
		err = errors.Join(s.walkImage(ctx, layoutOrigin{files, s.limits}, p, label, visit), files.Close())
	}
	if err != nil {
		return fmt.Errorf("OCI layout %s: %w", p.Reference.Path, err)
	}
	return nil
}
