package program

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// Kind is what a program is for. It is part of the name of its file.
type Kind string

// The kinds.
const (
	Format Kind = "format" // content to objects
	Source Kind = "source" // an address to content
)

// Prefix returns what begins the file name of a program of the kind; the name of the
// format or source follows.
func (k Kind) Prefix() string { return "kubectl-operator-" + string(k) + "-" }

var name = lazyregexp.New(`^[a-z0-9]([a-z0-9-]{0,40}[a-z0-9])?$`)

// IsName reports whether s is valid as the name of a format or source.
func IsName(s string) bool { return name.MatchString(s) }

// worldWritable is the permission bit that lets every user write to a file or directory.
const worldWritable = 0o002

// Find returns the path of the program that has a name: in the first directory of path,
// a PATH, that has it. Programs in relative directories, or that every user can write to,
// cannot be trusted: they are skipped, and named in the error if there is no other.
func (k Kind) Find(named, path string) (string, error) {
	if !IsName(named) {
		return "", fmt.Errorf("%s %q: want at most 42 of a-z, 0-9 and -", k, named)
	}
	file := k.Prefix() + named
	var skipped []string
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			if _, err := os.Lstat(filepath.Join(dir, file)); err == nil {
				skipped = append(skipped, fmt.Sprintf("the relative entry %q of PATH", dir))
			}
			continue
		}
		found := filepath.Join(dir, file)
		info, err := os.Stat(found)
		if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
			continue
		}
		writable, err := describeWritable(dir, info)
		if err != nil {
			return "", fmt.Errorf("looking for a %s: %w", k, err)
		}
		if writable != "" {
			skipped = append(skipped, found+": every user can write to "+writable)
			continue
		}
		return found, nil
	}
	text := fmt.Sprintf("%s %q: it is not built in, and no program %s is on the PATH", k, named, file)
	if len(skipped) > 0 {
		text += "; skipped " + strings.Join(skipped, ", ")
	}
	return "", errors.New(text)
}

// describeWritable returns in words what every user can write to, a program's file or
// its directory; empty if neither.
func describeWritable(dir string, file fs.FileInfo) (string, error) {
	if file.Mode().Perm()&worldWritable != 0 {
		return "it", nil
	}
	// A sticky bit keeps others from replacing the file, not from adding one
	// before the real one is installed.
	place, err := os.Stat(dir)
	if err != nil {
		return "", err
	}
	if place.Mode().Perm()&worldWritable != 0 {
		return "its directory", nil
	}
	return "", nil
}

// Names returns the names of the programs of the kind on path, for the completion of
// command lines. Find says which of them may run.
func (k Kind) Names(path string) []string {
	var names []string
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		entries, _ := os.ReadDir(dir) // a directory of a PATH need not exist
		for _, entry := range entries {
			if name, ok := strings.CutPrefix(entry.Name(), k.Prefix()); ok && IsName(name) && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}
