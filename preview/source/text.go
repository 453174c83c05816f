package source

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// pathCause drops operation and path from an error that the caller names better.
func pathCause(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

const (
	kib = 1 << 10
	mib = 1 << 20
	gib = 1 << 30
)

// errTooLarge is returned by readers that hit their cap.
var errTooLarge = errors.New("larger than its cap")

// clip quotes untrusted text, shortened for an error.
func clip(s string) string {
	const most = 120
	if len(s) > most {
		s = s[:most] + "…"
	}
	return fmt.Sprintf("%q", s)
}

func byteCount(n int64) string {
	switch {
	case n >= gib && n%gib == 0:
		return fmt.Sprintf("%d GiB", n/gib)
	case n >= mib:
		return fmt.Sprintf("%d MiB", n/mib)
	case n >= kib:
		return fmt.Sprintf("%d KiB", n/kib)
	}
	return fmt.Sprintf("%d bytes", n)
}

// innermost follows single wrapping to the cause, past the URLs that the
// errors around it print.
func innermost(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}

// firstLine drops what follows: there go-containerregistry quotes bodies.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	if len(line) > 200 {
		line = line[:200] + "…"
	}
	return line
}

// ErrDigestMismatch is in the chain of every error about bytes that do not
// hash to the digest they were asked for by.
var ErrDigestMismatch = errors.New("the bytes do not match their digest")
