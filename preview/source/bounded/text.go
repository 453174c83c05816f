// Package bounded reads from peers and files that are not trusted, within limits,
// and words the errors of it: quoted and shortened where a peer chose the text, and
// without URLs and paths that the caller names better. It is below all packages that
// fetch content, and knows none of them.
package bounded

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// PathCause returns an error of package os without its operation and path, which
// the caller names better.
func PathCause(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

// Sizes in bytes.
const (
	KiB = 1 << 10
	MiB = 1 << 20
	GiB = 1 << 30
)

// ErrTooLarge is in the chain of every error about more bytes than are read.
var ErrTooLarge = errors.New("larger than its cap")

// Quote returns untrusted text in quotes and escaped, of at most 120 bytes.
func Quote(s string) string {
	const most = 120
	if len(s) > most {
		s = s[:most] + "…"
	}
	return fmt.Sprintf("%q", s)
}

// ByteCount writes a size in its largest binary unit, rounded down.
func ByteCount(n int64) string {
	switch {
	case n >= GiB && n%GiB == 0:
		return fmt.Sprintf("%d GiB", n/GiB)
	case n >= MiB:
		return fmt.Sprintf("%d MiB", n/MiB)
	case n >= KiB:
		return fmt.Sprintf("%d KiB", n/KiB)
	}
	return fmt.Sprintf("%d bytes", n)
}

// Innermost returns the innermost error of a chain, because outer ones print URLs,
// which may contain tokens.
func Innermost(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}

// FirstLine returns the first line of an error, of at most 200 bytes. In the lines
// that follow go-containerregistry quotes the bodies of answers.
func FirstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	if len(line) > 200 {
		line = line[:200] + "…"
	}
	return line
}

// ErrDigestMismatch is in the chain of every error about bytes that do not
// hash to the digest they were asked for by.
var ErrDigestMismatch = errors.New("the bytes do not match their digest")
