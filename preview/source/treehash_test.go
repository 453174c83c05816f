package source

import (
	"io/fs"
	"testing"
)

// FuzzTreeListing: what is read from a listing writes that listing again.
func FuzzTreeListing(f *testing.F) {
	hash := newTreeHash()
	hash.add("a/b", []byte("x"))
	hash.add("c", nil)
	f.Add(hash.files)
	f.Add([]byte(treeVersion + "../x\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		files, err := parseListing(data, defaultLimits())
		if err != nil {
			return
		}
		size := len(treeVersion)
		for _, file := range files {
			if !fs.ValidPath(file.path) || len(file.digest) != len("sha256:")+64 {
				t.Errorf("read %+v", file)
			}
			size += len(file.path) + 1 + 32
		}
		if size != len(data) {
			t.Errorf("%d bytes were read as %d", len(data), size)
		}
	})
}
