package git

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"

	gitcache "github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
)

// localRepository reads objects of a repository on this machine. The repository's hooks
// and configuration have no effect.
type localRepository struct {
	store    *filesystem.Storage
	borrowed bool // some objects lie in another repository
}

// OpenLocal opens the repository at a path, bare or not, and resolves a branch, tag or
// commit to its hash.
func OpenLocal(path, want string) (ObjectReader, plumbing.Hash, error) {
	var none plumbing.Hash
	dir, err := objectsDirectory(path)
	if err != nil {
		return nil, none, err
	}
	if config, err := bounded.ReadFile(filepath.Join(dir, "config"), configBytes); err == nil && sha256Format.Match(config) {
		return nil, none, errSHA256
	}
	store := filesystem.NewStorageWithOptions(osfs.New(dir, osfs.WithBoundOS()), gitcache.NewObjectLRU(16*gitcache.MiByte), filesystem.Options{})
	refs := map[string]plumbing.Hash{}
	iter, err := store.IterReferences()
	if err != nil {
		return nil, none, errors.New("its branches and tags cannot be read")
	}
	err = iter.ForEach(func(found *plumbing.Reference) error {
		if found.Type() == plumbing.HashReference {
			refs[found.Name().String()] = found.Hash()
		}
		return nil
	})
	if err != nil {
		return nil, none, errors.New("its branches and tags cannot be read")
	}
	head, err := storer.ResolveReference(store, plumbing.HEAD)
	if err != nil {
		head = plumbing.NewHashReference(plumbing.HEAD, none)
	}
	name, err := chooseRef(refs, head.Hash(), want)
	_, alternates := os.Lstat(filepath.Join(dir, "objects", "info", "alternates"))
	return localRepository{store, alternates == nil}, name, err
}

// sha256Format matches the setting for the sha256 object format in a repository's
// configuration.
var sha256Format = lazyregexp.New(`(?im)^\s*objectformat\s*=\s*"?sha256`)

const configBytes = 1 * bounded.MiB

// objectsDirectory returns the directory with the repository's objects and HEAD: path
// itself if it is bare, else its .git.
func objectsDirectory(path string) (string, error) {
	for _, dir := range []string{filepath.Join(path, ".git"), path} {
		info, err := os.Stat(dir)
		if err == nil && !info.IsDir() {
			return "", errors.New("it is a linked worktree or a submodule; name the repository that it belongs to")
		}
		if objects, err := os.Stat(filepath.Join(dir, "objects")); err == nil && objects.IsDir() {
			if _, err := os.Stat(filepath.Join(dir, "HEAD")); err == nil {
				return dir, nil
			}
		}
	}
	if _, err := os.Stat(path); err != nil {
		return "", bounded.PathCause(err)
	}
	return "", errors.New("it is not a git repository")
}

func (g localRepository) object(name plumbing.Hash, most int64) (Object, error) {
	size, err := g.store.EncodedObjectSize(name)
	if errors.Is(err, plumbing.ErrObjectNotFound) && g.borrowed {
		return Object{}, errors.New("it lies in another repository (objects/info/alternates), which is not read; git repack -a -d in this one brings it here")
	}
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return Object{}, errNoObject
	}
	if err != nil {
		return Object{}, errors.New("it is damaged")
	}
	if size > most {
		return Object{}, fmt.Errorf("%w of %s", bounded.ErrTooLarge, bounded.ByteCount(most))
	}
	found, err := g.store.EncodedObject(plumbing.AnyObject, name)
	if err != nil {
		return Object{}, errors.New("it is damaged")
	}
	body, err := found.Reader()
	if err != nil {
		return Object{}, errors.New("it is damaged")
	}
	defer func() { _ = body.Close() }()
	data, err := io.ReadAll(io.LimitReader(body, most))
	if err != nil || plumbing.ComputeHash(found.Type(), data) != name {
		return Object{}, fmt.Errorf("it is damaged: %w", bounded.ErrDigestMismatch)
	}
	return Object{found.Type(), data}, nil
}
