package diskcache

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
)

// Store keeps files that were computed from content, such as indexes of catalogs. They
// are part of the cache: counted and trimmed like blobs.
//
// Unlike a blob, such a file is not named by a digest to verify it with. So its writer
// adds an HMAC with the store's key, which is outside the cache: files that another user
// wrote, or that were restored from elsewhere, are not believed.
type Store struct {
	cache Cache
	key   func() []byte
}

// NewStore returns the store in a cache. The disk is used only when the store is.
func NewStore(c Cache) Store { return Store{cache: c, key: sync.OnceValue(storeKey)} }

// Open opens a file to read. A missing file is fs.ErrNotExist.
func (s Store) Open(name string) (*os.File, error) {
	path, err := s.path(name)
	if err != nil {
		return nil, err
	}
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fs.ErrNotExist) // a link there is not ours
	}
	file, err := os.Open(path)
	if err == nil {
		Touch(path)
	}
	return file, err
}

// Create creates or replaces a file with what write writes, as a whole or not at all.
// If the cache cannot be written to, write is not called.
func (s Store) Create(name string, write func(io.Writer) error) error {
	path, err := s.path(name)
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), partialPrefix+"*") // 0600
	if err != nil {
		return fmt.Errorf("%w: %w", ErrWrite, err)
	}
	defer func() {
		_ = temp.Close()
		_ = os.Remove(temp.Name()) // gone already after the rename
	}()
	kept := &writeKeeper{w: temp}
	err = write(kept)
	if err == nil || kept.err != nil {
		err = errors.Join(kept.err, temp.Close())
		if err == nil {
			err = replace(temp.Name(), path)
		}
		if err != nil {
			err = fmt.Errorf("%w: %w; --cache-dir chooses another place", ErrWrite, bounded.PathCause(err))
		}
	}
	return err
}

// writeKeeper keeps the error of writing, so that it can be distinguished from others.
type writeKeeper struct {
	w   io.Writer
	err error
}

func (k *writeKeeper) Write(p []byte) (int, error) {
	n, err := k.w.Write(p)
	if err != nil {
		k.err = err
	}
	return n, err
}

// Key returns the user's secret key for the HMAC of files.
func (s Store) Key() []byte { return s.key() }

func (s Store) path(name string) (string, error) {
	if name == "" || strings.HasPrefix(name, ".") || strings.ContainsAny(name, `/\`) {
		return "", fmt.Errorf("%s is not the name of a file", bounded.Quote(name))
	}
	dir, err := s.cache.SubDir(derivedDir)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, name), nil
}

// derivedDir is the directory of the store's files in the cache.
const derivedDir = "derived"

const storeKeyBytes = 32

// StateDir returns the directory for files of this program that are not cache, such as
// the key: ${XDG_STATE_HOME:-~/.local/state}/kubectl-operator.
func StateDir(getenv func(string) string) (string, error) {
	base := getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(base) { // the XDG specification says to ignore relative ones
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		base = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(base, "kubectl-operator"), nil
}

// storeKey reads the user's key, cache-key in [StateDir], and creates it the first
// time. If it cannot be stored, a new key is valid for this process.
func storeKey() []byte {
	fresh := make([]byte, storeKeyBytes)
	_, _ = rand.Read(fresh) // it never fails
	dir, err := StateDir(os.Getenv)
	if err != nil {
		return fresh
	}
	name := filepath.Join(dir, "cache-key")
	if key, err := bounded.ReadFile(name, storeKeyBytes); err == nil && len(key) == storeKeyBytes {
		return key
	}
	if os.MkdirAll(dir, 0o700) != nil || WriteFile(name, fresh) != nil {
		return fresh
	}
	// Another process may have done the same since.
	if key, err := bounded.ReadFile(name, storeKeyBytes); err == nil && len(key) == storeKeyBytes {
		return key
	}
	return fresh
}
