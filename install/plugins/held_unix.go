//go:build unix

package plugins

import (
	"errors"
	"os"
	"syscall"
)

// tryLock locks a file for this process; taken is true if another process has
// it locked.
func tryLock(file *os.File) (taken bool, err error) {
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	return errors.Is(err, syscall.EWOULDBLOCK), err
}
