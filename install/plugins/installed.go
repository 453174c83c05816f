// Package plugins installs plugin sets on this machine as generations, lists
// them, rolls back to an earlier one and removes old ones.
//
// A host looks for its plugins at a location. Once a set is installed, that is a
// symbolic link next to the folder of its generations:
//
//	.plugins -> .plugins.generations/3/files
//	.plugins.generations/3/files/…
//	.plugins.generations/3/lock.yaml
//	.plugins.generations/3/config.yaml
//	.plugins.generations/3/receipt.json
//
// so that another generation is switched to by one rename. A plain directory at
// the location is generation 0: none of ours. The first install moves it, as it
// is, to .plugins.generations/0/files.
package plugins

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/kubectl-operator/kubectl-operator/preview"
	"github.com/kubectl-operator/kubectl-operator/preview/plugins"
	"github.com/kubectl-operator/kubectl-operator/preview/source/bounded"
)

// LockFile is the name of the plugin set's lock file in a generation, next to its files.
const LockFile = "lock.yaml"

const (
	generationsSuffix = preview.GenerationsSuffix
	filesDir          = "files"
)

// Limits on what is read at a location.
const (
	maxFiles = 10_000
	maxBytes = 4 << 30
	maxLock  = 16 << 20
)

// Read returns the current generation's number and files at a location, an
// absolute path. A location without files is generation 0.
func Read(ctx context.Context, location string) (plugins.InstalledFiles, error) {
	out := plugins.InstalledFiles{Files: map[string]preview.LiveFile{}}
	info, err := os.Lstat(location)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		out.Next, err = nextNumber(location, 0)
		return out, err
	case err != nil:
		return out, fmt.Errorf("reading the location: %w", err)
	case info.Mode()&fs.ModeSymlink != 0:
		if out.Generation, err = generationOf(location); err != nil {
			return out, err
		}
		state, err := InstalledState(location, out.Generation)
		if err != nil {
			return out, err
		}
		out.Lock, out.Config = state.Lock, state.Config
	case !info.IsDir():
		return out, fmt.Errorf("%s is no directory; name another place with --location", location)
	}
	out.Read = bytesAt(location)
	err = readFiles(ctx, location, out.Files)
	if _, ok := errors.AsType[foreignFilesError](err); ok {
		err = fmt.Errorf("%w; name a place for plugins alone with --location", err)
	}
	if err != nil {
		return out, fmt.Errorf("reading %s: %w", location, err)
	}
	out.Next, err = nextNumber(location, out.Generation)
	return out, err
}

// InstalledState returns the plugin set's lock file and the configuration recorded in a
// generation; a missing value is empty.
func InstalledState(location string, generation int) (plugins.InstalledFiles, error) {
	out := plugins.InstalledFiles{Generation: generation}
	if generation == 0 {
		return out, nil
	}
	var err error
	if out.Lock, err = lockOf(location, generation); err == nil {
		out.Config, err = configAt(location, generation)
	}
	if err != nil {
		return out, fmt.Errorf("generation %d at %s: %w", generation, location, err)
	}
	return out, nil
}

// nextNumber returns the number for a new generation: one above all others. The
// number of an unfinished generation that never became the current one is used again.
func nextNumber(location string, current int) (int, error) {
	all, err := generationsOnDisk(location)
	out := current + 1
	for _, n := range all {
		if what, _ := leftoverOf(location, strconv.Itoa(n), current); what == begun {
			continue
		}
		out = max(out, n+1)
	}
	return out, err
}

// generationOf returns the number of the generation that the location's link
// points to.
func generationOf(location string) (int, error) {
	to, err := os.Readlink(location)
	if err != nil {
		return 0, fmt.Errorf("reading the location: %w", err)
	}
	parts := strings.Split(filepath.ToSlash(to), "/")
	if len(parts) == 3 && parts[0] == filepath.Base(location)+generationsSuffix && parts[2] == filesDir {
		if n, err := strconv.Atoi(parts[1]); err == nil && n > 0 && strconv.Itoa(n) == parts[1] {
			return n, nil
		}
	}
	return 0, fmt.Errorf("%s is a link that leads to none of its generations; name where it leads with --location", location)
}

func lockOf(location string, generation int) (*plugins.Lock, error) {
	data, err := readSmall(filepath.Join(location+generationsSuffix, strconv.Itoa(generation), LockFile))
	if err != nil {
		return nil, fmt.Errorf("reading its lock: %w", err)
	}
	lock, err := plugins.ReadLock(data)
	if err != nil {
		return nil, fmt.Errorf("its lock: %w", err)
	}
	return lock, nil
}

func readSmall(name string) ([]byte, error) {
	file, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK|bounded.NoFollow, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxLock+1))
	if err == nil && len(data) > maxLock {
		err = errors.New("it is too large")
	}
	return data, err
}

// foreignFilesError is the error for a directory with files that are no
// plugins, which must not be replaced.
type foreignFilesError string

func (u foreignFilesError) Error() string { return string(u) }

// readFiles hashes every file below a location into a map by path. A link or a
// device is an error, because a rollback could not restore it.
func readFiles(ctx context.Context, location string, into map[string]preview.LiveFile) error {
	root, err := os.OpenRoot(location)
	if err != nil {
		return err
	}
	defer root.Close()
	return readRoot(ctx, root, into)
}

func readRoot(ctx context.Context, root *os.Root, into map[string]preview.LiveFile) error {
	left := int64(maxBytes)
	return fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case entry.IsDir():
			return nil
		case !entry.Type().IsRegular():
			return foreignFilesError(fmt.Sprintf("%q is not a regular file", name))
		case len(into) >= maxFiles:
			return foreignFilesError(fmt.Sprintf("it holds more than %d files", maxFiles))
		}
		live, size, err := hashFile(root, name, left)
		if left -= size; left < 0 {
			return foreignFilesError(fmt.Sprintf("it holds more than %d GiB", maxBytes>>30))
		}
		into[name] = live
		return err
	})
}

func hashFile(root *os.Root, name string, most int64) (preview.LiveFile, int64, error) {
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return preview.LiveFile{}, 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return preview.LiveFile{}, 0, err
	}
	sum := sha256.New()
	n, err := io.Copy(sum, io.LimitReader(file, most+1))
	return preview.LiveFile{SHA256: hex.EncodeToString(sum.Sum(nil)), Mode: plugins.ModeText(info.Mode())}, n, err
}

// HostID returns an identity of this machine that reveals nothing about it: a hash
// of its machine id (machine-id(5)), else of its host name.
func HostID() string {
	id, err := readSmall("/etc/machine-id")
	if err != nil || len(strings.TrimSpace(string(id))) == 0 {
		name, err := os.Hostname()
		if err != nil {
			return "unknown"
		}
		id = []byte(name)
	}
	sum := sha256.Sum256(append([]byte("kubectl-operator host\n"), strings.TrimSpace(string(id))...))
	return hex.EncodeToString(sum[:8])
}
