//go:build !linux

package controlplane

import "syscall"

// dieWithParent returns nil: only Linux can end a child with its parent. Elsewhere
// kwok survives if the process run-kwok is killed, but not if the supervisor is.
func dieWithParent() *syscall.SysProcAttr { return nil }
