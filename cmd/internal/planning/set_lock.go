package planning

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/kubectl-operator/kubectl-operator/cmd/internal/wholefile"
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

// lockPath is where the lock file is.
func (o *SetOptions) lockPath() string {
	if o.Lock != "" {
		return o.Lock
	}
	if o.Mode == ModeClient {
		return configName(o.Config) + ".lock" // here; the config is elsewhere
	}
	return o.Config + ".lock"
}

// keepLock writes the lock file where that was asked for.
func (o *SetOptions) keepLock(fresh *plugins.Lock) error {
	if !o.UpdateLock {
		return nil
	}
	if err := wholefile.Replace(o.lockPath(), fresh.Encode(), 0o644); err != nil {
		return fmt.Errorf("writing the lock file %s: %w", o.lockPath(), err)
	}
	return nil
}
