//go:build !unix

package sandbox

import (
	"errors"
	"syscall"
)

var errUnsupported = errors.New("the embedded control plane runs on Linux and macOS only")

func processAttributes(bool) *syscall.SysProcAttr { return nil }

func terminate(int) error { return errUnsupported }

func kill(int) error { return errUnsupported }

func freeze(int) error { return errUnsupported }

func frozen(int) bool { return true }

func thaw(int) error { return errUnsupported }

func lockHolder(string) (int, error) { return 0, errUnsupported }
