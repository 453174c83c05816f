package diskcache

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
	"github.com/kubectl-operator/kubectl-operator/preview/source/filetree"
)

// The digest of a tree is the sha256 of a listing (see [filetree.Hash]). So the cache
// keeps a tree as a registry keeps an image: the listing under the digest of
// the tree, each file under its own.

// treeListingBytes is the largest size in bytes of a tree's listing: a catalog may have
// 100,000 files.
const treeListingBytes = 16 * bounded.MiB

// PutTree stores every file of a tree and the tree's listing, and returns the tree's
// digest.
func (c Cache) PutTree(fsys fs.FS) (string, error) {
	hash := filetree.NewHash()
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		hash.Add(name, data)
		_, err = c.Add(int64(len(data)), bytes.NewReader(data))
		return err
	})
	if err != nil {
		return "", err
	}
	return c.Add(treeListingBytes, bytes.NewReader(hash.Files))
}

// Tree returns the tree with a digest, verified. A tree that lacks a file is
// fs.ErrNotExist.
func (c Cache) Tree(digest string, l filetree.Limits, most filetree.ContentLimits) (*filetree.Tree, error) {
	listing, err := c.Bytes(digest, treeListingBytes)
	if err != nil {
		return nil, err
	}
	files, err := filetree.ParseListing(listing, l)
	if err != nil {
		return nil, fmt.Errorf("tree %s: %w", digest, err)
	}
	t := filetree.New()
	left := filetree.Budget{Limits: most}
	for _, f := range files {
		data, err := c.Bytes(f.Digest, most.FileBytes)
		if err != nil {
			return nil, err
		}
		if err := left.Take(f.Path, int64(len(data))); err != nil {
			return nil, err
		}
		t.Put(f.Path, data, 0)
	}
	// A listing with a path twice, or out of order, describes no tree.
	if again, err := filetree.Digest(t.Freeze()); err != nil || again != digest {
		return nil, errors.Join(fmt.Errorf("tree %s: %w", digest, bounded.ErrDigestMismatch), err)
	}
	return t, nil
}
