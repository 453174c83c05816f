package source

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
)

// gitObject is one object of a repository.
type gitObject struct {
	kind plumbing.ObjectType
	data []byte
}

// gitObjects hands out objects by name.
type gitObjects interface {
	// object returns an object of at most `most` bytes. Its bytes have the
	// hash that was asked for. None is errNoGitObject.
	object(name plumbing.Hash, most int64) (gitObject, error)
}

var errNoGitObject = errors.New("the repository lacks an object")

const (
	gitCommitBytes = 1 * mib
	gitTagDepth    = 8
)

// The modes of tree entries (gitformat-index(5)); older trees write 040000.
const (
	gitDir       = "40000"
	gitFile      = "100644"
	gitGroupFile = "100664"
	gitProgram   = "100755"
	gitLink      = "120000"
	gitSubmodule = "160000"
)

// gitLimits cap what one repository may make us read and hold.
type gitLimits struct {
	bytes          int64 // all objects of a pack
	fileBytes      int64 // one object of a pack, one file
	directoryBytes int64 // one directory, as an object
	files          int
	entries        int                     // objects of a pack, entries of all directories
	checkPath      func(path string) error // refuses the path of an entry
}

// gitWalk reads one directory of one commit.
type gitWalk struct {
	objects gitObjects
	limits  gitLimits
	// put takes every file, with the mode that git gives it when it is checked out.
	put func(path string, data []byte, mode fs.FileMode) error
	// wanted, when set, is called with every file instead of reading it.
	wanted func(plumbing.Hash)

	entries int
	files   int
	used    []gitObject // read so far
}

// read hands out the files and returns the commit, which is not name where that
// is an annotated tag.
func (w *gitWalk) read(ctx context.Context, name plumbing.Hash, subdir string) (plumbing.Hash, error) {
	commit, root, err := w.commit(ctx, name)
	if err != nil {
		return commit, err
	}
	for _, part := range strings.FieldsFunc(subdir, func(r rune) bool { return r == '/' }) {
		entries, err := w.dir(ctx, root)
		if err != nil {
			return commit, err
		}
		if root, err = childDir(entries, part, subdir); err != nil {
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

func childDir(entries []gitEntry, name, subdir string) (plumbing.Hash, error) {
	for _, e := range entries {
		if e.name != name {
			continue
		}
		if e.mode != gitDir {
			return plumbing.ZeroHash, fmt.Errorf("%q is %s on the way to %q, not a directory", name, describeGitMode(e.mode), subdir)
		}
		return e.hash, nil
	}
	return plumbing.ZeroHash, fmt.Errorf("the commit has no directory %q", subdir)
}

// commit follows annotated tags and returns the commit and its tree.
func (w *gitWalk) commit(ctx context.Context, name plumbing.Hash) (commit, root plumbing.Hash, err error) {
	for range gitTagDepth {
		o, err := w.object(ctx, name, gitCommitBytes)
		if err != nil {
			return name, root, err
		}
		switch o.kind {
		case plumbing.CommitObject:
			root, ok := gitHeader(o.data, "tree ")
			if !ok {
				return name, root, fmt.Errorf("commit %s names no tree", name)
			}
			return name, root, nil
		case plumbing.TagObject:
			next, ok := gitHeader(o.data, "object ")
			if !ok {
				return name, root, fmt.Errorf("tag %s names no object", name)
			}
			name = next
		default:
			return name, root, fmt.Errorf("%s is a %s; name a branch, a tag or a commit", name, o.kind)
		}
	}
	return name, root, fmt.Errorf("a tag of a tag, more than %d times", gitTagDepth)
}

// gitHeader reads the hash in the first line of a commit or tag.
func gitHeader(data []byte, key string) (plumbing.Hash, bool) {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	value, ok := strings.CutPrefix(string(line), key)
	if !ok || !ref.IsCommit(value) {
		return plumbing.ZeroHash, false
	}
	return plumbing.NewHash(value), true
}

func (w *gitWalk) object(ctx context.Context, name plumbing.Hash, most int64) (gitObject, error) {
	if err := ctx.Err(); err != nil {
		return gitObject{}, err
	}
	o, err := w.objects.object(name, most)
	if err != nil {
		return o, fmt.Errorf("object %s: %w", name, err)
	}
	w.used = append(w.used, o)
	return o, nil
}

// dir reads the entries of a directory.
func (w *gitWalk) dir(ctx context.Context, name plumbing.Hash) ([]gitEntry, error) {
	o, err := w.object(ctx, name, w.limits.directoryBytes)
	if err != nil {
		return nil, err
	}
	if o.kind != plumbing.TreeObject {
		return nil, fmt.Errorf("object %s is a %s, not a directory", name, o.kind)
	}
	entries, err := parseGitTree(o.data)
	if err != nil {
		return nil, fmt.Errorf("directory %s: %w", name, err)
	}
	return entries, nil
}

// collect reads everything below a directory. One tree may stand in another
// many times, so entries are counted as they are met.
func (w *gitWalk) collect(ctx context.Context, dir string, name plumbing.Hash) error {
	entries, err := w.dir(ctx, name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		file := path.Join(dir, e.name)
		if w.entries++; w.entries > w.limits.entries {
			return fmt.Errorf("more than %d entries", w.limits.entries)
		}
		if err := w.limits.checkPath(file); err != nil {
			return err
		}
		switch e.mode {
		case gitDir:
			err = w.collect(ctx, file, e.hash)
		case gitFile, gitGroupFile, gitProgram:
			err = w.file(ctx, file, e.hash, gitShipped(e.mode))
		default:
			err = fmt.Errorf("%s is %s; only plain files and directories are read, //SUBDIR names a directory without", clip(file), describeGitMode(e.mode))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *gitWalk) file(ctx context.Context, name string, hash plumbing.Hash, mode fs.FileMode) error {
	if w.wanted != nil {
		w.wanted(hash)
		return nil
	}
	o, err := w.object(ctx, hash, w.limits.fileBytes)
	if err != nil {
		return fmt.Errorf("%s: %w", clip(name), err)
	}
	if o.kind != plumbing.BlobObject {
		return fmt.Errorf("%s is a %s, not a file", clip(name), o.kind)
	}
	w.files++
	return w.put(name, o.data, mode)
}

// gitShipped is the mode that git gives a file when it is checked out.
func gitShipped(mode string) fs.FileMode {
	if mode == gitProgram {
		return 0o755
	}
	return 0o644
}

// gitEntry is one entry of a tree object.
type gitEntry struct {
	name, mode string
	hash       plumbing.Hash
}

// parseGitTree reads a tree object: for each entry a mode, a space, a name, a
// zero byte and a binary hash (gitformat-pack(5)). Names that are no names of
// files, and one name twice, are errors.
func parseGitTree(data []byte) ([]gitEntry, error) {
	var entries []gitEntry
	seen := map[string]bool{}
	for len(data) > 0 {
		mode, rest, ok := bytes.Cut(data, []byte(" "))
		name, rest, ended := bytes.Cut(rest, []byte{0})
		if !ok || !ended || len(rest) < len(plumbing.ZeroHash) {
			return nil, errors.New("it is damaged")
		}
		e := gitEntry{name: string(name), mode: strings.TrimLeft(string(mode), "0")}
		copy(e.hash[:], rest)
		data = rest[len(e.hash):]
		switch {
		case e.name == "" || e.name == "." || e.name == ".." || strings.Contains(e.name, "/") || strings.EqualFold(e.name, ".git"):
			return nil, fmt.Errorf("%s is not the name of a file", clip(e.name))
		case seen[e.name]:
			return nil, fmt.Errorf("%s is in it twice", clip(e.name))
		}
		seen[e.name] = true
		entries = append(entries, e)
	}
	return entries, nil
}

func describeGitMode(mode string) string {
	switch mode {
	case gitDir:
		return "a directory"
	case gitFile, gitGroupFile, gitProgram:
		return "a file"
	case gitLink:
		return "a symbolic link"
	case gitSubmodule:
		return "a submodule"
	}
	return "an entry of mode " + clip(mode)
}
