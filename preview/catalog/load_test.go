package catalog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// Load reads a catalog that is in memory already.
func Load(fsys fs.FS, origin Origin) (*Catalog, error) {
	x, err := buildInMemory(walkFS(fsys))
	if err != nil {
		return nil, fmt.Errorf("reading catalog %s: %w", origin.Reference, err)
	}
	return &Catalog{origin: origin, index: x}, nil
}

// walkFS walks a file system.
func walkFS(fsys fs.FS) Walk {
	return func(visit func(string, io.Reader) error) error {
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
	}
}
