package plugins

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Names next to a location; installed.go has the others.
const (
	receiptFile   = "receipt.json"
	heldFile      = ".lock"
	nextLink      = ".next" // where the location will lead
	tempFile      = ".temp" // a file that is written anew
	stagingPrefix = ".new-" // a generation that is being written
	doomedPrefix  = ".old-" // one that is being removed
)

// locationRoot gives access to a location and to the directory of its generations,
// through the parent directory of both, so that no path leads out of that.
type locationRoot struct {
	location string
	root     *os.Root
	base     string // of the location
	step     func(what string)
}

// withLock calls do while this process holds the lock of a location.
func withLock(location string, o Options, do func(*locationRoot) error) error {
	p, err := openLocation(location, o.Step)
	if err != nil {
		return err
	}
	defer func() { _ = p.close() }() // directories: written files are closed before
	release, err := p.acquireLock(o.Holder, o.Now())
	if err != nil {
		return err
	}
	return errors.Join(do(p), release())
}

// openLocation creates the directories that a location needs, and opens them.
// step, which may be nil, is called before every change on disk.
func openLocation(location string, step func(string)) (*locationRoot, error) {
	if step == nil {
		step = func(string) {}
	}
	dir := filepath.Dir(location)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("making the directory of the location: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the directory of the location: %w", err)
	}
	p := &locationRoot{location: location, root: root, base: filepath.Base(location), step: step}
	if err := p.openGenerations(); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return p, nil
}

func (p *locationRoot) openGenerations() error {
	err := p.root.Mkdir(p.generations(), 0o755)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("making the folder of the generations: %w", err)
	}
	info, err := p.root.Lstat(p.generations())
	switch {
	case err != nil:
		return fmt.Errorf("reading the folder of the generations: %w", err)
	case !info.IsDir():
		return fmt.Errorf("%s is not a plain directory; move it away, or name another place with --location", p.location+generationsSuffix)
	}
	return nil
}

func (p *locationRoot) close() error { return p.root.Close() }

// generations returns the path, below root, of the directory with all generations.
func (p *locationRoot) generations() string { return p.base + generationsSuffix }

// siblingPath returns the path, below root, of a name in the directory of the
// generations.
func (p *locationRoot) siblingPath(name string) string { return path.Join(p.generations(), name) }

// generation returns the path, below root, of the directory of one generation.
func (p *locationRoot) generation(n int) string { return p.siblingPath(strconv.Itoa(n)) }

// linkTarget returns the path, below root, that the location's link points to when
// generation n is current.
func (p *locationRoot) linkTarget(n int) string { return path.Join(p.generation(n), filesDir) }

// mkdir creates a directory that all users may read, regardless of the umask.
func (p *locationRoot) mkdir(name string) error {
	p.step("make " + name)
	if err := p.root.Mkdir(name, 0o755); err != nil {
		return err
	}
	return p.root.Chmod(name, 0o755)
}

func (p *locationRoot) rename(from, to string) error {
	p.step("rename " + from + " to " + to)
	return p.root.Rename(from, to)
}

func (p *locationRoot) symlink(to, name string) error {
	p.step("link " + name + " to " + to)
	return p.root.Symlink(to, name)
}

func (p *locationRoot) remove(name string) error {
	p.step("remove " + name)
	return p.root.RemoveAll(name)
}

// write creates a file that must not exist, and syncs it to disk.
func (p *locationRoot) write(name string, data []byte, mode fs.FileMode) error {
	p.step("write " + name)
	file, err := p.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err != nil {
		return errors.Join(err, file.Close())
	}
	// The mode last: a write takes setuid away again.
	return errors.Join(file.Chmod(mode), file.Sync(), file.Close())
}

// replace replaces the content of a file atomically.
func (p *locationRoot) replace(name string, data []byte) error {
	temp := path.Join(path.Dir(name), tempFile)
	if err := p.remove(temp); err != nil {
		return err
	}
	if err := p.write(temp, data, 0o644); err != nil {
		return err
	}
	if err := p.rename(temp, name); err != nil {
		return err
	}
	return p.sync(path.Dir(name))
}

// sync writes the entries of a directory through to disk (fsync).
func (p *locationRoot) sync(name string) error {
	p.step("sync " + name)
	dir, err := p.root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// generationsOnDisk returns the sorted numbers of a location's generation directories.
func generationsOnDisk(location string) ([]int, error) {
	entries, err := os.ReadDir(location + generationsSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the folder of the generations: %w", err)
	}
	var out []int
	for _, entry := range entries {
		n, err := strconv.Atoi(entry.Name())
		if err == nil && n >= 0 && strconv.Itoa(n) == entry.Name() && entry.IsDir() {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out, nil
}

// names lists the directory of the generations.
func (p *locationRoot) names() ([]string, error) {
	dir, err := p.root.Open(p.generations())
	if err != nil {
		return nil, err
	}
	names, err := dir.Readdirnames(-1)
	slices.Sort(names)
	return names, errors.Join(err, dir.Close())
}

// isTemporary reports whether a name belongs to a directory or file that is still being
// written or deleted.
func isTemporary(name string) bool {
	return name == nextLink || name == tempFile || strings.HasPrefix(name, stagingPrefix) || strings.HasPrefix(name, doomedPrefix)
}
