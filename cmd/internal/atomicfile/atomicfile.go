// Package atomicfile writes a file by a temporary one and a rename, so that a
// reader, or a crash, finds the old content or the new one, whole.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Write has a path hold data with the permissions of mode. Until the rename
// at the end a reader of the path finds what was there before; a link there is
// replaced, not followed. Its directory must be there.
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
