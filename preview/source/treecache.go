package source

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"

	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
)

// The digest of a tree is the sha256 of a listing (see treeHash). So the cache
// keeps a tree as a registry keeps an image: the listing under the digest of
// the tree, each file under its own.

// treeListingBytes caps a listing: a catalog may have 100,000 files.
const treeListingBytes = 16 * bounded.MiB

// putTree stores every file of a tree and returns its digest.
func (c cache) putTree(fsys fs.FS) (string, error) {
	hash := newTreeHash()
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		hash.add(name, data)
		_, err = c.add(int64(len(data)), bytes.NewReader(data))
		return err
	})
	if err != nil {
		return "", err
	}
	return c.add(treeListingBytes, bytes.NewReader(hash.files))
}

// tree reads a tree back. What it returns hashes to the digest; a tree of
// which anything is missing is fs.ErrNotExist.
func (c cache) tree(digest string, l limits, most contentLimits) (*tree, error) {
	listing, err := c.read(digest, treeListingBytes)
	if err != nil {
		return nil, err
	}
	files, err := parseListing(listing, l)
	if err != nil {
		return nil, fmt.Errorf("tree %s: %w", digest, err)
	}
	t := newTree()
	left := budget{limits: most}
	for _, f := range files {
		data, err := c.read(f.digest, most.fileBytes)
		if err != nil {
			return nil, err
		}
		if err := left.take(f.path, int64(len(data))); err != nil {
			return nil, err
		}
		t.put(f.path, data, 0)
	}
	// A listing with a path twice, or out of order, is that of no tree.
	if again, err := treeDigest(t.freeze()); err != nil || again != digest {
		return nil, errors.Join(fmt.Errorf("tree %s: %w", digest, ErrDigestMismatch), err)
	}
	return t, nil
}

// treeDigest hashes the files of a tree in the order of [fs.WalkDir].
func treeDigest(fsys fs.FS) (string, error) {
	hash := newTreeHash()
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(fsys, name)
		hash.add(name, data)
		return err
	})
	return hash.sum(), err
}

// listedFile is one line of a listing.
type listedFile struct{ path, digest string }

// parseListing reads what treeHash hashes.
func parseListing(data []byte, l limits) ([]listedFile, error) {
	rest, ok := bytes.CutPrefix(data, []byte(treeVersion))
	if !ok {
		return nil, errors.New("it is not the listing of a tree")
	}
	var files []listedFile
	for len(rest) > 0 {
		name, after, found := bytes.Cut(rest, []byte{0})
		if !found || len(after) < sha256.Size {
			return nil, errors.New("the listing of the tree ends too early")
		}
		if !fs.ValidPath(string(name)) || string(name) == "." {
			return nil, fmt.Errorf("%s is not the path of a file", bounded.Quote(string(name)))
		}
		if err := l.checkPath(string(name)); err != nil {
			return nil, err
		}
		files = append(files, listedFile{string(name), "sha256:" + hex.EncodeToString(after[:sha256.Size])})
		rest = after[sha256.Size:]
	}
	return files, nil
}
