//go:build unix

package processgroup

import (
	"os"
	"syscall"
)

// Own returns the attributes of a process with a group of its own.
func Own() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// Session returns the attributes of a process that leads a session of its own, without a
// terminal.
func Session() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// Kill ends the group of a process, which was started with one of its own. No error means
// that the group still had a process.
func Kill(leader *os.Process) error { return syscall.Kill(-leader.Pid, syscall.SIGKILL) }
