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

// PathCause returns an error of package os without its operation and path, for a caller
// that names the file itself.
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

// ErrTooLarge is wrapped by every error about more bytes than a limit allows.
var ErrTooLarge = errors.New("larger than its cap")

// Quote returns untrusted text in quotes and escaped, cut to 120 bytes.
func Quote(s string) string {
	const most = 120
	if len(s) > most {
		s = s[:most] + "…"
	}
	return fmt.Sprintf("%q", s)
}

// ByteCount returns a size as text in its largest binary unit, rounded down, such as "4
// MiB".
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

// Innermost returns the error at the end of the chain that err wraps: outer ones print
// URLs, which may contain tokens.
func Innermost(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}

// FirstLine returns the first line of an error, cut to 200 bytes. In further lines
// go-containerregistry quotes what servers answer.
func FirstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	if len(line) > 200 {
		line = line[:200] + "…"
	}
	return line
}

// ErrDigestMismatch is wrapped by every error about bytes that do not have the requested
// digest.
var ErrDigestMismatch = errors.New("the bytes do not match their digest")
