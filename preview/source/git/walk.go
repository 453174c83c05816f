package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/kubectl-operator/kubectl-operator/preview/ref"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
)

// Object is a git object: its type and bytes.
type Object struct {
	kind plumbing.ObjectType
	data []byte
}

// ObjectReader returns git objects by their hashes.
type ObjectReader interface {
	// object returns an object of at most `most` bytes, whose hash is verified;
	// errNoObject if the repository lacks it.
	object(name plumbing.Hash, most int64) (Object, error)
}

var errNoObject = errors.New("the repository lacks an object")

const (
	commitBytes = 1 * bounded.MiB
	tagDepth    = 8
)

// The modes of tree entries (gitformat-index(5)); older trees write 040000.
const (
	modeDirectory = "40000"
	modeFile      = "100644"
	modeGroupFile = "100664"
	modeProgram   = "100755"
	modeLink      = "120000"
	modeSubmodule = "160000"
)

// Limits limit what is read from one repository and kept in memory.
type Limits struct {
	Bytes          int64 // all objects of a pack
	FileBytes      int64 // one object of a pack, one file
	DirectoryBytes int64 // one directory, as an object
	Files          int
	Entries        int                     // objects of a pack, entries of all directories
	CheckPath      func(path string) error // refuses the path of an entry
}

// Walk reads the files of one directory of one commit.
type Walk struct {
	Objects ObjectReader
	Limits  Limits
	// Put takes every file, with the mode that git gives it when it is checked out.
	Put func(path string, data []byte, mode fs.FileMode) error
	// wanted, when set, is called with every file instead of reading it.
	wanted func(plumbing.Hash)

	entries int
	files   int
	Used    []Object // read so far
}

// Read calls Put with each file of a directory of a commit, and returns the commit's
// hash, which differs from name if that is an annotated tag.
func (w *Walk) Read(ctx context.Context, name plumbing.Hash, subdir string) (plumbing.Hash, error) {
	commit, root, err := w.commit(ctx, name)
	if err != nil {
		return commit, err
	}
	for _, part := range strings.FieldsFunc(subdir, func(r rune) bool { return r == '/' }) {
		entries, err := w.dir(ctx, root)
		if err != nil {
			return commit, err
		}
		if root, err = childDirectory(entries, part, subdir); err != nil {
			return commit, err
		}
	}
	if err := w.collect(ctx, "", root); err != nil {
		return commit, err
	}
	if w.files == 0 && w.wanted == nil {
		return commit, errors.New("it holds no files")
	}
	return commit, nil
}

func childDirectory(entries []treeEntry, name, subdir string) (plumbing.Hash, error) {
	for _, e := range entries {
		if e.name != name {
			continue
		}
		if e.mode != modeDirectory {
			return plumbing.ZeroHash, fmt.Errorf("%q is %s on the way to %q, not a directory", name, describeMode(e.mode), subdir)
		}
		return e.hash, nil
	}
	return plumbing.ZeroHash, fmt.Errorf("the commit has no directory %q", subdir)
}

// commit returns the hashes of a commit and its root tree, following annotated tags.
func (w *Walk) commit(ctx context.Context, name plumbing.Hash) (commit, root plumbing.Hash, err error) {
	for range tagDepth {
		o, err := w.object(ctx, name, commitBytes)
		if err != nil {
			return name, root, err
		}
		switch o.kind {
		case plumbing.CommitObject:
			root, ok := header(o.data, "tree ")
			if !ok {
				return name, root, fmt.Errorf("commit %s names no tree", name)
			}
			return name, root, nil
		case plumbing.TagObject:
			next, ok := header(o.data, "object ")
			if !ok {
				return name, root, fmt.Errorf("tag %s names no object", name)
			}
			name = next
		default:
			return name, root, fmt.Errorf("%s is a %s; name a branch, a tag or a commit", name, o.kind)
		}
	}
	return name, root, fmt.Errorf("a tag of a tag, more than %d times", tagDepth)
}

// header returns the hash in the first line of a commit or tag object, which begins
// with key; false if it does not.
func header(data []byte, key string) (plumbing.Hash, bool) {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	value, ok := strings.CutPrefix(string(line), key)
	if !ok || !ref.IsCommit(value) {
		return plumbing.ZeroHash, false
	}
	return plumbing.NewHash(value), true
}

func (w *Walk) object(ctx context.Context, name plumbing.Hash, most int64) (Object, error) {
	if err := ctx.Err(); err != nil {
		return Object{}, err
	}
	o, err := w.Objects.object(name, most)
	if err != nil {
		return o, fmt.Errorf("object %s: %w", name, err)
	}
	w.Used = append(w.Used, o)
	return o, nil
}

// dir returns the entries of a directory, read from its tree object.
func (w *Walk) dir(ctx context.Context, name plumbing.Hash) ([]treeEntry, error) {
	o, err := w.object(ctx, name, w.Limits.DirectoryBytes)
	if err != nil {
		return nil, err
	}
	if o.kind != plumbing.TreeObject {
		return nil, fmt.Errorf("object %s is a %s, not a directory", name, o.kind)
	}
	entries, err := parseTree(o.data)
	if err != nil {
		return nil, fmt.Errorf("directory %s: %w", name, err)
	}
	return entries, nil
}

// collect reads everything below a directory. Entries are counted every time they are
// read, because one tree object can be at many paths.
func (w *Walk) collect(ctx context.Context, dir string, name plumbing.Hash) error {
	entries, err := w.dir(ctx, name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		file := path.Join(dir, e.name)
		if w.entries++; w.entries > w.Limits.Entries {
			return fmt.Errorf("more than %d entries", w.Limits.Entries)
		}
		if err := w.Limits.CheckPath(file); err != nil {
			return err
		}
		switch e.mode {
		case modeDirectory:
			err = w.collect(ctx, file, e.hash)
		case modeFile, modeGroupFile, modeProgram:
			err = w.file(ctx, file, e.hash, checkoutMode(e.mode))
		default:
			err = fmt.Errorf("%s is %s; only plain files and directories are read, //SUBDIR names a directory without", bounded.Quote(file), describeMode(e.mode))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *Walk) file(ctx context.Context, name string, hash plumbing.Hash, mode fs.FileMode) error {
	if w.wanted != nil {
		w.wanted(hash)
		return nil
	}
	o, err := w.object(ctx, hash, w.Limits.FileBytes)
	if err != nil {
		return fmt.Errorf("%s: %w", bounded.Quote(name), err)
	}
	if o.kind != plumbing.BlobObject {
		return fmt.Errorf("%s is a %s, not a file", bounded.Quote(name), o.kind)
	}
	w.files++
	return w.Put(name, o.data, mode)
}

// checkoutMode returns git's mode for a checked-out file, 0755 or 0644.
func checkoutMode(mode string) fs.FileMode {
	if mode == modeProgram {
		return 0o755
	}
	return 0o644
}

// treeEntry is one entry of a tree object.
type treeEntry struct {
	name, mode string
	hash       plumbing.Hash
}

// parseTree returns the entries of a tree object: each is a mode, a space, a name, a
// zero byte and a binary hash (gitformat-pack(5)). Names that cannot be file names, and
// a name that occurs twice, are errors.
func parseTree(data []byte) ([]treeEntry, error) {
	var entries []treeEntry
	seen := map[string]bool{}
	for len(data) > 0 {
		mode, rest, ok := bytes.Cut(data, []byte(" "))
		name, rest, ended := bytes.Cut(rest, []byte{0})
		if !ok || !ended || len(rest) < len(plumbing.ZeroHash) {
			return nil, errors.New("it is damaged")
		}
		e := treeEntry{name: string(name), mode: strings.TrimLeft(string(mode), "0")}
		copy(e.hash[:], rest)
		data = rest[len(e.hash):]
		switch {
		case e.name == "" || e.name == "." || e.name == ".." || strings.Contains(e.name, "/") || strings.EqualFold(e.name, ".git"):
			return nil, fmt.Errorf("%s is not the name of a file", bounded.Quote(e.name))
		case seen[e.name]:
			return nil, fmt.Errorf("%s is in it twice", bounded.Quote(e.name))
		}
		seen[e.name] = true
		entries = append(entries, e)
	}
	return entries, nil
}

func describeMode(mode string) string {
	switch mode {
	case modeDirectory:
		return "a directory"
	case modeFile, modeGroupFile, modeProgram:
		return "a file"
	case modeLink:
		return "a symbolic link"
	case modeSubmodule:
		return "a submodule"
	}
	return "an entry of mode " + bounded.Quote(mode)
}
