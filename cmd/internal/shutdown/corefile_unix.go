//go:build unix

package shutdown

import "syscall"

// noCoreFile disables core files for this process, which could contain
// credentials.
func noCoreFile() { _ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}) }
