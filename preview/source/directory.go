package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
)

// directorySource pins a directory to the hash of its files. Every file is
// read once, when it is pinned; what opens are those bytes.
type directorySource struct{ limits limits }

func (s directorySource) pin(ctx context.Context, r ref.Reference) (Pin, error) {
	content, err := s.read(ctx, r)
	if err != nil {
		return Pin{}, fmt.Errorf("reading directory %s: %w", r.Path, err)
	}
	return Pin{Source: content.Source, Reference: r, content: content}, nil
}

func (s directorySource) open(ctx context.Context, p Pin) (*Content, error) {
	if p.content != nil {
		return p.content, nil
	}
	again, err := s.pin(ctx, p.Reference)
	if err != nil {
		return nil, err
	}
	if again.Source.Digest != p.Source.Digest {
		return nil, fmt.Errorf("directory %s is %s now, not %s: %w", p.Reference.Path, again.Source.Digest, p.Source.Digest, ErrDigestMismatch)
	}
	return again.content, nil
}

func (s directorySource) read(ctx context.Context, r ref.Reference) (*Content, error) {
	info, err := os.Stat(r.Path)
	if err != nil {
		return nil, pathCause(err)
	}
	if !info.IsDir() {
		return nil, errors.New("it is not a directory")
	}
	root, err := os.OpenRoot(r.Path)
	if err != nil {
		return nil, pathCause(err)
	}
	defer func() { _ = root.Close() }()

	left := budget{limits: s.limits.catalog}
	if info, err := root.Lstat("manifests"); err == nil && info.IsDir() {
		left.limits = s.limits.bundle
	}
	t := newTree()
	hash := newTreeHash()
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("%s: %w", clip(name), pathCause(err))
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if name == "." {
			return nil
		}
		if _, err := s.limits.cleanPath(name); err != nil {
			return err
		}
		if entry.IsDir() {
			return skipVersionControl(entry)
		}
		data, err := readRegular(root, name, entry, &left)
		if err != nil || data == nil {
			return err
		}
		t.put(name, data)
		hash.add(name, data)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if left.files == 0 {
		return nil, errors.New("it holds no files")
	}
	return &Content{
		FS:     t.freeze(),
		Source: preview.Source{Kind: "directory", Reference: r.Text, Digest: hash.sum()},
	}, nil
}

// skipVersionControl leaves out .git: it differs between two clones of the
// same content.
func skipVersionControl(entry fs.DirEntry) error {
	if entry.Name() == ".git" {
		return fs.SkipDir
	}
	return nil
}

// readRegular reads a file that must be a plain one, when it is listed and
// again when it is open: between the two it may have been swapped.
func readRegular(root *os.Root, name string, entry fs.DirEntry, left *budget) ([]byte, error) {
	if entry.Name() == ".git" { // a worktree's or submodule's pointer
		return nil, nil
	}
	if !entry.Type().IsRegular() {
		return nil, fmt.Errorf("%s is %s; only plain files and directories are read", clip(name), describeMode(entry.Type()))
	}
	// Without O_NONBLOCK a pipe that took the file's place would hang here.
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", clip(name), pathCause(err))
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", clip(name), pathCause(err))
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is %s; only plain files and directories are read", clip(name), describeMode(info.Mode()))
	}
	if err := left.take(name, info.Size()); err != nil {
		return nil, err
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(file, data); err != nil {
		return nil, fmt.Errorf("%s changed while it was read; try again", clip(name))
	}
	if n, _ := file.Read(make([]byte, 1)); n != 0 {
		return nil, fmt.Errorf("%s changed while it was read; try again", clip(name))
	}
	return data, nil
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

// pathCause drops operation and path from an error that the caller names better.
func pathCause(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

// treeHash is the pin of a directory: sha256 over a version line, then for
// each file, in the lexical walk order of [fs.WalkDir], its path, a zero byte
// and the sha256 of its bytes. Location, owners, modes, times and empty
// directories are not in it.
type treeHash struct{ files []byte }

const treeVersion = "kubectl-operator tree v1\n"

func newTreeHash() *treeHash { return &treeHash{files: []byte(treeVersion)} }

func (h *treeHash) add(name string, data []byte) {
	sum := sha256.Sum256(data)
	h.files = append(append(append(h.files, name...), 0), sum[:]...)
}

func (h *treeHash) sum() string {
	sum := sha256.Sum256(h.files)
	return "sha256:" + hex.EncodeToString(sum[:])
}
