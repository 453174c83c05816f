package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/kubectl-operator/kubectl-operator/preview/plugins"
)

// readLock reads a lock file; none is nil unless it is due.
func readLock(path string, set *plugins.Set, due bool) (*plugins.Lock, error) {
	data, err := readAtMost(path, plugins.MaxBytes)
	if errors.Is(err, fs.ErrNotExist) && !due {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	lock, err := plugins.ReadLock(data)
	if err != nil {
		return nil, err
	}
	return lock, lock.CheckName(set)
}

// readAtMost reads a file of one byte more than is read at most.
func readAtMost(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, cause(err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	return data, cause(err)
}

// cause drops operation and path from an error of a file that is named already.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
