//go:build unix

package bounded

import "syscall"

// NoFollow opens a file only if its last name is no symbolic link.
const NoFollow = syscall.O_NOFOLLOW
