package source

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
)

// The whiteout files of the OCI image specification (layer.md, "Whiteouts").
const (
	whiteout       = ".wh."
	opaqueWhiteout = ".wh..wh..opq"
)

// unpacker applies layers in order to a tree. Only what lies below the
// directories to keep is held; without any everything is.
type unpacker struct {
	limits   limits
	keep     []string
	left     budget
	entries  int
	inflated int64
	tree     *tree
}

// layerEntry is one effect of a layer. Layers are read whole before any of it is
// applied, so a layer that turns out to be broken leaves no trace.
type layerEntry struct {
	path   string
	size   int64 // of a file
	mode   fs.FileMode
	data   []byte
	effect effect
}

type effect int

const (
	effectFile effect = iota
	effectDir
	effectRemove // whiteout
	effectClear  // opaque whiteout
)

// readLayer parses one layer of compressedSize bytes.
func (u *unpacker) readLayer(r io.Reader, compressedSize int64) ([]layerEntry, error) {
	var entries []layerEntry
	err := u.each(r, compressedSize, func(e layerEntry, body io.Reader) error {
		if e.effect == effectFile {
			e.data = make([]byte, e.size) // the budget has capped it
			if _, err := io.ReadFull(body, e.data); err != nil {
				return fmt.Errorf("%s: %w", bounded.Quote(e.path), err)
			}
		}
		entries = append(entries, e)
		return nil
	})
	return entries, err
}

// each hands every entry of a layer that is kept to use, and of a file its
// bytes.
func (u *unpacker) each(r io.Reader, compressedSize int64, use func(layerEntry, io.Reader) error) error {
	plain, err := decompress(r)
	if err != nil {
		return err
	}
	defer func() { _ = plain.Close() }()
	counted := &inflateReader{
		r: plain, total: &u.inflated, most: u.limits.inflatedBytes,
		mostHere: u.limits.ratioFloor + u.limits.ratio*compressedSize, ratio: u.limits.ratio,
	}
	archive := tar.NewReader(counted)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return archiveError(err)
		}
		if u.entries++; u.entries > u.limits.entries {
			return fmt.Errorf("more than %d entries", u.limits.entries)
		}
		e, keep, err := u.entry(header)
		if err == nil && keep {
			err = use(e, archive)
		}
		if err != nil {
			return archiveError(err)
		}
	}
}

// entry checks one member of the archive. No name may lead out of the root,
// wherever it lies; all else is asked of what is kept, because the base of an
// image holds links, devices and odd names that are not read. Absolute names
// lie below the root, as container runtimes have it.
func (u *unpacker) entry(header *tar.Header) (layerEntry, bool, error) {
	name, err := rooted(strings.TrimLeft(header.Name, "/"))
	if err != nil || header.Typeflag == tar.TypeXGlobalHeader || !u.concerns(name) {
		return layerEntry{}, false, err
	}
	if err := u.limits.checkPath(name); err != nil {
		return layerEntry{}, false, err
	}
	dir, base := path.Split(name)
	switch {
	case strings.HasPrefix(base, whiteout):
		return u.whiteout(strings.TrimSuffix(dir, "/"), base)
	case header.Typeflag == tar.TypeDir:
		return layerEntry{path: name, effect: effectDir}, name != "", nil
	case header.Typeflag != tar.TypeReg:
		return layerEntry{}, false, fmt.Errorf("%s is %s; only plain files and directories are read", bounded.Quote(name), describeType(header.Typeflag))
	case name == "":
		return layerEntry{}, false, errors.New("a file that stands for the root")
	case !u.within(name):
		// A file where the kept directory or one above it was replaces it.
		return layerEntry{path: name, effect: effectRemove}, true, nil
	}
	if err := u.left.take(name, header.Size); err != nil {
		return layerEntry{}, false, err
	}
	return layerEntry{path: name, size: header.Size, mode: header.FileInfo().Mode(), effect: effectFile}, true, nil
}

func (u *unpacker) whiteout(dir, base string) (layerEntry, bool, error) {
	if base == opaqueWhiteout {
		return layerEntry{path: dir, effect: effectClear}, true, nil
	}
	target := strings.TrimPrefix(base, whiteout)
	if target == "" || target == "." || target == ".." {
		return layerEntry{}, false, fmt.Errorf("%s is not a whiteout", bounded.Quote(path.Join(dir, base)))
	}
	return layerEntry{path: path.Join(dir, target), effect: effectRemove}, true, nil
}

// within reports whether name is kept.
func (u *unpacker) within(name string) bool {
	return len(u.keep) == 0 || slices.ContainsFunc(u.keep, func(dir string) bool { return strings.HasPrefix(name, dir+"/") })
}

// concerns reports whether name, or what name is a whiteout of, is kept, is a
// kept directory, or is one above it.
func (u *unpacker) concerns(name string) bool {
	dir, base := path.Split(name)
	if base == opaqueWhiteout {
		name = strings.TrimSuffix(dir, "/")
	} else if target, ok := strings.CutPrefix(base, whiteout); ok {
		name = dir + target
	}
	return u.within(name) || name == "" || slices.ContainsFunc(u.keep, func(dir string) bool { return strings.HasPrefix(dir+"/", name+"/") })
}

// apply puts a layer on top of those before it. Whiteouts hide lower layers
// only, so they come first.
func (u *unpacker) apply(entries []layerEntry) {
	for _, e := range entries {
		switch e.effect {
		case effectRemove:
			u.tree.remove(e.path)
		case effectClear:
			u.tree.clear(e.path)
		}
	}
	for _, e := range entries {
		switch e.effect {
		case effectFile:
			u.tree.put(e.path, e.data, e.mode)
		case effectDir:
			u.tree.mkdir(e.path)
		}
	}
}

func archiveError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the archive ends too early")
	}
	switch {
	case errors.Is(err, tar.ErrHeader):
		return errors.New("it is not a tar archive")
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, zstd.ErrCRCMismatch):
		return errors.New("the archive does not have the checksum it names")
	case errors.Is(err, gzip.ErrHeader):
		return errors.New("something follows the end of the archive that is no part of it")
	}
	return err
}

func describeType(flag byte) string {
	switch flag {
	case tar.TypeSymlink:
		return "a symbolic link"
	case tar.TypeLink:
		return "a hard link"
	case tar.TypeChar, tar.TypeBlock:
		return "a device"
	case tar.TypeFifo:
		return "a pipe"
	}
	return fmt.Sprintf("an entry of type %q", flag)
}

// decompress distinguishes gzip, zstd and plain tar by their first bytes; the
// media type is not looked at, since it is not what is unpacked.
func decompress(r io.Reader) (io.ReadCloser, error) {
	buffered := bufio.NewReaderSize(r, 64*bounded.KiB)
	magic, _ := buffered.Peek(4)
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, fmt.Errorf("gzip: %w", err)
		}
		return z, nil
	case bytes.HasPrefix(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64*bounded.MiB))
		if err != nil {
			return nil, fmt.Errorf("zstd: %w", err)
		}
		return z.IOReadCloser(), nil
	}
	return io.NopCloser(buffered), nil
}

// inflateReader stops decompression bombs, skipped entries included: those
// inflate too.
type inflateReader struct {
	r              io.Reader
	total          *int64 // of all layers
	most           int64
	here, mostHere int64 // of this layer
	ratio          int64
}

func (i *inflateReader) Read(p []byte) (int, error) {
	n, err := i.r.Read(p)
	*i.total += int64(n)
	i.here += int64(n)
	switch {
	case *i.total > i.most:
		return 0, fmt.Errorf("the layers inflate to more than %s", bounded.ByteCount(i.most))
	case i.here > i.mostHere:
		return 0, fmt.Errorf("it inflates to more than %d times its size", i.ratio)
	}
	return n, err
}
