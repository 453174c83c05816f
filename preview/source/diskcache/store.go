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

// Store keeps files that were computed from content, such as indexes of catalogs. Its files are part of the cache: counted, and trimmed like the rest.
//
// Unlike a blob, such a file has no name that its bytes could be checked by. So
// its writer seals it with the store's key, which lies outside the
// cache: a cache that others could write to, or that was restored from
// elsewhere, holds nothing that is believed.
type Store struct {
	cache Cache
	key   func() []byte
}

// NewStore returns the store in a cache. It touches the disk when it is first used.
func NewStore(c Cache) Store { return Store{cache: c, key: sync.OnceValue(storeKey)} }

// Open opens a file to read. What is not there is fs.ErrNotExist.
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

// Create makes or replaces a file with what write yields, whole or not at all.
// Where there is no place for files, write is not called.
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

// writeKeeper remembers that an error came from writing.
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

// Key returns the secret for the HMAC of files.
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

// derivedDir is their directory in the cache.
const derivedDir = "derived"

const storeKeyBytes = 32

// StateDir returns the user's directory for what this program keeps beside its cache,
// ${XDG_STATE_HOME:-~/.local/state}/kubectl-operator.
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

// storeKey reads the user's key, cache-key in [StateDir], and makes it the first time.
// A key that cannot be stored is good for this process.
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
