package bounded

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// PathCause drops operation and path from an error that the caller names better.
func PathCause(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

const (
	KiB = 1 << 10
	MiB = 1 << 20
	GiB = 1 << 30
)

// ErrTooLarge is returned by readers that hit their cap.
var ErrTooLarge = errors.New("larger than its cap")

// Quote quotes untrusted text, shortened for an error.
func Quote(s string) string {
	const most = 120
	if len(s) > most {
		s = s[:most] + "…"
	}
	return fmt.Sprintf("%q", s)
}

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

// Innermost follows single wrapping to the cause, past the URLs that the
// errors around it print.
func Innermost(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}

// FirstLine drops what follows: there go-containerregistry quotes bodies.
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
