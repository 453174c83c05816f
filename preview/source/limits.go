package source

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
)

// limits cap what one source may make us read, store and hold. They stand far
// above honest bundles and catalogs (the largest bundle known here has 4 MB)
// and far below what hurts a laptop.
type limits struct {
	manifestBytes int64 // one manifest, index or config
	layers        int
	layerBytes    int64 // one layer as transferred
	inflatedBytes int64 // all layers, decompressed, skipped entries included
	ratio         int64 // decompressed to transferred, beyond ratioFloor bytes
	ratioFloor    int64
	entries       int // of all layers, skipped ones included
	depth         int
	pathBytes     int
	bundle        contentLimits
	catalog       contentLimits
	artifacts     bool // see Options.Artifacts
	unended       bool // tar archives without an end are read: their digest was given
}

// contentLimits cap what is kept.
type contentLimits struct {
	what      string // for the error
	files     int
	bytes     int64
	fileBytes int64
}

func defaultLimits() limits {
	return limits{
		manifestBytes: 4 * bounded.MiB,
		layers:        128,
		layerBytes:    512 * bounded.MiB,
		inflatedBytes: 4 * bounded.GiB,
		ratio:         200,
		ratioFloor:    16 * bounded.MiB,
		entries:       200_000,
		depth:         32,
		pathBytes:     1024,
		bundle:        contentLimits{"bundle", 10_000, 64 * bounded.MiB, preview.MaxDocumentBytes},
		catalog:       contentLimits{"catalog", 100_000, 512 * bounded.MiB, 512 * bounded.MiB},
	}
}

// budget counts files and bytes against contentLimits.
type budget struct {
	limits contentLimits
	files  int
	bytes  int64
}

// take accounts for one more file, or says which cap it breaks.
func (b *budget) take(name string, size int64) error {
	b.files++
	b.bytes += size
	switch l := b.limits; {
	case size > l.fileBytes:
		return fmt.Errorf("%s has %s; a file of a %s may have %s", bounded.Quote(name), bounded.ByteCount(size), l.what, bounded.ByteCount(l.fileBytes))
	case b.files > l.files:
		return fmt.Errorf("more than %d files; a %s may not have them", l.files, l.what)
	case b.bytes > l.bytes:
		return fmt.Errorf("more than %s in all; a %s may not have them", bounded.ByteCount(l.bytes), l.what)
	}
	return nil
}

// cleanPath makes the name of an archive's or directory's entry a path below
// its root, or refuses it. The root itself is "".
func (l limits) cleanPath(name string) (string, error) {
	cleaned, err := rooted(name)
	if err != nil {
		return "", err
	}
	return cleaned, l.checkPath(cleaned)
}

// rooted refuses names that lead out of the root, even where they come back.
func rooted(name string) (string, error) {
	if strings.HasPrefix(name, "/") {
		return "", fmt.Errorf("%s: an absolute path", bounded.Quote(name))
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return "", fmt.Errorf("%s: a path with \"..\"", bounded.Quote(name))
		}
	}
	if cleaned := path.Clean(name); cleaned != "." {
		return cleaned, nil
	}
	return "", nil
}

// checkPath refuses paths that other machines, or file systems, would read in
// another way, and those beyond the caps.
func (l limits) checkPath(name string) error {
	switch depth := strings.Count(name, "/") + 1; {
	case len(name) > l.pathBytes:
		return fmt.Errorf("%s: a path of %d bytes; at most %d are read", bounded.Quote(name), len(name), l.pathBytes)
	case !utf8.ValidString(name) || strings.ContainsRune(name, 0):
		return fmt.Errorf("%s: a path that is not UTF-8 text", bounded.Quote(name))
	case strings.Contains(name, `\`):
		return fmt.Errorf("%s: a path with a backslash", bounded.Quote(name))
	case depth > l.depth:
		return fmt.Errorf("%s: nested %d deep; at most %d levels are read", bounded.Quote(name), depth, l.depth)
	}
	return nil
}

func describeMode(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	case m.IsDir():
		return "a directory"
	}
	return "not a plain file"
}
