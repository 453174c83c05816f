// Package atomicfile writes a file by a temporary one and a rename, so that a
// reader, or a crash, finds the old content or the new one, whole.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Write writes data to the file at a path, with the permissions of mode: into a
// temporary file that is renamed at the end, so that a reader sees the old content
// or the new. A symbolic link at the path is replaced, not followed. The directory
// must exist.
func Write(path string, data []byte, mode fs.FileMode) error {
	next, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = next.Write(data)
	if err = errors.Join(err, next.Chmod(mode.Perm()), next.Sync(), next.Close()); err == nil {
		err = os.Rename(next.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(next.Name()))
	}
	return nil
}
