//go:build !linux

package plugins

import "errors"

// exchange returns an error: only Linux can swap two names with one system call.
func (p *locationRoot) exchange(string, string) error { return errors.ErrUnsupported }
