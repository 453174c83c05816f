//go:build unix

package processgroup

import (
	"os"
	"syscall"
)

// Own returns the attributes that start a process in its own process group.
func Own() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// Session returns the attributes that start a process in its own session, without a
// controlling terminal.
func Session() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// Kill ends the process group of a process that was started with [Own] or [Session]. No
// error means that the group still had a process.
func Kill(leader *os.Process) error { return syscall.Kill(-leader.Pid, syscall.SIGKILL) }
