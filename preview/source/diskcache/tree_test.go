package diskcache

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
	"github.com/kubectl-operator/kubectl-operator/preview/source/filetree"
)

func TestATreeComesBackFromTheCacheAsItWas(t *testing.T) {
	c := Cache{Dir: t.TempDir()}
	l := filetree.DefaultLimits()
	want := fstest.MapFS{
		"a/b": {Data: []byte("1")}, "a-b": {Data: []byte("2")}, "a.b/c/d": {Data: []byte("")}, "z": {Data: []byte("1")},
	}
	digest, err := c.PutTree(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Tree(digest, l, l.Bundle)
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range want {
		if data, err := fs.ReadFile(got.Freeze(), name); err != nil || string(data) != string(file.Data) {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if again, err := filetree.Digest(got.Freeze()); err != nil || again != digest {
		t.Errorf("it hashes to %s, %v, want %s", again, err, digest)
	}
	_, err = c.Tree(digest, l, filetree.ContentLimits{What: "bundle", Files: 2, Bytes: 100, FileBytes: 100})
	if err == nil || !strings.Contains(err.Error(), "more than 2 files") {
		t.Errorf("beyond the caps: %v", err)
	}
}

func TestADirectoryAndItsTreeInTheCacheHaveOneDigest(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "manifests"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "manifests", "x.yaml"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	digest, err := Cache{Dir: t.TempDir()}.PutTree(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	hash := filetree.NewHash()
	hash.Add("manifests/x.yaml", []byte("x"))
	if digest != hash.Sum() {
		t.Errorf("got %s, want %s", digest, hash.Sum())
	}
}

func TestATreeThatIsDamagedInTheCacheIsNotRead(t *testing.T) {
	l := filetree.DefaultLimits()
	damage := func(what string, hurt func(t *testing.T, blobs, listing string), want error) {
		t.Run(what, func(t *testing.T) {
			c := Cache{Dir: t.TempDir()}
			digest, err := c.PutTree(fstest.MapFS{"x": {Data: []byte("1")}})
			if err != nil {
				t.Fatal(err)
			}
			blobs := filepath.Join(c.Dir, "blobs", "sha256")
			hurt(t, blobs, filepath.Join(blobs, strings.TrimPrefix(digest, "sha256:")))
			if _, err := c.Tree(digest, l, l.Bundle); !errors.Is(err, want) {
				t.Errorf("got %v, want %v", err, want)
			}
		})
	}
	damage("a poisoned listing", func(t *testing.T, _, listing string) {
		if err := os.WriteFile(listing, []byte(filetree.ListingVersion), 0o600); err != nil {
			t.Fatal(err)
		}
	}, bounded.ErrDigestMismatch)
	damage("a missing file", func(t *testing.T, blobs, listing string) {
		entries, err := os.ReadDir(blobs)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if path := filepath.Join(blobs, e.Name()); path != listing {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
		}
	}, fs.ErrNotExist)
}
