package plugins

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// exchange atomically swaps the names of two files, links or directories below root.
func (p *locationRoot) exchange(a, b string) error {
	p.step("exchange " + a + " and " + b)
	dir, err := p.root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	fd := int(dir.Fd())
	if err := unix.Renameat2(fd, a, fd, b, unix.RENAME_EXCHANGE); err != nil {
		return fmt.Errorf("exchanging %s and %s: %w", a, b, err)
	}
	return nil
}
