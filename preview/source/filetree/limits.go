package filetree

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
)

// Limits limit what is read, stored and kept in memory of one source. They are far
// above the largest bundles and catalogs (the largest bundle known has 4 MB), and far
// below what exhausts a laptop.
type Limits struct {
	ManifestBytes int64 // one manifest, index or config
	Layers        int
	LayerBytes    int64 // one layer as transferred
	inflatedBytes int64 // all layers, decompressed, skipped entries included
	ratio         int64 // decompressed to transferred, beyond ratioFloor bytes
	ratioFloor    int64
	Entries       int // of all layers, skipped ones included
	depth         int
	pathBytes     int
	Bundle        ContentLimits
	Catalog       ContentLimits
	Streamed      ContentLimits // of a catalog that is read file by file, and never held
	Artifacts     bool          // an archive is content as it is, and what is no archive is one file
	Unended       bool          // tar archives without an end are read: their digest was given
}

// ContentLimits limit the files of one source.
type ContentLimits struct {
	What      string // for the error
	Files     int
	Bytes     int64
	FileBytes int64
}

// DefaultLimits returns the limits of every source.
func DefaultLimits() Limits {
	return Limits{
		ManifestBytes: 4 * bounded.MiB,
		Layers:        128,
		LayerBytes:    512 * bounded.MiB,
		inflatedBytes: 4 * bounded.GiB,
		ratio:         200,
		ratioFloor:    16 * bounded.MiB,
		Entries:       200_000,
		depth:         32,
		pathBytes:     1024,
		Bundle:        ContentLimits{"bundle", 10_000, 64 * bounded.MiB, preview.MaxDocumentBytes},
		Catalog:       ContentLimits{"catalog", 100_000, 512 * bounded.MiB, 512 * bounded.MiB},
		Streamed:      ContentLimits{"catalog", 100_000, 4 * bounded.GiB, 4 * bounded.GiB},
	}
}

// Budget counts files and bytes, up to its [ContentLimits].
type Budget struct {
	Limits ContentLimits
	Files  int
	bytes  int64
}

// Take counts one more file, and returns an error that names the limit it exceeds.
func (b *Budget) Take(name string, size int64) error {
	b.Files++
	b.bytes += size
	switch l := b.Limits; {
	case size > l.FileBytes:
		return fmt.Errorf("%s has %s; a file of a %s may have %s", bounded.Quote(name), bounded.ByteCount(size), l.What, bounded.ByteCount(l.FileBytes))
	case b.Files > l.Files:
		return fmt.Errorf("more than %d files; a %s may not have them", l.Files, l.What)
	case b.bytes > l.Bytes:
		return fmt.Errorf("more than %s in all; a %s may not have them", bounded.ByteCount(l.Bytes), l.What)
	}
	return nil
}

// CleanPath returns the name of a member of an archive as a path below the root, "" for
// the root itself. A name that leads out of the root, or is not portable, is an error.
func (l Limits) CleanPath(name string) (string, error) {
	cleaned, err := rooted(name)
	if err != nil {
		return "", err
	}
	return cleaned, l.CheckPath(cleaned)
}

// rooted returns a cleaned path. An absolute path, or one with "..", is an error, even
// if it stays below the root.
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

// CheckPath returns an error for a path that other systems would read differently, such
// as one with a backslash, or that is too long or too deep.
func (l Limits) CheckPath(name string) error {
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

// DescribeMode returns the type of a file in words, such as "a pipe".
func DescribeMode(m fs.FileMode) string {
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
