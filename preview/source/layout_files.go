package source

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
	"github.com/kubectl-operator/kubectl-operator/preview/source/filetree"
)

// layoutFiles gives access to the files of an OCI image layout.
type layoutFiles interface {
	// member opens a plain file; without one it is fs.ErrNotExist.
	member(name string) (io.ReadCloser, error)
	io.Closer
}

// openLayout opens a layout at a path, a directory or a tar file.
func openLayout(ctx context.Context, path string, l filetree.Limits) (layoutFiles, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, bounded.PathCause(err)
	}
	if info.IsDir() {
		root, err := os.OpenRoot(path)
		if err != nil {
			return nil, bounded.PathCause(err)
		}
		return layoutDir{root}, nil
	}
	// Without O_NONBLOCK a pipe would hang here.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, bounded.PathCause(err)
	}
	archive, err := indexTar(ctx, file, l)
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return archive, nil
}

type layoutDir struct{ root *os.Root }

func (d layoutDir) Close() error { return d.root.Close() }

func (d layoutDir) member(name string) (io.ReadCloser, error) {
	file, err := d.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, bounded.PathCause(err)
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = file.Close()
		return nil, fmt.Errorf("%s is not a plain file", bounded.Quote(name))
	}
	return file, nil
}

// layoutTar is a layout in a tar file, with the position of each of its files.
type layoutTar struct {
	file    *os.File
	members map[string]span
}

type span struct{ start, size int64 }

func (t layoutTar) Close() error { return t.file.Close() }

func (t layoutTar) member(name string) (io.ReadCloser, error) {
	at, ok := t.members[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return io.NopCloser(io.NewSectionReader(t.file, at.start, at.size)), nil
}

// indexTar reads the headers of a tar file and returns the positions of a layout's
// files. Other files are ignored.
func indexTar(ctx context.Context, file *os.File, l filetree.Limits) (layoutTar, error) {
	out := layoutTar{file: file, members: map[string]span{}}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return out, errors.New("it is neither a directory nor a plain file")
	}
	archive := tar.NewReader(file)
	for entries := 0; ; entries++ {
		header, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case errors.Is(err, tar.ErrHeader):
			return out, errors.New("it is not a tar file; one that is compressed has to be unpacked first")
		case err != nil:
			return out, filetree.ArchiveError(err)
		case entries >= l.Entries:
			return out, fmt.Errorf("more than %d entries", l.Entries)
		case ctx.Err() != nil:
			return out, ctx.Err()
		}
		name := strings.TrimPrefix(header.Name, "./")
		if header.Typeflag != tar.TypeReg || name != "index.json" && !strings.HasPrefix(name, "blobs/sha256/") {
			continue
		}
		// Next reads no further than the header, so this is where the bytes begin.
		start, err := file.Seek(0, io.SeekCurrent)
		if err != nil {
			return out, fmt.Errorf("reading it: %w", bounded.PathCause(err))
		}
		if _, twice := out.members[name]; twice {
			return out, fmt.Errorf("%s is there twice", bounded.Quote(name))
		}
		out.members[name] = span{start, header.Size}
	}
}
