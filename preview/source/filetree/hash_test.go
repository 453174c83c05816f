package filetree

import (
	"io/fs"
	"testing"
)

// FuzzTreeListing: a tree read from a listing writes that listing again.
func FuzzTreeListing(f *testing.F) {
	hash := NewHash()
	hash.Add("a/b", []byte("x"))
	hash.Add("c", nil)
	f.Add(hash.Files)
	f.Add([]byte(ListingVersion + "../x\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		files, err := ParseListing(data, DefaultLimits())
		if err != nil {
			return
		}
		size := len(ListingVersion)
		for _, file := range files {
			if !fs.ValidPath(file.Path) || len(file.Digest) != len("sha256:")+64 {
				t.Errorf("read %+v", file)
			}
			size += len(file.Path) + 1 + 32
		}
		if size != len(data) {
			t.Errorf("%d bytes were read as %d", len(data), size)
		}
	})
}
