package plugins

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock locks a byte of a file for this process; taken is true if another
// process has it locked. The byte is far beyond the file's end, because Windows
// does not let others read a locked byte.
func tryLock(file *os.File) (taken bool, err error) {
	far := &windows.Overlapped{OffsetHigh: 1 << 30}
	err = windows.LockFileEx(windows.Handle(file.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, far)
	return errors.Is(err, windows.ERROR_LOCK_VIOLATION), err
}
