package source

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
	"github.com/kubectl-operator/kubectl-operator/preview/source/diskcache"
	"github.com/kubectl-operator/kubectl-operator/preview/source/filetree"
	"github.com/kubectl-operator/kubectl-operator/preview/tasks"
)

// pinCatalog pins a directory to the hash of its files as pin does, but without keeping
// their content. Files with the same metadata as last time are not read again.
func (s directorySource) pinCatalog(ctx context.Context, r ref.Reference, store diskcache.Store) (Pin, error) {
	digest, err := s.hash(ctx, r.Path, store)
	if err != nil {
		return Pin{}, fmt.Errorf("reading directory %s: %w", r.Path, err)
	}
	return Pin{Source: preview.Source{Kind: "directory", Reference: r.Text, Digest: digest}, Reference: r}, nil
}

func (s directorySource) hash(ctx context.Context, dir string, store diskcache.Store) (string, error) {
	root, err := openDirectory(dir)
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }()
	h := &directoryHash{directorySource: s, root: root, left: filetree.Budget{Limits: s.limits.Streamed}, known: loadStats(store, dir)}
	listing, err := h.listing(ctx)
	if err == nil && h.left.Files == 0 {
		err = errors.New("it holds no files")
	}
	if err != nil {
		return "", err
	}
	h.known.save(store, dir)
	return listing.Sum(), nil
}

// directoryHash hashes the files of a directory, several at once: a catalog has a
// directory for each of its thousands of packages, and listing these one after the other
// takes most of the time to find a package.
type directoryHash struct {
	directorySource
	root *os.Root

	mu    sync.Mutex // of what follows
	left  filetree.Budget
	known *statIndex
}

// listing returns the hash of all files. Each entry of the directory has its own listing,
// which are put together in order.
func (h *directoryHash) listing(ctx context.Context) (*filetree.Hash, error) {
	entries, err := fs.ReadDir(h.root.FS(), ".")
	if err != nil {
		return nil, bounded.PathCause(err)
	}
	parts, errs := make([]filetree.Hash, len(entries)), make([]error, len(entries))
	var group tasks.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, entry := range entries {
		group.Go(func() error {
			errs[i] = h.below(ctx, entry, func(name string, entry fs.DirEntry) error { return h.add(ctx, &parts[i], name, entry) })
			return errs[i]
		})
		if ctx.Err() != nil {
			break
		}
	}
	if err := group.Wait(); err != nil {
		return nil, cmp.Or(append([]error{ctx.Err()}, append(errs, err)...)...) // the first by name
	}
	all := filetree.NewHash()
	for _, part := range parts {
		all.Files = append(all.Files, part.Files...)
	}
	return all, nil
}

// below calls use with every plain file of an entry of the directory, in order.
func (h *directoryHash) below(ctx context.Context, entry fs.DirEntry, use func(string, fs.DirEntry) error) error {
	visit := h.visitor(ctx, use)
	if !entry.IsDir() {
		return visit(entry.Name(), entry, nil)
	}
	return fs.WalkDir(h.root.FS(), entry.Name(), visit)
}

// add adds a file to a listing.
func (h *directoryHash) add(ctx context.Context, to *filetree.Hash, name string, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil {
		return changed(name)
	}
	sum, known, err := h.take(name, info)
	if err != nil {
		return err
	}
	if !known {
		hashed := time.Now()
		if sum, info, err = hashRegular(ctx, h.root, name, info.Size()); err != nil {
			return err
		}
		h.note(name, info, sum, hashed)
	}
	to.AddSum(name, sum)
	return nil
}

// take counts a file, and returns its hash if that is known.
func (h *directoryHash) take(name string, info fs.FileInfo) (sum [sha256.Size]byte, known bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.left.Take(name, info.Size()); err != nil {
		return sum, false, err
	}
	sum, known = h.known.sum(name, info)
	return sum, known, nil
}

func (h *directoryHash) note(name string, info fs.FileInfo, sum [sha256.Size]byte, hashed time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known.note(name, info, sum, hashed)
}

// hashRegular returns the sha256 of a file. A file of another size, or one that changes
// meanwhile, is an error.
func hashRegular(ctx context.Context, root *os.Root, name string, size int64) (sum [sha256.Size]byte, info fs.FileInfo, err error) {
	hash := sha256.New()
	info, err = copyRegular(ctx, root, name, size, func(r io.Reader) error {
		_, err := io.Copy(hash, r)
		return err
	})
	hash.Sum(sum[:0])
	return sum, info, err
}

// copyRegular calls use with the bytes of a file, and returns an error if the file
// changes meanwhile.
func copyRegular(ctx context.Context, root *os.Root, name string, size int64, use func(io.Reader) error) (fs.FileInfo, error) {
	file, before, err := openRegular(root, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	if before.Size() != size {
		return nil, changed(name)
	}
	counted := &countingReader{r: io.LimitReader(bounded.ContextReader{Context: ctx, Reader: file}, size+1), count: func(int64) {}}
	if err := use(counted); err != nil {
		return nil, err
	}
	after, err := file.Stat()
	if err != nil || counted.n != size || statOf(after) != statOf(before) {
		return nil, changed(name)
	}
	return before, nil
}

// walk calls visit with the files of a catalog directory, and returns an error at the
// end unless they have the pinned digest.
func (s directorySource) walk(ctx context.Context, p Pin, _ string, visit Visit) error {
	err := s.visit(ctx, p, visit)
	if err != nil {
		return fmt.Errorf("reading directory %s: %w", p.Reference.Path, err)
	}
	return nil
}

func (s directorySource) visit(ctx context.Context, p Pin, visit Visit) error {
	root, err := openDirectory(p.Reference.Path)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	left, hash := filetree.Budget{Limits: s.limits.Streamed}, filetree.NewHash()
	err = s.each(ctx, root, func(name string, entry fs.DirEntry) error {
		info, err := entry.Info()
		if err != nil {
			return changed(name)
		}
		if err := left.Take(name, info.Size()); err != nil {
			return err
		}
		sum := sha256.New()
		_, err = copyRegular(ctx, root, name, info.Size(), func(r io.Reader) error {
			r = io.TeeReader(r, sum)
			if err := visit(name, r); err != nil {
				return err
			}
			_, err := io.Copy(io.Discard, r) // what visit had no use for
			return err
		})
		if err != nil {
			return err
		}
		hash.AddSum(name, [sha256.Size]byte(sum.Sum(nil)))
		return nil
	})
	if err == nil && hash.Sum() != p.Source.Digest {
		err = fmt.Errorf("it is %s now, not %s: %w; try again", hash.Sum(), p.Source.Digest, ErrDigestMismatch)
	}
	return err
}
