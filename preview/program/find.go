package program

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/kubectl-operator/kubectl-operator/preview/lazyregexp"
)

// Prefix begins the file name of a format program; the format's name follows.
const Prefix = "kubectl-operator-format-"

var name = lazyregexp.New(`^[a-z0-9]([a-z0-9-]{0,40}[a-z0-9])?$`)

// IsName reports whether s is valid as the name of a format.
func IsName(s string) bool { return name.MatchString(s) }

// worldWritable is the permission bit by which every user can write to a file or directory.
const worldWritable = 0o002

// Find returns the path of a format's program: in the first directory of path, a PATH,
// that has it. Programs in relative directories, or that every user can write to,
// cannot be trusted: they are skipped, and named in the error if there is no other.
func Find(format, path string) (string, error) {
	if !IsName(format) {
		return "", fmt.Errorf("format %q: want at most 42 of a-z, 0-9 and -", format)
	}
	file := Prefix + format
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
			return "", err
		}
		if writable != "" {
			skipped = append(skipped, found+": every user can write to "+writable)
			continue
		}
		return found, nil
	}
	text := fmt.Sprintf("format %q: it is not built in, and no program %s is on the PATH", format, file)
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
		return "", fmt.Errorf("looking for a format: %w", err)
	}
	if place.Mode().Perm()&worldWritable != 0 {
		return "its directory", nil
	}
	return "", nil
}
