package diskcache

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// minUnused is how long an entry is kept after its last use, even over the limit:
	// another process may be about to read it again.
	minUnused = 10 * time.Minute
	// minUnwritten is how long a partial file is kept after its last write. A silent
	// peer is given up much sooner, so that its writer has ended by then.
	minUnwritten = time.Hour
)

// entry is a file of the cache, with size and last use.
type entry struct {
	path string
	size int64
	used time.Time
}

// Trim deletes the least recently used entries until the cache has at most `most`
// bytes, and partial files whose writers died. Entries used in the last minUnused stay.
// Other processes may use the cache meanwhile: an open entry stays readable, and a
// deleted one is fetched again. Errors are ignored.
func (c Cache) Trim(most int64, now time.Time) {
	base, err := c.SubDir()
	if err != nil {
		return
	}
	entries, total := entries(base, now)
	slices.SortFunc(entries, func(a, b entry) int {
		if order := a.used.Compare(b.used); order != 0 {
			return order
		}
		return strings.Compare(a.path, b.path)
	})
	for _, e := range entries {
		if total <= most || now.Sub(e.used) < minUnused {
			return
		}
		if os.Remove(e.path) == nil {
			total -= e.size
		}
	}
}

// entries returns the entries of the cache and their size in all, and deletes partial
// files whose writers died.
func entries(base string, now time.Time) (entries []entry, total int64) {
	for _, dir := range []string{filepath.Join(base, "blobs", "sha256"), filepath.Join(base, "resolved"), filepath.Join(base, derivedDir)} {
		files, err := os.ReadDir(dir)
		if err != nil {
			continue // not made yet
		}
		for _, file := range files {
			info, err := file.Info()
			if err != nil || info.Mode()&fs.ModeType != 0 {
				continue
			}
			path := filepath.Join(dir, file.Name())
			if strings.HasPrefix(file.Name(), partialPrefix) {
				if now.Sub(info.ModTime()) > minUnwritten {
					_ = os.Remove(path)
				}
				continue
			}
			entries = append(entries, entry{path, info.Size(), info.ModTime()})
			total += info.Size()
		}
	}
	return entries, total
}
