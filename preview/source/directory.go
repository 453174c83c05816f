package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
	"github.com/kubectl-operator/kubectl-operator/preview/source/filetree"
)

// directorySource pins a directory to the hash of its files. Each file is read once,
// when the directory is pinned, and those bytes are the content.
type directorySource struct{ limits filetree.Limits }

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
	root, err := openDirectory(r.Path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()

	left := filetree.Budget{Limits: s.limits.Catalog}
	if info, err := root.Lstat("manifests"); err == nil && info.IsDir() && !s.limits.Artifacts {
		left.Limits = s.limits.Bundle
	}
	t := filetree.New()
	hash := filetree.NewHash()
	err = s.each(ctx, root, func(name string, _ fs.DirEntry) error {
		data, mode, err := readRegular(root, name, &left)
		if err != nil {
			return err
		}
		t.Put(name, data, localMode(mode))
		hash.Add(name, data)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if left.Files == 0 {
		return nil, errors.New("it holds no files")
	}
	return &Content{
		FS:     t.Freeze(),
		Source: preview.Source{Kind: "directory", Reference: r.Text, Digest: hash.Sum()},
	}, nil
}

func openDirectory(name string) (*os.Root, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, bounded.PathCause(err)
	}
	if !info.IsDir() {
		return nil, errors.New("it is not a directory")
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, bounded.PathCause(err)
	}
	return root, nil
}

// each calls use with every plain file of a directory. It skips .git, which may be a
// directory or a worktree's file, because it differs between two clones of the same
// content.
func (s directorySource) each(ctx context.Context, root *os.Root, use func(name string, entry fs.DirEntry) error) error {
	return fs.WalkDir(root.FS(), ".", s.visitor(ctx, use))
}

// visitor returns the function for [fs.WalkDir] to visit a directory for each.
func (s directorySource) visitor(ctx context.Context, use func(name string, entry fs.DirEntry) error) fs.WalkDirFunc {
	return func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("%s: %w", bounded.Quote(name), bounded.PathCause(err))
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if name == "." {
			return nil
		}
		if _, err := s.limits.CleanPath(name); err != nil {
			return err
		}
		switch {
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case entry.IsDir() || entry.Name() == ".git":
			return nil
		case !entry.Type().IsRegular():
			return fmt.Errorf("%s is %s; only plain files and directories are read", bounded.Quote(name), filetree.DescribeMode(entry.Type()))
		}
		return use(name, entry)
	}
}

// openRegular opens a file, which must be a plain one: it may have been replaced since
// it was listed.
func openRegular(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	// Without O_NONBLOCK a pipe that took the file's place would hang here.
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", bounded.Quote(name), bounded.PathCause(err))
	}
	info, err := file.Stat()
	switch {
	case err != nil:
		err = fmt.Errorf("%s: %w", bounded.Quote(name), bounded.PathCause(err))
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is %s; only plain files and directories are read", bounded.Quote(name), filetree.DescribeMode(info.Mode()))
	}
	if err != nil {
		_ = file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

func readRegular(root *os.Root, name string, left *filetree.Budget) ([]byte, fs.FileMode, error) {
	file, info, err := openRegular(root, name)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = file.Close() }()
	if err := left.Take(name, info.Size()); err != nil {
		return nil, 0, err
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(file, data); err != nil {
		return nil, 0, changed(name)
	}
	if n, _ := file.Read(make([]byte, 1)); n != 0 {
		return nil, 0, changed(name)
	}
	return data, info.Mode(), nil
}

// localMode returns 0755 for a local file that is executable and 0644 for others, so
// that umask and file system do not matter; setuid and setgid bits are kept.
func localMode(mode fs.FileMode) fs.FileMode {
	shipped := fs.FileMode(0o644)
	if mode&0o111 != 0 {
		shipped = 0o755
	}
	return shipped | mode&(fs.ModeSetuid|fs.ModeSetgid)
}

func changed(name string) error {
	return fmt.Errorf("%s changed while it was read; try again", bounded.Quote(name))
}
