// Package diskcache keeps content on disk between runs: blobs under the sha256 of their
// bytes, trees of files made of such blobs, and in a [Store] files that were computed
// from content.
//
// The cache is not trusted: a blob is hashed again whenever it is read, and what has no
// name to check it by is sealed by its writer with a key that lies outside the cache.
// Files are written aside and renamed, so that several processes can use one cache, and
// [Cache.Trim] removes those that were used least recently.
package diskcache

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
)

// Cache keeps blobs in files named by the sha256 of their bytes. It is not trusted:
// blobs are hashed again on every read. A blob is written under a temporary name and
// renamed, so that no other process sees a part of it.
type Cache struct{ Dir string }

// ErrWrite is wrapped by errors of writing to the local disk, where another source of
// the same bytes would not help.
var ErrWrite = errors.New("writing the cache")

// partialPrefix begins the names of files that are still being written.
const partialPrefix = ".partial-"

// blobDir returns the directory of the blobs, and creates it if needed.
func (c Cache) blobDir() (string, error) { return c.SubDir("blobs", "sha256") }

// SubDir returns a directory of the cache, and creates it if needed.
func (c Cache) SubDir(parts ...string) (string, error) {
	base := c.Dir
	if base == "" {
		var err error
		if base, err = defaultDir(); err != nil {
			return "", err
		}
	}
	dir := filepath.Join(append([]string{base}, parts...)...)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("making the cache: %w; --cache-dir chooses another place", err)
	}
	return dir, nil
}

func defaultDir() (string, error) {
	base := os.Getenv("XDG_CACHE_HOME")
	if !filepath.IsAbs(base) { // the XDG specification says to ignore relative ones
		home, err := os.UserHomeDir()
		if err != nil {
			return "", errors.New("no place for the cache: HOME is not set; give --cache-dir")
		}
		base = filepath.Join(home, ".cache")
	}
	return filepath.Join(base, "kubectl-operator"), nil
}

func (c Cache) path(digest string) (string, error) {
	if !ref.IsDigest(digest) {
		return "", fmt.Errorf("%s is not a sha256 digest", bounded.Quote(digest))
	}
	dir, err := c.blobDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, strings.TrimPrefix(digest, "sha256:")), nil
}

// Has reports whether there is a blob of the right size. Its bytes are not verified.
func (c Cache) Has(digest string, size int64) bool {
	name, err := c.path(digest)
	if err != nil {
		return false
	}
	info, err := os.Lstat(name)
	return err == nil && info.Mode().IsRegular() && info.Size() == size
}

// Blob opens a blob to read. Its bytes are verified only by [Blob.Verify], at the end.
// A missing blob is fs.ErrNotExist.
func (c Cache) Blob(digest string) (*Blob, error) {
	name, err := c.path(digest)
	if err != nil {
		return nil, err
	}
	if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return nil, fs.ErrNotExist // something else took the place: not ours
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	Touch(name)
	return &Blob{digest: digest, File: file, hash: sha256.New()}, nil
}

// Touch sets the time of a file's last use; Trim removes the oldest. An error, as in a
// read-only cache, is ignored.
func Touch(name string) {
	now := time.Now()
	_ = os.Chtimes(name, now, now)
}

// Bytes returns a blob of at most `most` bytes, verified.
func (c Cache) Bytes(digest string, most int64) ([]byte, error) {
	b, err := c.Blob(digest)
	if err != nil {
		return nil, err
	}
	defer func() { _ = b.Close() }()
	data, err := bounded.ReadAll(b, most)
	if err != nil {
		return nil, err
	}
	return data, b.Verify()
}

// Remove deletes a blob. One that is already gone is no error.
func (c Cache) Remove(digest string) error {
	name, err := c.path(digest)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(name); err != nil {
		return fmt.Errorf("removing a damaged cache entry: %w", err)
	}
	return nil
}

// Put stores the bytes of r as the blob with a digest. Bytes with another digest, or
// more than `most`, are an error, and nothing is stored.
func (c Cache) Put(digest string, most int64, r io.Reader) error {
	if _, err := c.path(digest); err != nil {
		return err
	}
	_, err := c.store(digest, most, r)
	return err
}

// Add stores the bytes of r, at most `most`, and returns their digest.
func (c Cache) Add(most int64, r io.Reader) (string, error) { return c.store("", most, r) }

// store writes a blob and returns its digest. If want is not empty, bytes with another
// digest are an error.
func (c Cache) store(want string, most int64, r io.Reader) (string, error) {
	dir, err := c.blobDir()
	if err != nil {
		return "", err
	}
	temp, err := os.CreateTemp(dir, partialPrefix+"*") // 0600
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrWrite, err)
	}
	defer func() {
		_ = temp.Close()
		_ = os.Remove(temp.Name()) // gone already after the rename
	}()
	sum := sha256.New()
	source := &bounded.ReadErrors{Reader: io.LimitReader(r, most+1)}
	n, err := io.Copy(io.MultiWriter(temp, sum), source)
	switch {
	case n > most && want == "":
		return "", fmt.Errorf("%w of %s", bounded.ErrTooLarge, bounded.ByteCount(most))
	case n > most:
		return "", fmt.Errorf("asked for %s, got more bytes than it has: %w", want, bounded.ErrDigestMismatch)
	case err != nil && source.Err == nil:
		return "", fmt.Errorf("%w: %w", ErrWrite, err)
	case err != nil && !errors.Is(err, bounded.ErrDigestMismatch):
		return "", err
	}
	got := DigestOf(sum)
	if want != "" && got != want {
		return "", fmt.Errorf("asked for %s, got %s: %w", want, got, bounded.ErrDigestMismatch)
	}
	if err := temp.Close(); err != nil {
		return "", fmt.Errorf("%w: %w", ErrWrite, err)
	}
	if err := replace(temp.Name(), filepath.Join(dir, strings.TrimPrefix(got, "sha256:"))); err != nil {
		return "", fmt.Errorf("%w: %w", ErrWrite, err)
	}
	return got, nil
}

// replace renames a file to the name of an entry. A directory with that name, which is
// never an entry, is deleted; else it would block the name for ever.
func replace(file, name string) error {
	if info, err := os.Lstat(name); err == nil && info.IsDir() {
		if err := os.RemoveAll(name); err != nil {
			return err
		}
	}
	return os.Rename(file, name)
}

// Blob is a blob of the cache, opened to read.
type Blob struct {
	digest string
	File   *os.File
	hash   hash.Hash
}

func (b *Blob) Read(p []byte) (int, error) {
	n, err := b.File.Read(p)
	b.hash.Write(p[:n])
	return n, err
}

// Close closes the file.
func (b *Blob) Close() error { return b.File.Close() }

// Verify reads the rest of the blob and returns [bounded.ErrDigestMismatch] unless all
// its bytes have its digest.
func (b *Blob) Verify() error {
	if _, err := io.Copy(io.Discard, b); err != nil {
		return fmt.Errorf("reading the cache: %w", err)
	}
	if DigestOf(b.hash) != b.digest {
		return fmt.Errorf("cache entry %s: %w", b.digest, bounded.ErrDigestMismatch)
	}
	return nil
}

// DigestOf returns the sum of a sha256 hash as "sha256:HEX".
func DigestOf(h hash.Hash) string { return "sha256:" + hex.EncodeToString(h.Sum(nil)) }

// WriteFile writes a file under a temporary name and renames it, so that no process
// sees a part of it.
func WriteFile(name string, data []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(name), partialPrefix+"*")
	if err != nil {
		return fmt.Errorf("%w: %w", ErrWrite, err)
	}
	defer func() { _ = os.Remove(temp.Name()) }() // gone already after the rename
	_, err = temp.Write(data)
	if err = errors.Join(err, temp.Close()); err == nil {
		err = replace(temp.Name(), name)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrWrite, err)
	}
	return nil
}
