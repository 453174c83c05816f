package filetree

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"

	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
)

// Hash computes the digest of a directory: the sha256 of a listing, which is a version
// line and then, for each file in the lexical order of [fs.WalkDir], its path, a zero
// byte and the sha256 of its bytes. Location, owners, modes, times and empty
// directories are not part of it.
type Hash struct{ Files []byte } // the listing

// ListingVersion begins every listing.
const ListingVersion = "kubectl-operator tree v1\n"

// NewHash returns the hash of a tree without files.
func NewHash() *Hash { return &Hash{Files: []byte(ListingVersion)} }

// Add adds a file to the listing. Files must be added in order.
func (h *Hash) Add(name string, data []byte) { h.AddSum(name, sha256.Sum256(data)) }

// AddSum is Add for a file that is known only by its sha256.
func (h *Hash) AddSum(name string, sum [sha256.Size]byte) {
	h.Files = append(append(append(h.Files, name...), 0), sum[:]...)
}

// Sum returns the digest of the tree, as "sha256:HEX".
func (h *Hash) Sum() string {
	sum := sha256.Sum256(h.Files)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Digest returns the digest of the files of a tree; see [Hash].
func Digest(fsys fs.FS) (string, error) {
	hash := NewHash()
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(fsys, name)
		hash.Add(name, data)
		return err
	})
	return hash.Sum(), err
}

// ListedFile is a file in the listing of a tree.
type ListedFile struct{ Path, Digest string }

// ParseListing returns the files in the listing that [Hash] made.
func ParseListing(data []byte, l Limits) ([]ListedFile, error) {
	rest, ok := bytes.CutPrefix(data, []byte(ListingVersion))
	if !ok {
		return nil, errors.New("it is not the listing of a tree")
	}
	var files []ListedFile
	for len(rest) > 0 {
		name, after, found := bytes.Cut(rest, []byte{0})
		if !found || len(after) < sha256.Size {
			return nil, errors.New("the listing of the tree ends too early")
		}
		if !fs.ValidPath(string(name)) || string(name) == "." {
			return nil, fmt.Errorf("%s is not the path of a file", bounded.Quote(string(name)))
		}
		if err := l.CheckPath(string(name)); err != nil {
			return nil, err
		}
		files = append(files, ListedFile{string(name), "sha256:" + hex.EncodeToString(after[:sha256.Size])})
		rest = after[sha256.Size:]
	}
	return files, nil
}
