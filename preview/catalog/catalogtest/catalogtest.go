// Package catalogtest makes catalogs of files that a test has in memory.
package catalogtest

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"testing"

	"github.com/kubectl-operator/kubectl-operator/preview/catalog"
)

// Load opens the catalog in a file system, and fails the test if that is not possible.
func Load(t testing.TB, fsys fs.FS, origin catalog.Origin) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Open(memoryStore{}, "", origin, func(visit func(string, io.Reader) error) error {
		return fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			file, err := fsys.Open(name)
			if err != nil {
				return err
			}
			return errors.Join(visit(name, file), file.Close())
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// memoryStore is a [catalog.Store] that keeps no files, so that indexes stay in memory.
type memoryStore struct{}

func (memoryStore) Open(string) (*os.File, error) { return nil, fs.ErrNotExist }

func (memoryStore) Create(string, func(io.Writer) error) error { return fs.ErrInvalid }

func (memoryStore) Key() []byte { return nil }
