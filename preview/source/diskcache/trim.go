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
	// minUnused keeps an entry for so long after its last use, even over the
	// limit: another process may be about to read it again.
	minUnused = 10 * time.Minute
	// minUnwritten keeps a partial file for so long after its last write. A peer
	// that sends nothing is given up much sooner, so its writer has ended then.
	minUnwritten = time.Hour
)

// entry is a file of the cache.
type entry struct {
	path string
	size int64
	used time.Time
}

// Trim removes what was used least recently until the cache has at most most
// bytes, and what writers that died left behind. It runs beside other
// processes: who has an entry open keeps reading it, and one that is gone is
// fetched again. What it cannot remove stays; the cache works all the same.
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

// entries lists the entries and their size in all, and removes what dead
// writers left.
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
