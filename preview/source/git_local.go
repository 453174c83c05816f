package source

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	gitcache "github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// localGit reads objects of a repository on this machine. Its hooks and its
// configuration play no part.
type localGit struct {
	store    *filesystem.Storage
	borrowed bool // some objects lie in another repository
}

// openLocalGit opens the repository at a path, bare or not, and resolves a
// branch, tag or commit of it.
func openLocalGit(path, want string) (gitObjects, plumbing.Hash, error) {
	var none plumbing.Hash
	dir, err := gitDirectory(path)
	if err != nil {
		return nil, none, err
	}
	if config, err := readRegularFile(filepath.Join(dir, "config"), gitConfigBytes); err == nil && gitSHA256Format.Match(config) {
		return nil, none, errGitSHA256
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
	return localGit{store, alternates == nil}, name, err
}

// gitSHA256Format finds the object format in a repository's configuration.
var gitSHA256Format = regexp.MustCompile(`(?im)^\s*objectformat\s*=\s*"?sha256`)

const gitConfigBytes = 1 * mib

// gitDirectory finds where the objects of a repository are, bare or not.
func gitDirectory(path string) (string, error) {
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
		return "", pathCause(err)
	}
	return "", errors.New("it is not a git repository")
}

func (g localGit) object(name plumbing.Hash, most int64) (gitObject, error) {
	size, err := g.store.EncodedObjectSize(name)
	if errors.Is(err, plumbing.ErrObjectNotFound) && g.borrowed {
		return gitObject{}, errors.New("it lies in another repository (objects/info/alternates), which is not read; git repack -a -d in this one brings it here")
	}
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return gitObject{}, errNoGitObject
	}
	if err != nil {
		return gitObject{}, errors.New("it is damaged")
	}
	if size > most {
		return gitObject{}, fmt.Errorf("%w of %s", errTooLarge, byteCount(most))
	}
	found, err := g.store.EncodedObject(plumbing.AnyObject, name)
	if err != nil {
		return gitObject{}, errors.New("it is damaged")
	}
	body, err := found.Reader()
	if err != nil {
		return gitObject{}, errors.New("it is damaged")
	}
	defer func() { _ = body.Close() }()
	data, err := io.ReadAll(io.LimitReader(body, most))
	if err != nil || plumbing.ComputeHash(found.Type(), data) != name {
		return gitObject{}, fmt.Errorf("it is damaged: %w", ErrDigestMismatch)
	}
	return gitObject{found.Type(), data}, nil
}
