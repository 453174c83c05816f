package filetree

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

// Unpacker applies layers of an image to a tree, in order. Only files below the
// directories in Keep are kept; all files if there are none.
type Unpacker struct {
	Limits   Limits
	Keep     []string
	Left     Budget
	entries  int
	inflated int64
	Tree     *Tree
}

// LayerEntry is one change that a layer makes to the tree. A layer is read as a whole
// before any change is applied, so that a broken one leaves no trace.
type LayerEntry struct {
	Path   string
	size   int64 // of a file
	mode   fs.FileMode
	data   []byte
	Effect Effect
}

// Effect is the kind of change that a layer makes at a path.
type Effect int

// The effects: a file or directory is added, one that lies below is removed, or the
// content of a directory is.
const (
	EffectFile Effect = iota
	EffectDir
	EffectRemove // whiteout
	EffectClear  // opaque whiteout
)

// ReadLayer returns the changes that a layer of compressedSize bytes makes, with the
// bytes of files.
func (u *Unpacker) ReadLayer(r io.Reader, compressedSize int64) ([]LayerEntry, error) {
	var entries []LayerEntry
	err := u.Each(r, compressedSize, func(e LayerEntry, body io.Reader) error {
		if e.Effect == EffectFile {
			e.data = make([]byte, e.size) // the budget has capped it
			if _, err := io.ReadFull(body, e.data); err != nil {
				return fmt.Errorf("%s: %w", bounded.Quote(e.Path), err)
			}
		}
		entries = append(entries, e)
		return nil
	})
	return entries, err
}

// Each calls use with each change that a layer makes to what is kept, and with the
// bytes of files.
func (u *Unpacker) Each(r io.Reader, compressedSize int64, use func(LayerEntry, io.Reader) error) error {
	plain, err := decompress(r)
	if err != nil {
		return err
	}
	defer func() { _ = plain.Close() }()
	counted := &inflateReader{
		r: plain, total: &u.inflated, most: u.Limits.inflatedBytes,
		mostHere: u.Limits.ratioFloor + u.Limits.ratio*compressedSize, ratio: u.Limits.ratio,
	}
	archive := tar.NewReader(counted)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return ArchiveError(err)
		}
		if u.entries++; u.entries > u.Limits.Entries {
			return fmt.Errorf("more than %d entries", u.Limits.Entries)
		}
		e, keep, err := u.entry(header)
		if err == nil && keep {
			err = use(e, archive)
		}
		if err != nil {
			return ArchiveError(err)
		}
	}
}

// entry returns the change that a tar member makes, and whether it concerns what is
// kept. A name that leads out of the root is an error everywhere; links, devices and
// odd names only in what is kept, because the base of an image contains such. As in
// container runtimes, absolute names are below the root.
func (u *Unpacker) entry(header *tar.Header) (LayerEntry, bool, error) {
	name, err := rooted(strings.TrimLeft(header.Name, "/"))
	if err != nil || header.Typeflag == tar.TypeXGlobalHeader || !u.concerns(name) {
		return LayerEntry{}, false, err
	}
	if err := u.Limits.CheckPath(name); err != nil {
		return LayerEntry{}, false, err
	}
	dir, base := path.Split(name)
	switch {
	case strings.HasPrefix(base, whiteout):
		return u.whiteout(strings.TrimSuffix(dir, "/"), base)
	case header.Typeflag == tar.TypeDir:
		return LayerEntry{Path: name, Effect: EffectDir}, name != "", nil
	case header.Typeflag != tar.TypeReg:
		return LayerEntry{}, false, fmt.Errorf("%s is %s; only plain files and directories are read", bounded.Quote(name), describeType(header.Typeflag))
	case name == "":
		return LayerEntry{}, false, errors.New("a file that stands for the root")
	case !u.Within(name):
		// A file where the kept directory or one above it was replaces it.
		return LayerEntry{Path: name, Effect: EffectRemove}, true, nil
	}
	if err := u.Left.Take(name, header.Size); err != nil {
		return LayerEntry{}, false, err
	}
	return LayerEntry{Path: name, size: header.Size, mode: header.FileInfo().Mode(), Effect: EffectFile}, true, nil
}

func (u *Unpacker) whiteout(dir, base string) (LayerEntry, bool, error) {
	if base == opaqueWhiteout {
		return LayerEntry{Path: dir, Effect: EffectClear}, true, nil
	}
	target := strings.TrimPrefix(base, whiteout)
	if target == "" || target == "." || target == ".." {
		return LayerEntry{}, false, fmt.Errorf("%s is not a whiteout", bounded.Quote(path.Join(dir, base)))
	}
	return LayerEntry{Path: path.Join(dir, target), Effect: EffectRemove}, true, nil
}

// Within reports whether a path is below one of the directories in Keep.
func (u *Unpacker) Within(name string) bool {
	return len(u.Keep) == 0 || slices.ContainsFunc(u.Keep, func(dir string) bool { return strings.HasPrefix(name, dir+"/") })
}

// concerns reports whether a change at a path can affect what is kept: the path, or
// what it is a whiteout of, is in, is, or is above a directory in Keep.
func (u *Unpacker) concerns(name string) bool {
	dir, base := path.Split(name)
	if base == opaqueWhiteout {
		name = strings.TrimSuffix(dir, "/")
	} else if target, ok := strings.CutPrefix(base, whiteout); ok {
		name = dir + target
	}
	return u.Within(name) || name == "" || slices.ContainsFunc(u.Keep, func(dir string) bool { return strings.HasPrefix(dir+"/", name+"/") })
}

// Apply makes the changes of a layer. Whiteouts are applied first, because they remove
// only what lower layers have.
func (u *Unpacker) Apply(entries []LayerEntry) {
	for _, e := range entries {
		switch e.Effect {
		case EffectRemove:
			u.Tree.remove(e.Path)
		case EffectClear:
			u.Tree.clear(e.Path)
		}
	}
	for _, e := range entries {
		switch e.Effect {
		case EffectFile:
			u.Tree.Put(e.Path, e.data, e.mode)
		case EffectDir:
			u.Tree.mkdir(e.Path)
		}
	}
}

// ArchiveError returns an error of reading a tar archive in words that a user
// understands.
func ArchiveError(err error) error {
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

// decompress returns the decompressed data. gzip, zstd and plain tar are distinguished
// by their first bytes and not by the media type, which may not be true.
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

// inflateReader fails when data decompresses to more than the limits: a decompression
// bomb. Skipped files count too.
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
