//go:build unix

package bounded

import "syscall"

// NoFollow is the flag for opening a file that makes a symbolic link at the path an
// error.
const NoFollow = syscall.O_NOFOLLOW
