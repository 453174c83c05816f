//go:build !unix

package processgroup

import (
	"os"
	"syscall"
)

// Own returns the default attributes: there are no groups.
func Own() *syscall.SysProcAttr { return nil }

// Session returns the default attributes: there are no sessions.
func Session() *syscall.SysProcAttr { return nil }

// Kill ends a process, and nothing that it started.
func Kill(leader *os.Process) error { return leader.Kill() }
