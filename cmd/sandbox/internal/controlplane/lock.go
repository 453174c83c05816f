package controlplane

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// acquireLock makes this process the only one that serves a directory and
// writes its process id into the lock file. The kernel drops the lock with the
// process, so a held lock proves that the process id is still that of a sandbox.
func acquireLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking the sandbox's directory: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("another sandbox runs in this directory (%s is locked); stop it first", path)
		}
		return nil, fmt.Errorf("locking the sandbox's directory: %w", err)
	}
	if err := f.Truncate(0); err != nil {
		f.Close()
		return nil, fmt.Errorf("writing %s: %w", path, err)
	}
	if _, err := fmt.Fprintf(f, "%d\n", os.Getpid()); err != nil {
		f.Close()
		return nil, fmt.Errorf("writing %s: %w", path, err)
	}
	return f, nil
}
