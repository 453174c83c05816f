//go:build !linux

package plugins

import "errors"

// exchange needs a call that only Linux has in this form.
func (p *locationRoot) exchange(string, string) error { return errors.ErrUnsupported }
