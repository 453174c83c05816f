//go:build !unix

package processgroup

import (
	"os"
	"syscall"
)

// Own returns the default process attributes: this system has no process groups.
func Own() *syscall.SysProcAttr { return nil }

// Session returns the default process attributes: this system has no sessions.
func Session() *syscall.SysProcAttr { return nil }

// Kill ends a process, but not the processes that it started.
func Kill(leader *os.Process) error { return leader.Kill() }
