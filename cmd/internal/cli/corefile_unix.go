//go:build unix

package cli

import "syscall"

// noCoreFile keeps the memory of this process out of files.
func noCoreFile() { _ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}) }
