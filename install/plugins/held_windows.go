package plugins

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock locks a byte of a file for this process, or reports that another one has it:
// one far beyond its end, as a locked one could not be read.
func tryLock(file *os.File) (taken bool, err error) {
	far := &windows.Overlapped{OffsetHigh: 1 << 30}
	err = windows.LockFileEx(windows.Handle(file.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, far)
	return errors.Is(err, windows.ERROR_LOCK_VIOLATION), err
}
