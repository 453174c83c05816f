//go:build !linux

package plugins

import "errors"

// exchange returns an error, because only Linux has the system call that swaps two
// names.
func (p *locationRoot) exchange(string, string) error { return errors.ErrUnsupported }
