//go:build unix

package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// processAttributes starts the control plane outside the terminal's foreground group, or
// detached in its own session. Ctrl-C then reaches only the command, which stops
// everything in order.
func processAttributes(detached bool) *syscall.SysProcAttr {
	if detached {
		return &syscall.SysProcAttr{Setsid: true}
	}
	return &syscall.SysProcAttr{Setpgid: true}
}

func terminate(pid int) error { return syscall.Kill(pid, syscall.SIGTERM) }

func kill(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) }

func freeze(pid int) error { return syscall.Kill(pid, syscall.SIGSTOP) }

// frozen reports whether every thread of a process has stopped (proc(5), state
// T). On a system without /proc it is always true.
func frozen(pid int) bool {
	stats, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil {
		return true
	}
	for _, name := range stats {
		stat, err := os.ReadFile(name)
		// The state follows the command's name, which is in brackets.
		if _, state, ok := bytes.Cut(stat, []byte(") ")); err == nil && ok && state[0] != 'T' {
			return false
		}
	}
	return true
}

func thaw(pid int) error { return syscall.Kill(pid, syscall.SIGCONT) }

// lockHolder returns the id of the process that holds the lock of a control
// plane's directory, 0 if there is none. The kernel knows it, so that it is
// never a process that merely has the same id.
func lockHolder(path string) (int, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("asking whether the sandbox runs: %w", err)
	}
	defer f.Close()
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart}
	if err := syscall.FcntlFlock(f.Fd(), syscall.F_GETLK, &lock); err != nil {
		return 0, fmt.Errorf("asking whether the sandbox runs: %w", err)
	}
	if lock.Type == syscall.F_UNLCK {
		return 0, nil
	}
	return int(lock.Pid), nil
}
