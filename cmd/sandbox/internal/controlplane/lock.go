package controlplane

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// acquireLock locks a directory for this process. It is a POSIX record lock:
// the kernel drops it with the process, and names the process that holds it to
// others, so that no file has to be trusted for that.
func acquireLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking the sandbox's directory: %w", err)
	}
	whole := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
	if err := unix.FcntlFlock(f.Fd(), unix.F_SETLK, &whole); err != nil {
		f.Close()
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
			return nil, fmt.Errorf("another sandbox runs in this directory (%s is locked); stop it first", path)
		}
		return nil, fmt.Errorf("locking the sandbox's directory: %w", err)
	}
	return f, nil
}
