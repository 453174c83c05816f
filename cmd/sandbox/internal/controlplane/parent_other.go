//go:build !linux

package controlplane

import "syscall"

// dieWithParent: only Linux can end a child with its parent. Elsewhere kwok
// outlives a killed run-kwok, not a killed supervisor.
func dieWithParent() *syscall.SysProcAttr { return nil }
